/* A model in several safetensors files, by its index, model.safetensors.index.json:
 *
 *   {"metadata": {"total_size": 96}, "weight_map": {"fc1.weight": "model-00001-of-00002.safetensors", ...}}
 *
 * The shards lie in the index' folder. Each is opened once, and read where its tensors are asked for. */
#include "io/format.h"
#include "io/json.h"
#include "base/alloc.h"
#include <string.h>

extern const tn__format tn__format_safetensors;

/* JSON holds no NUL; of a safetensors file's length, 8 bytes, the last are 0. */
static bool shards_probe(const tn_archive *archive, const unsigned char *head, size_t count)
{
    (void)archive;
    size_t at = 0;
    while (at < count && head[at] && strchr(" \t\r\n", head[at])) at++;
    return count > 8 && !memchr(head, 0, 8) && at < count && head[at] == '{';
}

/* ---- one shard ---- */

static tn_archive *open_shard(tn_archive *archive, const char *file)
{
    tn__text path = {0};
    const char *slash = strrchr(archive->path, '/');
    tn__text_put(&path, archive->path, slash ? (size_t)(slash + 1 - archive->path) : 0);
    tn__text_puts(&path, file);
    tn_archive *shard = path.failed ? NULL : tn__archive_open(path.data, &tn__format_safetensors);
    tn__text_free(&path);
    return shard;
}

/* The index comes from strangers: it names files beside it, not others. (Links are followed: Hugging Face's cache is made of
 * them.) */
static bool is_plain_name(const char *file)
{
    return *file && !strchr(file, '/') && !strchr(file, '\\') && strcmp(file, ".") != 0 && strcmp(file, "..") != 0;
}

/* The shard of this name, which is opened when it is the first time. Place in archive->shard plus 1. */
static tn_status find_shard(tn_archive *archive, tn__map *by_file, const char *name, const char *file, tn_archive **shard)
{
    char shown[80], shown_file[80];
    *shard = tn__map_get(by_file, file, strlen(file));
    if (*shard) return TN_OK;
    if (!is_plain_name(file))
        return tn__fail(TN_FORMAT, "%s: tensor \"%s\": its file \"%s\" is not a name in the same folder", archive->path,
                        tn__shown(name, strlen(name), shown), tn__shown(file, strlen(file), shown_file));
    tn_archive **more = tn__realloc(archive->shard, (size_t)(archive->shards + 1) * sizeof(tn_archive *));
    if (!more) return TN_MEMORY;
    archive->shard = more;
    *shard = open_shard(archive, file);
    if (!*shard) {
        tn__error_prefix(archive->path);
        return tn_last_status();
    }
    archive->shard[archive->shards++] = *shard;
    return tn__map_put(by_file, file, strlen(file), *shard) ? TN_OK : TN_MEMORY;
}

/* ---- one tensor ---- */

static const tn__entry *find_entry(const tn_archive *shard, const char *name)
{
    const uintptr_t place = (uintptr_t)tn__map_get(shard->by_name, name, strlen(name));
    return place ? &shard->entry[place - 1] : NULL;
}

static tn_status add(tn_archive *archive, tn_archive *shard, const char *name)
{
    const tn__entry *found = find_entry(shard, name);
    if (!found) {
        char shown[80];
        return tn__fail(TN_FORMAT, "%s: tensor \"%s\" is not in %s, where the index has it", archive->path,
                        tn__shown(name, strlen(name), shown), shard->path);
    }
    tn__entry entry = *found;
    entry.shard = shard;
    return tn__archive_add(archive, name, &entry);
}

static tn_status read_map(tn_archive *archive, tn__json *j, tn__map *by_file)
{
    TN__TRY(tn__json_expect(j, '{'));
    if (tn__json_accept(j, '}')) return TN_OK;
    do {
        const char *name = NULL, *file = NULL;
        tn_archive *shard = NULL;
        TN__TRY(tn__json_text(j, &name));
        TN__TRY(tn__json_expect(j, ':'));
        TN__TRY(tn__json_text(j, &file));
        TN__TRY(find_shard(archive, by_file, name, file, &shard));
        TN__TRY(add(archive, shard, name));
    } while (tn__json_accept(j, ','));
    return tn__json_expect(j, '}');
}

/* ---- the index ---- */

static tn_status read_index(tn_archive *archive, tn__json *j, tn__map *by_file)
{
    bool seen = false;
    TN__TRY(tn__json_expect(j, '{'));
    if (!tn__json_accept(j, '}')) {
        do {
            const char *key = NULL;
            TN__TRY(tn__json_text(j, &key));
            TN__TRY(tn__json_expect(j, ':'));
            const bool map = strcmp(key, "weight_map") == 0;
            if (map && seen) return tn__fail(TN_FORMAT, "%s: weight_map is there twice", archive->path);
            seen = seen || map;
            TN__TRY(map ? read_map(archive, j, by_file) : tn__json_skip(j));
        } while (tn__json_accept(j, ','));
        TN__TRY(tn__json_expect(j, '}'));
    }
    TN__TRY(tn__json_end(j));
    return seen ? TN_OK : tn__fail(TN_FORMAT, "%s: JSON without a weight_map, no index of safetensors files", archive->path);
}

static tn_status shards_open(tn_archive *archive)
{
    char *text = tn__alloc((size_t)archive->size + 1);
    tn__map *by_file = tn__map_new();
    tn_status status = text && by_file ? tn__archive_read(archive, 0, text, archive->size) : TN_MEMORY;
    if (status == TN_OK) {
        tn__json json;
        text[archive->size] = '\0';
        tn__json_start(&json, archive->path, text, (size_t)archive->size);
        status = read_index(archive, &json, by_file);
    }
    if (by_file) tn__map_free(by_file);
    tn__free(text);
    return status;
}

const tn__format tn__format_shards = {"safetensors.index.json", shards_probe, shards_open};
