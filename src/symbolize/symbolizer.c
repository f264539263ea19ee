/* SPDX-License-Identifier: MIT */
/*
 * symbolizer: joins a binary, its debug file, their symbol tables and DWARF
 * into one answer per address, and remembers the answers.
 */
#include "symbolize/symbolizer.h"
#include "base/workers.h"
#include "obj/packed/zip.h"
#include "symbolize/core/symbolizer_impl.h"
#include "symbolize/sources/sources.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

/* Bytes of .debug_info: less is read before a thread has started. */
enum { WORTH_A_THREAD = 1 << 20 };

/* The reader of a file that begins so. */
static const struct wndl_name_source *source_of(struct wndl_bytes bytes)
{
    if (wndl_pdb_is(bytes))
        return &wndl_source_pdb;
    return wndl_breakpad_is(bytes) ? &wndl_source_breakpad
                                   : &wndl_source_binary;
}

/*
 * Opens the bytes of the file `path`. Where there are answers already, the
 * deferred work may not be needed.
 */
static enum wndl_status open_bytes(struct wndl_symbolizer *s,
    struct wndl_bytes bytes, const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    if (!wndl_demangler_init(&s->demangler, &s->arena))
        return wndl_symbolizer_no_memory(err);
    enum wndl_status status =
        source_of(bytes)->begin(s, bytes, path, options, err);
    if (status != WNDL_OK)
        return status;
    if (wndl_symbolizer_open_cache(s, options->cache) != WNDL_OK ||
        (s->cache.answers.count == 0 &&
            wndl_symbolizer_need_open(s) != WNDL_OK))
        return wndl_symbolizer_no_memory(err);
    return WNDL_OK;
}

/*
 * The options that we know. A caller with an older header leaves newer ones
 * zero; a caller with a newer header must leave zero those that we do not know.
 */
static enum wndl_status known_options(
    const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer_options *known, struct wndl_error *err)
{
    *known = (struct wndl_symbolizer_options){0};
    if (options == NULL)
        return WNDL_OK;
    for (size_t at = sizeof *known; at < options->size; at++)
        if (((const char *)options)[at] != 0)
            return wndl_fail(err, WNDL_UNSUPPORTED,
                "an option that this version of the library does not know");
    memcpy(known, options,
        options->size < sizeof *known ? options->size : sizeof *known);
    return WNDL_OK;
}

/* The thing to open: a path, else bytes, else a reader. */
struct source {
    const char *path;
    struct wndl_bytes bytes;
    const struct wndl_symbolizer_reader *reader;
};

/* Reads the whole file, a piece at a time. */
static enum wndl_status read_all(struct wndl_symbolizer *s,
    const struct wndl_symbolizer_reader *reader, struct wndl_error *err)
{
    enum { STEP = 1 << 20 };
    if (reader->size > SIZE_MAX)
        return wndl_fail(err, WNDL_LIMIT, "too large for this address space");
    size_t size = (size_t)reader->size;
    s->read = s->mem->resize(s->mem, NULL, size == 0 ? 1 : size);
    if (s->read == NULL)
        return wndl_symbolizer_no_memory(err);
    for (size_t at = 0; at < size; at += STEP) {
        int refused = reader->read_at(reader->context, at, s->read + at,
            size - at < STEP ? size - at : STEP);
        if (refused != 0)
            return wndl_fail_errno(err, refused, "cannot read the file");
    }
    return WNDL_OK;
}

static enum wndl_status open_path(struct wndl_symbolizer *s, const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    struct wndl_bytes bytes;
    struct wndl_error refusal = {0};
    enum wndl_status status =
        wndl_zip_open_path(path, &s->file, &bytes, &refusal);
    if (status == WNDL_OK)
        return open_bytes(s, bytes, path, options, err);
    if (refusal.sys_errno == ENOENT || refusal.sys_errno == ENOTDIR)
        status = wndl_symbolizer_open_pdb_alone(s, path, options, &refusal);
    if (status != WNDL_OK && err != NULL)
        *err = refusal;
    return status;
}

static enum wndl_status open_source(struct wndl_symbolizer *s,
    const struct source *from, const struct wndl_symbolizer_options *options,
    struct wndl_error *err)
{
    if (from->path != NULL)
        return open_path(s, from->path, options, err);
    if (from->reader == NULL)
        return open_bytes(s, from->bytes, options->name, options, err);
    wndl_error_set_file(err, options->name);
    enum wndl_status status = read_all(s, from->reader, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_bytes bytes = {s->read, (size_t)from->reader->size};
    return open_bytes(s, bytes, options->name, options, err);
}

static struct wndl_symbolizer *new_symbolizer(struct wndl_mem *mem)
{
    struct wndl_symbolizer *s = wndl_mem_zalloc(mem, sizeof *s);
    if (s == NULL)
        return NULL;
    s->mem = mem;
    pthread_mutex_init(&s->lock, NULL);
    s->workers =
        (struct wndl_dwarf_workers){wndl_workers_cores(), WORTH_A_THREAD};
    wndl_arena_init(&s->arena, mem);
    wndl_map_init(&s->answers, &s->arena);
    return s;
}

static enum wndl_status open_from(struct wndl_mem *mem,
    const struct source *from, const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer **out, struct wndl_error *err)
{
    struct wndl_symbolizer_options known;
    *out = NULL;
    wndl_symbolizer_forget(err);
    enum wndl_status status = known_options(options, &known, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_symbolizer *s = new_symbolizer(mem);
    if (s == NULL)
        return wndl_symbolizer_no_memory(err);
    s->no_demangle = known.no_demangle;
    status = open_source(s, from, &known, err);
    if (status != WNDL_OK) {
        wndl_symbolizer_close(s);
        return status;
    }
    *out = s;
    return WNDL_OK;
}

enum wndl_status wndl_symbolizer_open_with(struct wndl_mem *mem,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer **out, struct wndl_error *err)
{
    const struct source from = {.path = path};
    return open_from(mem, &from, options, out, err);
}

enum wndl_status wndl_symbolizer_open(const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err)
{
    return wndl_symbolizer_open_with(wndl_mem_libc(), path, options, out, err);
}

enum wndl_status wndl_symbolizer_open_memory(const void *bytes, size_t size,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err)
{
    const struct source from = {.bytes = {bytes, size}};
    return open_from(wndl_mem_libc(), &from, options, out, err);
}

enum wndl_status wndl_symbolizer_open_reader_with(struct wndl_mem *mem,
    const struct wndl_symbolizer_reader *reader,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err)
{
    const struct source from = {.reader = reader};
    return open_from(mem, &from, options, out, err);
}

enum wndl_status wndl_symbolizer_open_reader(
    const struct wndl_symbolizer_reader *reader,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err)
{
    return wndl_symbolizer_open_reader_with(
        wndl_mem_libc(), reader, options, out, err);
}

/* Whether nothing was damaged or missing, so that answers may be kept. */
static bool is_whole(const struct wndl_symbolizer *s)
{
    struct wndl_symbolizer_info info;
    wndl_symbolizer_get_info(s, &info);
    return info.first_damage.status == WNDL_OK && info.files_missing == 0;
}

void wndl_symbolizer_close(struct wndl_symbolizer *s)
{
    if (s == NULL)
        return;
    if (s->cache.path != NULL)
        wndl_symbolizer_close_cache(s, is_whole(s));
    wndl_breakpad_close(s->breakpad);
    if (s->binary == NULL)
        wndl_pdb_close(s->pdb);
    wndl_pdb_file_close(&s->pdb_file, s->mem);
    if (s->dwarf != NULL)
        wndl_dwarf_close(s->dwarf);
    wndl_debug_map_close(s->map);
    wndl_go_table_close(s->go);
    wndl_debug_files_close(s->files);
    wndl_debugfile_close(&s->debugfile);
    wndl_object_close(s->binary);
    wndl_file_close(&s->file);
    wndl_arena_free(&s->arena);
    pthread_mutex_destroy(&s->lock);
    wndl_mem_free(s->mem, s->read);
    wndl_mem_free(s->mem, s);
}

enum wndl_status wndl_symbolizer_section(const struct wndl_symbolizer *s,
    const char *name, uint64_t *rva, struct wndl_error *err)
{
    *rva = 0;
    size_t count = s->binary == NULL ? 0 : wndl_object_section_count(s->binary);
    for (size_t i = 0; i < count; i++) {
        struct wndl_section section = wndl_object_section(s->binary, i);
        if ((section.flags & SHF_ALLOC) == 0 ||
            !wndl_bytes_is(section.name, name))
            continue;
        *rva = section.addr.v - wndl_object_image_base(s->binary).v;
        return WNDL_OK;
    }
    wndl_symbolizer_forget(err);
    wndl_error_set_file(err, s->binary != NULL ? wndl_object_path(s->binary)
                             : s->pdb != NULL  ? s->pdb_path
                                               : s->breakpad_path);
    return wndl_fail(
        err, WNDL_NOT_FOUND, "no loaded section has the name %s", name);
}

void wndl_symbolizer_get_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info)
{
    wndl_symbolizer_lock(s);
    *info = (struct wndl_symbolizer_info){.debug_file = ""};
    for (size_t i = s->source_count; i-- > 0;)
        s->sources[i]->add_info(s, info);
    if (s->pdb_missing.status != WNDL_OK) {
        info->files_missing++;
        info->first_missing = s->pdb_missing;
    }
    wndl_symbolizer_unlock(s);
}

enum wndl_status wndl_symbolizer_dwarf(
    struct wndl_symbolizer *s, struct wndl_dwarf **dwarf)
{
    wndl_symbolizer_lock(s);
    enum wndl_status status = wndl_symbolizer_need_open(s);
    *dwarf = s->dwarf;
    wndl_symbolizer_unlock(s);
    return status;
}

wndl_svma wndl_symbolizer_linked(const struct wndl_symbolizer *s, uint64_t rva)
{
    return wndl_symbolizer_svma(s, rva);
}

struct wndl_pdb *wndl_symbolizer_pdb(const struct wndl_symbolizer *s)
{
    return s->pdb;
}
