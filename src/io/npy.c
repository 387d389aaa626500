/* NumPy's .npy, versions 1 to 3: a magic, a version, a header length, a Python dictionary, then the values.
 *
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * One tensor, named "". Both byte orders and both axis orders are read. */
#include "io/format.h"
#include "base/alloc.h"
#include "base/text.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <string.h>

static const char magic[] = "\223NUMPY";
#define MAGIC_BYTES  6
#define PREFIX_BYTES 8 /* magic, major and minor version */

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

static tn_status check(const header *h, tn_archive *archive, uint64_t begin)
{
    tn__entry entry = {.shape = h->shape, .begin = begin, .columns = h->columns};
    TN__TRY(check_descr(h, &entry));
    if (!tn__entry_bytes(entry.dtype, &entry.shape, &entry.bytes))
        return tn__fail(TN_FORMAT, "%s: the product of the shape's %d extents times %zu bytes overflows 63 bits",
                        h->path, entry.shape.ndim, tn_dtype_size(entry.dtype));
    if (entry.bytes != archive->size - begin)
        return tn__fail(TN_FORMAT, "%s: expected %" PRIu64 " bytes of values, found %" PRIu64, h->path, entry.bytes,
                        archive->size - begin);
    return tn__archive_add(archive, "", &entry);
}

static bool npy_probe(const unsigned char *head, size_t count)
{
    return count >= MAGIC_BYTES && memcmp(head, magic, MAGIC_BYTES) == 0;
}

/* Where the dictionary begins and ends, checked against the file. */
static tn_status find_dictionary(tn_archive *archive, uint64_t *begin, uint64_t *length)
{
    unsigned char prefix[PREFIX_BYTES + 4] = {0};
    if (archive->size < PREFIX_BYTES + 2)
        return tn__fail(TN_FORMAT, "%s: the .npy header is cut off: the file has %" PRIu64 " bytes", archive->path,
                        archive->size);
    const size_t there = archive->size < sizeof prefix ? (size_t)archive->size : sizeof prefix;
    TN__TRY(tn__archive_read(archive, 0, prefix, there));
    const int major = prefix[MAGIC_BYTES], minor = prefix[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0)
        return tn__fail(TN_FORMAT, "%s: .npy version %d.%d is not known", archive->path, major, minor);
    const int width = major == 1 ? 2 : 4;
    *begin = PREFIX_BYTES + (uint64_t)width;
    *length = tn__little(prefix + PREFIX_BYTES, width);
    if (archive->size < *begin || *length > archive->size - *begin)
        return tn__fail(TN_FORMAT,
                        "%s: .npy header length %" PRIu64 " is more than the file's %" PRIu64
                        " bytes (a truncated download?)",
                        archive->path, *length, archive->size);
    return TN_OK;
}

static tn_status npy_open(tn_archive *archive)
{
    uint64_t begin = 0, length = 0;
    TN__TRY(find_dictionary(archive, &begin, &length));
    char *text = tn__alloc((size_t)length);
    if (!text)
        return TN_MEMORY;
    header h = {.path = archive->path, .text = text, .length = (size_t)length};
    tn_status status = tn__archive_read(archive, begin, text, length);
    if (status == TN_OK)
        status = read_dictionary(&h);
    if (status == TN_OK)
        status = check(&h, archive, begin + length);
    tn__free(text);
    return status;
}

/* ---- writing ---- */

/* The dictionary, with spaces and a newline so that the values begin at a multiple of 64. Version 1.0, whose header may have
 * 65,535 bytes: sixteen axes need less than 500. */
static void put_header(tn__text *t, const tn_tensor *x, const char *code)
{
    const tn_shape shape = tn_shape_of(x);
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
        return;
    const size_t length = t->length - PREFIX_BYTES - 2;
    t->data[PREFIX_BYTES] = (char)(length & 0xff);
    t->data[PREFIX_BYTES + 1] = (char)(length >> 8);
}

tn_status tn_save_npy(const char *path, tn_tensor *x)
{
    if (!path)
        return tn__fail_null("save_npy", "path");
    TN__TRY(tn__tensor_check(x, "save_npy", "x"));
    const char *code = NULL;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == tn_dtype_of(x))
            code = dtypes[i].code;
    if (!code)
        return tn__fail(TN_DTYPE, "%s: NumPy has no %s; cast to f32 first, or use .safetensors", path,
                        tn_dtype_name(tn_dtype_of(x)));
    tn__text head = {0};
    tn__writer w;
    put_header(&head, x, code);
    tn_status status = head.failed ? TN_MEMORY : tn__writer_open(&w, path);
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
