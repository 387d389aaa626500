/* The disk cache of compiled programs: one file per program, and for each of several texts in one program a file that names it. Any
 * doubt about a file means that it is not there. */
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "base/text.h"
#include "device/opencl/opencl.h"

/* A file: this head, the key, the content: a binary, or the tn__cl_id of the program that holds the text. Files are read by the
 * machine that wrote them, so numbers are in its order. */
typedef struct head {
    char magic[8];
    uint64_t key_length, length;
    tn__hash128 hash; /* of the content */
} head;

enum { BINARY, REFERENCE };
static const char magics[2][8] = {"TENONCL1", "TENONRF1"};
enum { FILE_LIMIT = 1 << 28 };

/* Everything a binary depends on. */
static void add_key(tn__text *t, const tn__device *device, tn__cl_id id)
{
    const tn__cl_device *state = device->state;
    const tn_device_info *info = &device->info;
    tn__text_add(t, "tenon %s\nplatform %s\nplatform version %s\ndevice %s\nvendor %s\ndriver %s\nversion %s\noptions %s\n",
                 tn_version(), info->platform, state->platform_version, info->description, info->vendor, info->driver,
                 info->version, state->options);
    tn__text_add(t, "source %016llx%016llx %zu\n", (unsigned long long)id.hash.hi, (unsigned long long)id.hash.lo, id.length);
}

/* Folder, path and key of a program's file; false when there is no cache. */
static bool place(const tn__device *device, tn__cl_id id, tn__text *dir, tn__text *path, tn__text *key)
{
    tn__cache_folder(dir);
    if (dir->length == 0) return false;
    add_key(key, device, id);
    if (dir->failed || key->failed) return false;
    const tn__hash128 name = tn__hash_wide(key->data, key->length);
    tn__text_add(path, "%s/%016llx%016llx.bin", dir->data, (unsigned long long)name.hi, (unsigned long long)name.lo);
    return !path->failed;
}

/* The content of a file's bytes and its kind, NULL unless everything about them is right. */
static const unsigned char *check(const char *bytes, size_t size, const tn__text *key, size_t *length, int *kind)
{
    head h;
    if (size < sizeof h) return NULL;
    memcpy(&h, bytes, sizeof h);
    const size_t rest = size - sizeof h;
    *kind = memcmp(h.magic, magics[REFERENCE], sizeof h.magic) == 0 ? REFERENCE : BINARY;
    if (memcmp(h.magic, magics[*kind], sizeof h.magic) != 0 || h.key_length != key->length || h.key_length > rest ||
        h.length != rest - h.key_length || h.length == 0)
        return NULL;
    const char *stored_key = bytes + sizeof h, *content = stored_key + h.key_length;
    if (memcmp(stored_key, key->data, key->length) != 0) return NULL;
    const tn__hash128 hash = tn__hash_wide(content, (size_t)h.length);
    if (hash.lo != h.hash.lo || hash.hi != h.hash.hi) return NULL;
    if (*kind == REFERENCE && h.length != sizeof(tn__cl_id)) return NULL;
    *length = (size_t)h.length;
    return (const unsigned char *)content;
}

static cl_program create(const tn__device *device, const unsigned char *binary, size_t length)
{
    const tn__cl_device *state = device->state;
    cl_int code = CL_SUCCESS, status = CL_SUCCESS;
    cl_program program = state->cl->CreateProgramWithBinary(state->context, 1, &state->id, &length, &binary, &status, &code);
    if (!program) return NULL;
    if (code == CL_SUCCESS && status == CL_SUCCESS &&
        state->cl->BuildProgram(program, 1, &state->id, state->options, NULL, NULL) == CL_SUCCESS)
        return program;
    state->cl->ReleaseProgram(program);
    return NULL;
}

cl_program tn__cl_binary_load(tn__device *device, tn__cl_id id, tn__cl_id *joined)
{
    tn__text dir = {0}, path = {0}, key = {0};
    cl_program program = NULL;
    if (place(device, id, &dir, &path, &key)) {
        size_t size = 0, length = 0;
        int kind = BINARY;
        char *bytes = tn__file_read(path.data, FILE_LIMIT, &size);
        const unsigned char *content = bytes ? check(bytes, size, &key, &length, &kind) : NULL;
        const bool reference = content && kind == REFERENCE && joined;
        if (reference) memcpy(joined, content, sizeof *joined);
        if (content && kind == BINARY) program = create(device, content, length);
        if (bytes && !program && !reference)
            tn__log(3, "%s: %s %s and is made anew", device->name, path.data, content ? "is refused by the driver" : "is damaged");
        tn__free(bytes);
    }
    tn__text_free(&dir);
    tn__text_free(&path);
    tn__text_free(&key);
    return program;
}

/* The program's binary behind room for head and key; NULL when the driver gives none. */
static char *fetch(const tn__cl_device *state, cl_program program, size_t room, size_t *length)
{
    size_t size = 0;
    if (state->cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS || size == 0 ||
        size > FILE_LIMIT - room)
        return NULL;
    char *bytes = tn__alloc_quiet(room + size);
    if (!bytes) return NULL;
    unsigned char *binary = (unsigned char *)bytes + room;
    if (state->cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS) {
        *length = size;
        return bytes;
    }
    tn__free(bytes);
    return NULL;
}

/* Writes a file whose content lies in bytes behind room for head and key. */
static void store(const char *dir, const tn__text *path, const tn__text *key, int kind, char *bytes, size_t length)
{
    static atomic_ullong complained; /* about the folder of this hash */
    head h = {.key_length = key->length, .length = length};
    memcpy(h.magic, magics[kind], sizeof h.magic);
    h.hash = tn__hash_wide(bytes + sizeof h + key->length, length);
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, key->data, key->length);
    const bool written = tn__make_folders(dir) && tn__file_write_atomic(path->data, bytes, sizeof h + key->length + length);
    const uint64_t place_hash = tn__hash(dir, strlen(dir), 1);
    if (!written && atomic_exchange(&complained, place_hash) != place_hash)
        tn__log(1, "the program cache %s cannot be written: programs are compiled again in every process", dir);
}

/* The program's own file, or that of a text in it. */
static void save_one(tn__device *device, const tn__cl_program *program, const tn__cl_unit *unit)
{
    tn__text dir = {0}, path = {0}, key = {0};
    if (place(device, unit ? unit->id : program->id, &dir, &path, &key)) {
        const size_t room = sizeof(head) + key.length;
        size_t length = sizeof program->id;
        char *bytes = unit ? tn__alloc_quiet(room + length) : fetch(device->state, program->program, room, &length);
        if (bytes && unit) memcpy(bytes + room, &program->id, length);
        if (bytes) store(dir.data, &path, &key, unit ? REFERENCE : BINARY, bytes, length);
        tn__free(bytes);
    }
    tn__text_free(&dir);
    tn__text_free(&path);
    tn__text_free(&key);
}

void tn__cl_binary_save(tn__device *device, const tn__cl_program *program)
{
    save_one(device, program, NULL);
    for (const tn__cl_unit *u = program->units; program->joined && u; u = u->sibling) save_one(device, program, u);
}

tn__file_lock *tn__cl_binary_claim(tn__device *device, tn__cl_id id, bool *waited, bool *busy)
{
    static const double patience = 4, little_patience = 0.25; /* seconds; the second once the first was in vain */
    static atomic_bool in_vain;
    tn__text dir = {0}, path = {0}, key = {0};
    tn__file_lock *claim = NULL;
    *waited = *busy = false;
    if (place(device, id, &dir, &path, &key) && tn__make_folders(dir.data)) {
        tn__text_puts(&path, ".lock");
        if (!path.failed) claim = tn__file_lock_take(path.data, atomic_load(&in_vain) ? little_patience : patience, waited, busy);
        if (*busy) atomic_store(&in_vain, true);
    }
    tn__text_free(&dir);
    tn__text_free(&path);
    tn__text_free(&key);
    return claim;
}
