/* NumPy's .npy, versions 1 to 3: a magic, a version, a header length, a Python dictionary, then the values.
 *
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * One tensor, named "". Both byte orders and both axis orders are read. */
#include "io/npy.h"
#include "base/alloc.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <string.h>

static const char magic[] = "\223NUMPY";
#define MAGIC_BYTES  TN__NPY_MAGIC
#define PREFIX_BYTES 8     /* magic, major and minor version */
#define HEADER_MOST  65535 /* bytes of a dictionary: sixteen axes need less than 500 */

static const struct {
    char code[3];
    tn_dtype dtype;
} dtypes[] = {
    {"f2", TN_F16}, {"f4", TN_F32}, {"f8", TN_F64}, {"i1", TN_I8},  {"i2", TN_I16}, {"i4", TN_I32},
    {"i8", TN_I64}, {"u1", TN_U8},  {"u2", TN_U16}, {"u4", TN_U32}, {"u8", TN_U64}, {"b1", TN_BOOL},
};

typedef struct header {
    const char *path;
    const char *text;
    size_t at, length;
    char descr[24];
    bool columns;
    tn_shape shape;
    bool has_descr, has_order, has_shape;
} header;

static tn_status fault(const header *h, const char *what)
{
    return tn__fail(TN_FORMAT, "%s: the .npy header is damaged at byte %zu of %zu: %s", h->path, h->at, h->length,
                    what);
}

/* ---- tokens of the dictionary ---- */

static char peek(header *h)
{
    while (h->at < h->length && (h->text[h->at] == ' ' || h->text[h->at] == '\t' || h->text[h->at] == '\n'))
        h->at++;
    return h->at < h->length ? h->text[h->at] : '\0';
}

static bool accept(header *h, char c)
{
    if (peek(h) != c)
        return false;
    h->at++;
    return true;
}

static tn_status expect(header *h, char c)
{
    if (accept(h, c))
        return TN_OK;
    char what[] = "expected ' '";
    what[10] = c;
    return fault(h, what);
}

/* A quoted text without escapes, at most size - 1 bytes of it. */
static tn_status read_text(header *h, char *out, size_t size)
{
    const char quote = peek(h);
    if (quote != '\'' && quote != '"')
        return fault(h, "expected a quoted text");
    size_t n = 0;
    for (h->at++; h->at < h->length && h->text[h->at] != quote; h->at++) {
        const unsigned char c = (unsigned char)h->text[h->at];
        if (n + 1 == size || c < 0x20 || c == '\\')
            return fault(h, "a text that is too long or not plain");
        out[n++] = (char)c;
    }
    if (h->at == h->length)
        return fault(h, "a text without an end");
    h->at++;
    out[n] = '\0';
    return TN_OK;
}

static tn_status read_word(header *h, const char *word)
{
    const size_t n = strlen(word);
    if (h->length - h->at < n || memcmp(h->text + h->at, word, n) != 0)
        return fault(h, "expected True or False");
    h->at += n;
    return TN_OK;
}

static tn_status read_extent(header *h, int64_t *extent)
{
    if (accept(h, '-'))
        return tn__fail(TN_FORMAT, "%s: negative extent of axis %d", h->path, h->shape.ndim);
    const char first = peek(h);
    const size_t start = h->at;
    if (first < '0' || first > '9')
        return fault(h, "expected a number");
    uint64_t sum = 0;
    for (; h->at < h->length && h->text[h->at] >= '0' && h->text[h->at] <= '9'; h->at++) {
        const uint64_t digit = (uint64_t)(h->text[h->at] - '0');
        if (sum > (INT64_MAX - digit) / 10)
            return tn__fail(TN_FORMAT, "%s: extent of axis %d, %.*s…, does not fit 63 bits", h->path, h->shape.ndim,
                            (int)(h->at - start), h->text + start);
        sum = sum * 10 + digit;
    }
    if (h->at < h->length && h->text[h->at] == 'L')
        h->at++; /* Python 2 wrote long numbers so */
    *extent = (int64_t)sum;
    return TN_OK;
}

/* ---- the three members ---- */

static tn_status read_descr(header *h)
{
    if (peek(h) == '[')
        return tn__fail(TN_FORMAT, "%s: structured dtypes are not read", h->path);
    return read_text(h, h->descr, sizeof h->descr);
}

static tn_status read_order(header *h)
{
    h->columns = peek(h) == 'T';
    return read_word(h, h->columns ? "True" : "False");
}

static tn_status read_shape(header *h)
{
    TN__TRY(expect(h, '('));
    while (!accept(h, ')')) {
        int64_t extent = 0;
        TN__TRY(read_extent(h, &extent));
        if (h->shape.ndim == TN_MAX_AXES)
            return tn__fail(TN_FORMAT, "%s: more than %d axes", h->path, TN_MAX_AXES);
        h->shape.dim[h->shape.ndim++] = extent;
        if (accept(h, ','))
            continue;
        TN__TRY(expect(h, ')'));
        return h->shape.ndim > 1 ? TN_OK : fault(h, "a shape of one number without a comma");
    }
    return TN_OK;
}

static tn_status read_member(header *h)
{
    static const struct {
        const char *key;
        tn_status (*read)(header *);
    } members[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
    bool *const seen[] = {&h->has_descr, &h->has_order, &h->has_shape};
    char key[24];
    TN__TRY(read_text(h, key, sizeof key));
    TN__TRY(expect(h, ':'));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(key, members[i].key) == 0) {
            if (*seen[i])
                return tn__fail(TN_FORMAT, "%s: %s is in the .npy header twice", h->path, key);
            *seen[i] = true;
            return members[i].read(h);
        }
    return tn__fail(TN_FORMAT, "%s: unknown key \"%s\" in the .npy header", h->path, key);
}

static tn_status read_dictionary(header *h)
{
    TN__TRY(expect(h, '{'));
    while (!accept(h, '}')) {
        TN__TRY(read_member(h));
        if (accept(h, ','))
            continue;
        TN__TRY(expect(h, '}'));
        break;
    }
    (void)peek(h);
    if (h->at != h->length)
        return fault(h, "more after the end");
    const char *missing = !h->has_descr ? "descr" : !h->has_order ? "fortran_order" : !h->has_shape ? "shape" : NULL;
    return missing ? tn__fail(TN_FORMAT, "%s: %s is missing in the .npy header", h->path, missing) : TN_OK;
}

/* ---- what the header means ---- */

/* '<f4': byte order ('<' little, '>' big, '|' none, '=' the machine's), kind, bytes. */
static tn_status check_descr(const header *h, tn__entry *entry)
{
    entry->dtype = TN_DTYPE_COUNT;
    const char order = h->descr[0];
    if (order && strchr("<>|=", order))
        for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
            if (strcmp(h->descr + 1, dtypes[i].code) == 0)
                entry->dtype = dtypes[i].dtype;
    if (entry->dtype == TN_DTYPE_COUNT)
        return tn__fail(TN_FORMAT, "%s: dtype '%s' is not one that can be read", h->path, h->descr);
    const bool wide = tn_dtype_size(entry->dtype) > 1;
    if (wide && order == '|')
        return tn__fail(TN_FORMAT, "%s: dtype '%s' does not say its byte order", h->path, h->descr);
    entry->swapped = wide && order == (tn__machine_is_little() ? '>' : '<');
    return TN_OK;
}

/* The first axis is the fastest. */
static tn_shape column_strides(const tn_shape *shape)
{
    tn_shape stride = {.ndim = shape->ndim};
    for (int64_t i = 0, step = 1; i < shape->ndim; step *= shape->dim[i++])
        stride.dim[i] = step;
    return stride;
}

static tn_status check(const header *h, uint64_t values, tn__entry *entry)
{
    entry->shape = h->shape;
    TN__TRY(check_descr(h, entry));
    if (!tn__entry_bytes(entry->dtype, &entry->shape, &entry->bytes))
        return tn__fail(TN_FORMAT, "%s: the product of the shape's %d extents times %zu bytes overflows 63 bits", h->path,
                        entry->shape.ndim, tn_dtype_size(entry->dtype));
    if (entry->bytes != values)
        return tn__fail(TN_FORMAT, "%s: expected %" PRIu64 " bytes of values, found %" PRIu64, h->path, entry->bytes, values);
    if (h->columns && entry->shape.ndim > 1 && entry->bytes > 0)
        entry->stride = column_strides(&entry->shape);
    return TN_OK;
}

/* ---- where the header is ---- */

/* A file, or a member of a zip. */
typedef struct place {
    tn_archive *archive;
    tn__zip_member *member;
    const char *label; /* for messages */
    uint64_t size;
} place;

bool tn__npy_magic(const unsigned char *head)
{
    return memcmp(head, magic, MAGIC_BYTES) == 0;
}

static bool npy_probe(const tn_archive *archive, const unsigned char *head, size_t count)
{
    (void)archive;
    return count >= MAGIC_BYTES && tn__npy_magic(head);
}

/* Where the dictionary begins and ends, checked against the size. */
static tn_status find_dictionary(const place *p, uint64_t *begin, uint64_t *length)
{
    unsigned char prefix[PREFIX_BYTES + 4] = {0};
    if (p->size < PREFIX_BYTES + 2)
        return tn__fail(TN_FORMAT, "%s: the .npy header is cut off: there are %" PRIu64 " bytes", p->label, p->size);
    const size_t there = p->size < sizeof prefix ? (size_t)p->size : sizeof prefix;
    TN__TRY(tn__archive_read_part(p->archive, p->member, 0, prefix, there));
    if (!tn__npy_magic(prefix))
        return tn__fail(TN_FORMAT, "%s: not a .npy: its first bytes are not \\x93NUMPY", p->label);
    const int major = prefix[MAGIC_BYTES], minor = prefix[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0)
        return tn__fail(TN_FORMAT, "%s: .npy version %d.%d is not known", p->label, major, minor);
    const int width = major == 1 ? 2 : 4;
    *begin = PREFIX_BYTES + (uint64_t)width;
    *length = tn__little(prefix + PREFIX_BYTES, width);
    if (p->size < *begin || *length > p->size - *begin)
        return tn__fail(TN_FORMAT, "%s: .npy header length %" PRIu64 " is more than the %" PRIu64 " bytes there are (a truncated download?)",
                        p->label, *length, p->size);
    if (*length > HEADER_MOST)
        return tn__fail(TN_FORMAT, "%s: .npy header length %" PRIu64 " is more than %d", p->label, *length, HEADER_MOST);
    return TN_OK;
}

tn_status tn__npy_add(tn_archive *archive, tn__zip_member *member, const char *label, const char *name)
{
    const place p = {archive, member, label, member ? member->size : archive->size};
    uint64_t begin = 0, length = 0;
    TN__TRY(find_dictionary(&p, &begin, &length));
    char *text = tn__alloc((size_t)length);
    if (!text)
        return TN_MEMORY;
    header h = {.path = label, .text = text, .length = (size_t)length};
    tn__entry entry = {.begin = begin + length, .member = member};
    tn_status status = tn__archive_read_part(archive, member, begin, text, length);
    if (status == TN_OK)
        status = read_dictionary(&h);
    if (status == TN_OK)
        status = check(&h, p.size - entry.begin, &entry);
    tn__free(text);
    return status == TN_OK ? tn__archive_add(archive, name, &entry) : status;
}

static tn_status npy_open(tn_archive *archive)
{
    return tn__npy_add(archive, NULL, archive->path, "");
}

/* ---- writing ---- */

/* The dictionary, with spaces and a newline so that the values begin at a multiple of 64. Version 1.0. */
tn_status tn__npy_head(tn__text *t, const char *label, const tn_tensor *x)
{
    const tn_shape shape = tn_shape_of(x);
    const char *code = NULL;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == tn_dtype_of(x))
            code = dtypes[i].code;
    if (!code)
        return tn__fail(TN_DTYPE, "%s: NumPy has no %s; cast to f32 first, or use .safetensors", label,
                        tn_dtype_name(tn_dtype_of(x)));
    tn__text_put(t, magic, MAGIC_BYTES);
    tn__text_put(t, "\1\0\0\0", 4); /* version; the length is not known yet */
    tn__text_add(t, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", tn_dtype_size(tn_dtype_of(x)) > 1 ? '<' : '|',
                 code);
    for (int i = 0; i < shape.ndim; i++)
        tn__text_add(t, i ? ", %" PRId64 : "%" PRId64, shape.dim[i]);
    tn__text_puts(t, shape.ndim == 1 ? ",), }" : "), }");
    while ((t->length + 1) % 64 != 0 && !t->failed)
        tn__text_puts(t, " ");
    tn__text_puts(t, "\n");
    if (t->failed)
        return TN_MEMORY;
    const size_t length = t->length - PREFIX_BYTES - 2;
    t->data[PREFIX_BYTES] = (char)(length & 0xff);
    t->data[PREFIX_BYTES + 1] = (char)(length >> 8);
    return TN_OK;
}

tn_status tn_save_npy(const char *path, tn_tensor *x)
{
    if (!path)
        return tn__fail_null("save_npy", "path");
    TN__TRY(tn__tensor_check(x, "save_npy", "x"));
    tn__text head = {0};
    tn__writer w;
    tn_status status = tn__npy_head(&head, path, x);
    if (status == TN_OK)
        status = tn__writer_open(&w, path);
    if (status == TN_OK) {
        status = tn__writer_put(&w, head.data, head.length);
        if (status == TN_OK)
            status = tn__writer_tensor(&w, x);
        status = tn__writer_close(&w, status);
    }
    tn__text_free(&head);
    return status;
}

const tn__format tn__format_npy = {"npy", npy_probe, npy_open};
