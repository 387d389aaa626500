/* zlib at run time. Its interface is declared here as zlib.h has had it since version 1.0. */
#include "io/inflate.h"
#include "base/alloc.h"
#include "base/settings.h"
#include "io/format.h"
#include <inttypes.h>
#include <string.h>

static const char default_path[] = "libz.so.1";

typedef struct z_stream {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *opaque, unsigned items, unsigned size);
    void (*zfree)(void *opaque, void *p);
    void *opaque;
    int data_type;
    unsigned long adler, reserved;
} z_stream;

enum { Z_OK = 0, Z_STREAM_END = 1, Z_MEM_ERROR = -4, Z_BUF_ERROR = -5 };
enum { RAW = -15 }; /* the whole window, no header of zlib's */

struct tn__inflater {
    tn_archive *archive;
    const tn__zip_member *member;
    void *library;
    int (*init)(z_stream *, int bits, const char *version, int size);
    int (*inflate)(z_stream *, int flush);
    int (*end)(z_stream *);
    z_stream stream;
    uint64_t read; /* packed bytes taken from the file */
    bool started, ended;
    unsigned char input[1 << 14];
};

static void *allocate(void *opaque, unsigned items, unsigned size)
{
    (void)opaque;
    return tn__alloc((size_t)items * size);
}

static void release(void *opaque, void *p)
{
    (void)opaque;
    tn__free(p);
}

static tn_status fault(const tn__inflater *f, tn_status code, const char *what)
{
    char shown[80];
    return tn__fail(code, "%s: member \"%s\": %s", f->archive->path, tn__shown(f->member->name, strlen(f->member->name), shown),
                    what);
}

/* ISO C has no conversion from an object's pointer to a function's. */
static bool find(tn__inflater *f, const char *name, void *function)
{
    void *symbol = tn__library_symbol(f->library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static tn_status load(tn__inflater *f)
{
    const char *path = tn__setting_text(TN__SET_ZLIB, NULL);
    if (strcmp(path, "none") == 0) return fault(f, TN_FILE, "it is deflated, and TENON_ZLIB=none turns zlib off");
    f->library = tn__library_open(*path ? path : default_path);
    if (f->library && find(f, "inflateInit2_", &f->init) && find(f, "inflate", &f->inflate) && find(f, "inflateEnd", &f->end))
        return TN_OK;
    return fault(f, TN_FILE,
                 "it is deflated, and zlib (libz.so.1), which unpacks it, cannot be opened: install it (Debian: zlib1g)");
}

tn_status tn__inflate_open(tn_archive *archive, const tn__zip_member *member, tn__inflater **inflater)
{
    tn__inflater *f = tn__zalloc(sizeof *f);
    if (!f) return TN_MEMORY;
    f->archive = archive;
    f->member = member;
    f->stream.zalloc = allocate;
    f->stream.zfree = release;
    tn_status status = load(f);
    if (status == TN_OK) {
        const int code = f->init(&f->stream, RAW, "1", (int)sizeof f->stream);
        f->started = code == Z_OK;
        if (!f->started)
            status = code == Z_MEM_ERROR ? TN_MEMORY : fault(f, TN_FILE, "it is deflated, and this zlib is of another kind");
    }
    if (status == TN_OK)
        *inflater = f;
    else
        tn__inflate_close(f);
    return status;
}

/* Unpacks until the room in the stream is full, or the end. */
static tn_status run(tn__inflater *f)
{
    z_stream *z = &f->stream;
    while (z->avail_out > 0 && !f->ended) {
        const uint64_t left = f->member->packed - f->read;
        if (z->avail_in == 0 && left > 0) {
            z->avail_in = left < sizeof f->input ? (unsigned)left : (unsigned)sizeof f->input;
            z->next_in = f->input;
            TN__TRY(tn__archive_read(f->archive, f->member->begin + f->read, f->input, z->avail_in));
            f->read += z->avail_in;
        }
        const int code = f->inflate(z, 0);
        f->ended = code == Z_STREAM_END;
        if (code == Z_MEM_ERROR) return TN_MEMORY;
        if (code == Z_BUF_ERROR) return fault(f, TN_FORMAT, "its packed bytes end too early");
        if (code != Z_OK && code != Z_STREAM_END) return fault(f, TN_FORMAT, z->msg ? z->msg : "its packed bytes are damaged");
    }
    return TN_OK;
}

static tn_status wrong_size(const tn__inflater *f, const char *than)
{
    char what[100];
    (void)snprintf(what, sizeof what, "it unpacks to %s than the %" PRIu64 " bytes of the directory", than, f->member->size);
    return fault(f, TN_FORMAT, what);
}

tn_status tn__inflate(tn__inflater *f, void *out, size_t bytes)
{
    f->stream.next_out = out;
    f->stream.avail_out = (unsigned)bytes;
    TN__TRY(run(f));
    return f->stream.avail_out == 0 ? TN_OK : wrong_size(f, "fewer");
}

tn_status tn__inflate_end(tn__inflater *f)
{
    unsigned char more;
    f->stream.next_out = &more;
    f->stream.avail_out = 1;
    TN__TRY(run(f));
    return f->stream.avail_out == 1 ? TN_OK : wrong_size(f, "more");
}

void tn__inflate_close(tn__inflater *f)
{
    if (!f) return;
    if (f->started) (void)f->end(&f->stream);
    tn__library_close(f->library);
    tn__free(f);
}
