/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/annotate/source_text.h"

#include "base/buf.h"
#include "os/file.h"

#include <string.h>

enum { MOST_BYTES = 16 << 20 };

bool wndl_source_map_is_valid(const char *map)
{
    const char *equals = strchr(map, '=');
    return equals != NULL && equals != map;
}

/* The rest of the path after FROM; NULL: it begins otherwise. */
static const char *rest_after(const char *path, const char *map)
{
    size_t size = strcspn(map, "=");
    if (strncmp(path, map, size) != 0)
        return NULL;
    const char *rest = path + size;
    return *rest == '\0' || *rest == '/' || map[size - 1] == '/' ? rest : NULL;
}

const char *wndl_source_map_apply(
    const char *path, const char *const *maps, struct wndl_arena *arena)
{
    struct wndl_buf mapped;
    const char *rest = NULL;
    while (*maps != NULL && (rest = rest_after(path, *maps)) == NULL)
        maps++;
    if (rest == NULL)
        return path;
    wndl_buf_init(&mapped, arena->mem);
    wndl_buf_text(&mapped, strchr(*maps, '=') + 1);
    wndl_buf_text(&mapped, rest);
    wndl_buf_byte(&mapped, '\0');
    const char *copy =
        mapped.failed ? NULL : wndl_arena_copy(arena, mapped.data, mapped.size);
    wndl_buf_free(&mapped);
    return copy;
}

/* ---- lines */

static uint32_t count_lines(struct wndl_bytes text)
{
    uint32_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += i == 0 || text.data[i - 1] == '\n';
    return count;
}

static bool index_lines(
    struct wndl_annotation *of, struct wndl_annotated_file *file)
{
    uint32_t *starts = wndl_arena_calloc(
        &of->arena, (size_t)count_lines(file->text) + 1, sizeof *starts);
    if (starts == NULL)
        return false;
    for (size_t i = 0; i < file->text.size; i++) {
        if (i == 0 || file->text.data[i - 1] == '\n')
            starts[file->line_count++] = (uint32_t)i;
    }
    file->starts = starts;
    return true;
}

/* ---- files */

static bool take_text(struct wndl_annotation *of,
    struct wndl_annotated_file *file, struct wndl_bytes text)
{
    if (text.size > MOST_BYTES) {
        file->problem = "larger than 16 MiB";
        return true;
    }
    if (memchr(text.data, '\0', text.size) != NULL) {
        file->problem = "not a text";
        return true;
    }
    const char *copy = wndl_arena_copy(&of->arena, text.data, text.size);
    file->text = (struct wndl_bytes){(const uint8_t *)copy, text.size};
    return copy != NULL && index_lines(of, file);
}

static bool note_problem(struct wndl_annotation *of,
    struct wndl_annotated_file *file, const struct wndl_error *err)
{
    struct wndl_error *lack = &of->symbolized->lack;
    const char *why =
        err->sys_errno == 0 ? err->what : strerror(err->sys_errno);
    if (lack->status == WNDL_OK && wndl_error_is_lack(err))
        *lack = *err;
    file->problem = wndl_arena_copy(&of->arena, why, strlen(why));
    return file->problem != NULL;
}

static bool read_file(struct wndl_annotation *of,
    struct wndl_annotated_file *file, const char *const *maps)
{
    struct wndl_file mapped;
    struct wndl_file_facts facts;
    struct wndl_error err = {0};
    file->problem = NULL;
    file->line_count = 0;
    const char *path = wndl_intern_text(&of->symbolized->strings, file->file);
    if (path[0] == '\0') {
        file->path = path;
        file->problem = "no debug information names it";
        return true;
    }
    file->path = wndl_source_map_apply(path, maps, &of->arena);
    if (file->path == NULL)
        return false;
    if (wndl_file_open_facts(file->path, &mapped, &facts, &err) != WNDL_OK)
        return note_problem(of, file, &err);
    file->is_newer =
        facts.modified > 0 &&
        (uint64_t)facts.modified > of->symbolized->profile->realtime;
    bool taken = take_text(of, file, mapped.bytes);
    wndl_file_close(&mapped);
    return taken;
}

bool wndl_annotate_read_sources(struct wndl_annotation *of,
    struct wndl_annotated *a, const char *const *maps)
{
    struct wndl_annotated_file *files = a->files.data;
    for (size_t i = 0; i < a->files.len; i++) {
        if (!read_file(of, &files[i], maps))
            return false;
    }
    return true;
}
