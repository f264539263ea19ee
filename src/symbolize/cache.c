/* SPDX-License-Identifier: MIT */
/*
 * Answers that outlive the process: one file for each build and each set of
 * sources, read when a symbolizer is opened. It is replaced as a whole when the
 * symbolizer is closed, so that no reader ever sees half a file. If two
 * processes write at the same time, the later one's file stays.
 */
#include "os/replace.h"
#include "symbolize/core/symbolizer_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return wndl_hash_u64(hash ^ value) + 1;
}

/*
 * Hashes the sections of the file: stripped, compressed and full files of a
 * build differ in these. The contents are identified by the build-id.
 */
static uint64_t hash_object(const struct wndl_object *object, uint64_t hash)
{
    size_t count = wndl_object_section_count(object);
    hash = mix(hash, count);
    for (size_t i = 0; i < count; i++) {
        struct wndl_section s = wndl_object_section(object, i);
        hash = mix(hash, wndl_hash_bytes(s.name.data, s.name.size));
        hash = mix(hash, s.addr.v);
        hash = mix(hash, s.size);
        hash = mix(hash, s.offset);
        hash = mix(hash, (uint64_t)s.type << 32 ^ s.flags);
    }
    return hash;
}

/*
 * Hashes the size, the beginning and the end, whose numbers depend on what is
 * before.
 */
static uint64_t hash_text(struct wndl_bytes text, uint64_t hash)
{
    enum { ENDS = 64 << 10 };
    size_t size = text.size < ENDS ? text.size : ENDS;
    hash = mix(hash, text.size);
    hash = mix(hash, wndl_hash_bytes(text.data, size));
    return mix(hash, wndl_hash_bytes(text.data + text.size - size, size));
}

static uint64_t hash_sources(const struct wndl_symbolizer *s)
{
    uint64_t hash = mix(0, s->no_demangle);
    if (wndl_symbolizer_is_breakpad(s))
        return hash_text(s->breakpad_text, hash);
    hash = hash_object(s->binary, hash);
    if (s->pdb != NULL)
        hash = hash_text(s->pdb_file.file.bytes, hash);
    return s->debug == s->binary ? hash : hash_object(s->debug, hash);
}

/* FOLDER/BUILD-ID-SOURCES.wsym, and room for a suffix. */
static char *path_of(struct wndl_symbolizer *s, const char *folder)
{
    const struct wndl_cache_key *key = &s->cache.key;
    struct wndl_buf path;
    wndl_buf_init(&path, s->mem);
    wndl_buf_printf(&path, "%s/", folder);
    for (uint32_t i = 0; i < key->build_id_size; i++)
        wndl_buf_printf(&path, "%02x", key->build_id[i]);
    wndl_buf_printf(&path, "-%016llx.wsym", (unsigned long long)key->sources);
    char *copy =
        path.failed ? NULL : wndl_arena_copy(&s->arena, path.data, path.size);
    wndl_buf_free(&path);
    return copy;
}

static void note_trouble(
    const struct wndl_symbolizer *s, const struct wndl_error *err)
{
    if (s->cache.options.note != NULL)
        s->cache.options.note(s->cache.options.context, err);
}

/* Whoever writes the file decides what names are shown. */
static enum wndl_status check_owner(
    const struct wndl_file_facts *facts, struct wndl_error *err)
{
    if (!facts->is_open && (facts->owner == geteuid() || facts->owner == 0))
        return WNDL_OK;
    return wndl_fail(err, WNDL_DENIED,
        facts->is_open ? "not read: others may write to this cache file"
                       : "not read: this cache file is another user's");
}

/* Reads the present file, if it is usable; *file ends with wndl_file_close. */
static enum wndl_status read_file(const struct wndl_symbolizer *s,
    struct wndl_file *file, struct wndl_cache_file *answers,
    struct wndl_error *err)
{
    *answers = (struct wndl_cache_file){0};
    struct wndl_file_facts facts;
    enum wndl_status status =
        wndl_file_open_itself(s->cache.path, file, &facts, err);
    if (status == WNDL_OK)
        status = check_owner(&facts, err);
    if (status == WNDL_OK)
        status = wndl_cache_file_read(file->bytes, &s->cache.key, answers, err);
    if (status != WNDL_OK)
        wndl_file_close(file);
    return status;
}

/* Empty also for a PDB file alone, whose answers are not kept. */
static struct wndl_bytes build_id_of(const struct wndl_symbolizer *s)
{
    if (wndl_symbolizer_is_breakpad(s))
        return s->breakpad_id;
    return s->binary == NULL ? (struct wndl_bytes){0}
                             : wndl_object_build_id(s->binary);
}

enum wndl_status wndl_symbolizer_open_cache(
    struct wndl_symbolizer *s, const struct wndl_symbolizer_cache *options)
{
    struct wndl_bytes id = build_id_of(s);
    struct wndl_error err = {0};
    if (options == NULL || id.size == 0 || id.size > WNDL_CACHE_BUILD_ID_MAX)
        return WNDL_OK;
    struct wndl_symbol_cache *cache = &s->cache;
    memcpy(cache->key.build_id, id.data, id.size);
    cache->key.build_id_size = (uint32_t)id.size;
    cache->key.sources = hash_sources(s);
    cache->options = *options;
    cache->folder =
        wndl_arena_copy(&s->arena, options->folder, strlen(options->folder));
    cache->path = path_of(s, options->folder);
    if (cache->folder == NULL || cache->path == NULL)
        return WNDL_NOMEM;
    if (read_file(s, &cache->file, &cache->answers, &err) != WNDL_OK &&
        err.sys_errno != ENOENT)
        note_trouble(s, &err);
    return WNDL_OK;
}

bool wndl_symbolizer_is_cached(const struct wndl_symbolizer *s, uint64_t rva)
{
    struct wndl_cache_answer answer;
    return wndl_cache_file_find(&s->cache.answers, rva, &answer);
}

enum wndl_status wndl_symbolizer_recall(const struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva, struct wndl_symbols *answer)
{
    struct wndl_cache_answer found;
    if (!wndl_cache_file_find(&s->cache.answers, rva, &found))
        return WNDL_NOT_FOUND;
    struct wndl_symbol_frame *frames =
        wndl_arena_calloc(arena, found.count, sizeof *frames);
    if (frames == NULL)
        return WNDL_NOMEM;
    wndl_cache_file_frames(&s->cache.answers, &found, frames);
    *answer = (struct wndl_symbols){frames, found.count};
    return WNDL_OK;
}

/* ---- writing */

static enum wndl_status write_file(const struct wndl_symbolizer *s,
    struct wndl_bytes bytes, struct wndl_error *err)
{
    wndl_error_set_file(err, s->cache.folder);
    if (mkdir(s->cache.folder, 0700) != 0 && errno != EEXIST)
        return wndl_fail_errno(err, errno, "cannot create the folder");
    return wndl_file_replace(s->cache.path, bytes, err);
}

static int compare_rvas(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return (*a > *b) - (*a < *b);
}

/* Whether an address was looked up that is not in the file. */
static bool has_fresh(const struct wndl_symbolizer *s)
{
    const struct wndl_map *map = &s->answers;
    size_t slots = map->slots == NULL ? 0 : (size_t)1 << map->log2;
    if (map->has_zero && !wndl_symbolizer_is_cached(s, 0))
        return true;
    for (size_t i = 0; i < slots; i++)
        if (map->slots[i].key != 0 &&
            !wndl_symbolizer_is_cached(s, map->slots[i].key))
            return true;
    return false;
}

/* Lists the looked-up addresses, ascending. */
static bool collect_asked(
    const struct wndl_symbolizer *s, struct wndl_vec *rvas)
{
    const struct wndl_map *map = &s->answers;
    size_t slots = map->slots == NULL ? 0 : (size_t)1 << map->log2;
    if (!wndl_vec_reserve(rvas, map->count + 1))
        return false;
    if (map->has_zero)
        *(uint64_t *)wndl_vec_push(rvas) = 0;
    for (size_t i = 0; i < slots; i++)
        if (map->slots[i].key != 0)
            *(uint64_t *)wndl_vec_push(rvas) = map->slots[i].key;
    if (rvas->len > 1)
        qsort(rvas->data, rvas->len, rvas->element, compare_rvas);
    return true;
}

static bool copy_answer(struct wndl_cache_writer *writer,
    const struct wndl_cache_file *from, uint32_t index)
{
    enum { USUAL = 64 };
    struct wndl_symbol_frame usual[USUAL];
    struct wndl_cache_answer answer = wndl_cache_file_answer(from, index);
    struct wndl_symbol_frame *frames = usual;
    if (answer.count > USUAL)
        frames =
            wndl_arena_calloc(writer->seen.arena, answer.count, sizeof *frames);
    if (frames == NULL)
        return false;
    wndl_cache_file_frames(from, &answer, frames);
    const struct wndl_symbols symbols = {frames, answer.count};
    wndl_cache_writer_add(writer, answer.rva, &symbols);
    return true;
}

/* Merges the looked-up answers with those of `old` that were not looked up. */
static bool merge_answers(const struct wndl_symbolizer *s,
    const struct wndl_vec *rvas, const struct wndl_cache_file *old,
    struct wndl_cache_writer *writer)
{
    uint32_t at = 0;
    for (size_t i = 0; i <= rvas->len; i++) {
        const uint64_t *rva = i < rvas->len ? wndl_vec_at(rvas, i) : NULL;
        uint64_t found = 0;
        for (; at < old->count; at++) {
            found = wndl_cache_file_answer(old, at).rva;
            if (rva != NULL && found >= *rva)
                break;
            if (!copy_answer(writer, old, at))
                return false;
        }
        if (rva == NULL)
            break;
        at += at < old->count && found == *rva;
        wndl_cache_writer_add(writer, *rva,
            (const struct wndl_symbols *)(uintptr_t)*wndl_map_get(
                &s->answers, *rva));
    }
    return true;
}

static enum wndl_status make_bytes(const struct wndl_symbolizer *s,
    const struct wndl_vec *rvas, const struct wndl_cache_file *old,
    struct wndl_buf *out)
{
    struct wndl_cache_writer writer;
    enum wndl_status status = WNDL_NOMEM;
    if (wndl_cache_writer_init(&writer, rvas->arena) &&
        merge_answers(s, rvas, old, &writer))
        status = wndl_cache_writer_finish(&writer, &s->cache.key, out);
    wndl_cache_writer_free(&writer);
    return status;
}

/*
 * Saves the new answers with the present ones of the file; alone, if that is
 * too much.
 */
static enum wndl_status save_answers(const struct wndl_symbolizer *s,
    const struct wndl_vec *rvas, struct wndl_error *err)
{
    static const struct wndl_cache_file none;
    struct wndl_file file = {0};
    struct wndl_cache_file old;
    struct wndl_error ignored = {0};
    struct wndl_buf out;
    (void)!read_file(s, &file, &old, &ignored);
    wndl_buf_init(&out, s->mem);
    enum wndl_status status = make_bytes(s, rvas, &old, &out);
    if (status == WNDL_LIMIT)
        status = make_bytes(s, rvas, &none, &out);
    wndl_file_close(&file);
    if (status == WNDL_OK)
        status = write_file(s, (struct wndl_bytes){out.data, out.size}, err);
    else if (status == WNDL_LIMIT)
        (void)wndl_fail(err, status, "too many symbols to be kept");
    else
        (void)wndl_symbolizer_no_memory(err);
    wndl_buf_free(&out);
    return status;
}

static enum wndl_status save_if_fresh(
    const struct wndl_symbolizer *s, struct wndl_error *err)
{
    struct wndl_arena scratch;
    struct wndl_vec rvas;
    if (!has_fresh(s))
        return WNDL_OK;
    wndl_arena_init(&scratch, s->mem);
    wndl_vec_init(&rvas, &scratch, sizeof(uint64_t));
    enum wndl_status status = collect_asked(s, &rvas)
                                  ? save_answers(s, &rvas, err)
                                  : wndl_symbolizer_no_memory(err);
    wndl_arena_free(&scratch);
    return status;
}

void wndl_symbolizer_close_cache(struct wndl_symbolizer *s, bool is_whole)
{
    struct wndl_error err = {0};
    if (is_whole && save_if_fresh(s, &err) != WNDL_OK)
        note_trouble(s, &err);
    wndl_file_close(&s->cache.file);
}
