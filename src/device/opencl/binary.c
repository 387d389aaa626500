/* The disk cache of compiled programs: one file per program. Any doubt about a file means that it is not there. */
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "base/text.h"
#include "device/opencl/opencl.h"

/* A file: this head, the key, the binary. Files are read by the machine that wrote them, so numbers are in its order. */
typedef struct head {
    char magic[8];
    uint64_t key_length, binary_length;
    tn__hash128 binary_hash;
} head;

static const char magic[8] = "TENONCL1";
enum { FILE_LIMIT = 1 << 28 };

/* Everything a binary depends on. */
static void add_key(tn__text *t, const tn__device *device, tn__hash128 hash, size_t length)
{
    const tn__cl_device *state = device->state;
    const tn_device_info *info = &device->info;
    tn__text_add(t, "tenon %s\nplatform %s\nplatform version %s\ndevice %s\nvendor %s\ndriver %s\nversion %s\noptions %s\n",
                 tn_version(), info->platform, state->platform_version, info->description, info->vendor, info->driver,
                 info->version, state->options);
    tn__text_add(t, "source %016llx%016llx %zu\n", (unsigned long long)hash.hi, (unsigned long long)hash.lo, length);
}

/* Folder, path and key of a program's file; false when there is no cache. */
static bool place(const tn__device *device, tn__hash128 hash, size_t length, tn__text *dir, tn__text *path, tn__text *key)
{
    tn__cache_folder(dir);
    if (dir->length == 0) return false;
    add_key(key, device, hash, length);
    if (dir->failed || key->failed) return false;
    const tn__hash128 name = tn__hash_wide(key->data, key->length);
    tn__text_add(path, "%s/%016llx%016llx.bin", dir->data, (unsigned long long)name.hi, (unsigned long long)name.lo);
    return !path->failed;
}

/* The binary inside a file's bytes, NULL unless everything about them is right. */
static const unsigned char *check(const char *bytes, size_t size, const tn__text *key, size_t *length)
{
    head h;
    if (size < sizeof h) return NULL;
    memcpy(&h, bytes, sizeof h);
    const size_t rest = size - sizeof h;
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.key_length != key->length || h.key_length > rest ||
        h.binary_length != rest - h.key_length || h.binary_length == 0)
        return NULL;
    const char *stored_key = bytes + sizeof h, *binary = stored_key + h.key_length;
    if (memcmp(stored_key, key->data, key->length) != 0) return NULL;
    const tn__hash128 hash = tn__hash_wide(binary, (size_t)h.binary_length);
    if (hash.lo != h.binary_hash.lo || hash.hi != h.binary_hash.hi) return NULL;
    *length = (size_t)h.binary_length;
    return (const unsigned char *)binary;
}

static cl_program create(const tn__device *device, const unsigned char *binary, size_t length)
{
    const tn__cl_device *state = device->state;
    cl_int code = CL_SUCCESS, status = CL_SUCCESS;
    cl_program program =
        state->cl->CreateProgramWithBinary(state->context, 1, &state->id, &length, &binary, &status, &code);
    if (!program) return NULL;
    if (code == CL_SUCCESS && status == CL_SUCCESS &&
        state->cl->BuildProgram(program, 1, &state->id, state->options, NULL, NULL) == CL_SUCCESS)
        return program;
    state->cl->ReleaseProgram(program);
    return NULL;
}

cl_program tn__cl_binary_load(tn__device *device, tn__hash128 hash, size_t length)
{
    tn__text dir = {0}, path = {0}, key = {0};
    cl_program program = NULL;
    if (place(device, hash, length, &dir, &path, &key)) {
        size_t size = 0, binary_length = 0;
        char *bytes = tn__file_read(path.data, FILE_LIMIT, &size);
        const unsigned char *binary = bytes ? check(bytes, size, &key, &binary_length) : NULL;
        if (binary) program = create(device, binary, binary_length);
        if (bytes && !program)
            tn__log(3, "%s: %s %s and is made anew", device->name, path.data,
                    binary ? "is refused by the driver" : "is damaged");
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

static void store(tn__device *device, const tn__cl_program *program, const tn__text *dir, const tn__text *path,
                  const tn__text *key)
{
    static atomic_ullong complained; /* about the folder of this hash */
    head h = {.key_length = key->length};
    size_t length = 0;
    char *bytes = fetch(device->state, program->program, sizeof h + key->length, &length);
    if (!bytes) return;
    memcpy(h.magic, magic, sizeof magic);
    h.binary_length = length;
    h.binary_hash = tn__hash_wide(bytes + sizeof h + key->length, length);
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, key->data, key->length);
    const bool written = tn__make_folders(dir->data) &&
                         tn__file_write_atomic(path->data, bytes, sizeof h + key->length + length);
    const uint64_t place_hash = tn__hash(dir->data, dir->length, 1);
    if (!written && atomic_exchange(&complained, place_hash) != place_hash)
        tn__log(1, "the program cache %s cannot be written: programs are compiled again in every process", dir->data);
    tn__free(bytes);
}

void tn__cl_binary_save(tn__device *device, const tn__cl_program *program)
{
    tn__text dir = {0}, path = {0}, key = {0};
    if (place(device, program->hash, program->length, &dir, &path, &key)) store(device, program, &dir, &path, &key);
    tn__text_free(&dir);
    tn__text_free(&path);
    tn__text_free(&key);
}

tn__file_lock *tn__cl_binary_claim(tn__device *device, const tn__cl_program *program, bool *waited, bool *busy)
{
    static const double patience = 4, little_patience = 0.25; /* seconds; the second once the first was in vain */
    static atomic_bool in_vain;
    tn__text dir = {0}, path = {0}, key = {0};
    tn__file_lock *claim = NULL;
    *waited = *busy = false;
    if (place(device, program->hash, program->length, &dir, &path, &key) && tn__make_folders(dir.data)) {
        tn__text_puts(&path, ".lock");
        if (!path.failed)
            claim = tn__file_lock_take(path.data, atomic_load(&in_vain) ? little_patience : patience, waited, busy);
        if (*busy) atomic_store(&in_vain, true);
    }
    tn__text_free(&dir);
    tn__text_free(&path);
    tn__text_free(&key);
    return claim;
}
