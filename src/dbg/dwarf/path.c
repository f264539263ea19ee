/* SPDX-License-Identifier: MIT */
/* path: the whole path of a file of a line table. */
#include "dbg/dwarf/internal.h"

#include <string.h>

/* Entry `number` of a table that counts from 1 before version 5. */
static const struct wndl_dw_file *entry_of(const struct wndl_dw_lines *lines,
    const struct wndl_vec *table, uint32_t number)
{
    size_t index = lines->version >= 5 ? number : (size_t)number - 1;
    return index < table->len ? wndl_vec_at(table, index) : NULL;
}

static enum wndl_status entry_name(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, const struct wndl_dw_file *entry,
    struct wndl_bytes *name)
{
    *name = (struct wndl_bytes){0};
    if (entry == NULL)
        return WNDL_OK;
    struct wndl_dw_value v = {entry->name, entry->kind};
    return wndl_dw_string(d, unit, v, d->in.line, name);
}

/*
 * Whether a path is absolute by the rules of POSIX or of Windows: cross
 * compilers' output is read too.
 */
static bool is_absolute(struct wndl_bytes path)
{
    const uint8_t *p = path.data;
    if (path.size >= 1 && (p[0] == '/' || p[0] == '\\'))
        return true;
    return path.size >= 3 && p[1] == ':' && (p[2] == '/' || p[2] == '\\');
}

/* Appends `part` to the path in `to`, which has room. */
static void append(struct wndl_bytes *path, char *to, struct wndl_bytes part)
{
    if (part.size == 0)
        return;
    if (path->size > 0 && to[path->size - 1] != '/')
        to[path->size++] = '/';
    memcpy(to + path->size, part.data, part.size);
    path->size += part.size;
}

static enum wndl_status join(struct wndl_dwarf *d,
    const struct wndl_bytes parts[3], struct wndl_bytes *path)
{
    size_t room = 1;
    for (int i = 0; i < 3; i++)
        room += parts[i].size + 1;
    char *text = wndl_arena_alloc(d->arena, room);
    if (text == NULL)
        return WNDL_NOMEM;
    *path = (struct wndl_bytes){(const uint8_t *)text, 0};
    for (int i = 0; i < 3; i++)
        append(path, text, parts[i]);
    return WNDL_OK;
}

/*
 * Compilation directory, include directory, name, from the last absolute one
 * on. In version 5 directory 0 is the compilation directory itself.
 */
static enum wndl_status make_path(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, const struct wndl_dw_file *file,
    struct wndl_bytes *path)
{
    const struct wndl_dw_lines *lines = unit->lines;
    const struct wndl_dw_file *dir = entry_of(lines, &lines->dirs, file->dir);
    struct wndl_bytes parts[3] = {unit->comp_dir};
    enum wndl_status status = entry_name(d, unit, dir, &parts[1]);
    if (status == WNDL_OK)
        status = entry_name(d, unit, file, &parts[2]);
    if (status == WNDL_OK && parts[0].size == 0 && lines->version >= 5)
        status =
            entry_name(d, unit, entry_of(lines, &lines->dirs, 0), &parts[0]);
    if (status != WNDL_OK)
        return status;
    bool whole = is_absolute(parts[2]) || parts[2].size == 0;
    if (whole || is_absolute(parts[1]) || (dir != NULL && file->dir == 0))
        parts[0].size = 0;
    if (whole)
        parts[1].size = 0;
    return join(d, parts, path);
}

enum wndl_status wndl_dw_path(struct wndl_dwarf *d, struct wndl_dw_unit *unit,
    uint32_t file, struct wndl_bytes *path)
{
    *path = (struct wndl_bytes){(const uint8_t *)"", 0};
    enum wndl_status status = wndl_dw_load_lines(d, unit);
    if (status != WNDL_OK || unit->lines == NULL)
        return status;
    const struct wndl_dw_file *entry =
        entry_of(unit->lines, &unit->lines->files, file);
    if (entry == NULL)
        return WNDL_OK;
    uint64_t number = unit->number;
    uint64_t *known = wndl_map_put(&d->path_of, number << 32 | file);
    if (known == NULL)
        return WNDL_NOMEM;
    if (*known != 0) {
        *path = *(struct wndl_bytes *)wndl_vec_at(&d->paths, *known - 1);
        return WNDL_OK;
    }
    struct wndl_bytes *slot = wndl_vec_push(&d->paths);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = *path;
    status = make_path(d, unit, entry, slot);
    if (status == WNDL_NOMEM)
        return status;
    *known = d->paths.len;
    *path = *slot;
    return status;
}
