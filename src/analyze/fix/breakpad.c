/* SPDX-License-Identifier: MIT */
#include "analyze/fix/breakpad.h"

#include "obj/pe/pe.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The names of a binary's folder and files. */
struct place {
    struct wndl_arena *arena;
    const char *dir;
    const char *name;
    size_t size;
    const char *kind; /* suffix of the folder's name */
};

static const char *name_of(const char *path)
{
    for (const char *at = path; *at != '\0'; at++)
        if (*at == '/' || *at == '\\')
            path = at + 1;
    return path;
}

/* Bytes of it before .exe, .dll or .pdb, else 0. */
static size_t stem_of(const char *name)
{
    static const char pdb[] = ".pdb";
    size_t size = strlen(name);
    if (size < sizeof pdb || strcasecmp(name + size - strlen(pdb), pdb) != 0)
        return wndl_pe_stem(name);
    return size - strlen(pdb);
}

/* "DIR/NAME", and with an id "DIR/NAME/ID/NAME.sym"; NULL: no memory. */
static const char *path_of(const struct place *p, const char *id)
{
    size_t size = strlen(p->dir) + 2 * p->size + sizeof "/.pdb//.sym";
    size += id == NULL ? 0 : strlen(id);
    char *text = wndl_arena_alloc(p->arena, size);
    if (text == NULL)
        return NULL;
    int name = (int)p->size;
    if (id == NULL)
        snprintf(text, size, "%s/%.*s%s", p->dir, name, p->name, p->kind);
    else
        snprintf(text, size, "%s/%.*s%s/%s/%.*s.sym", p->dir, name, p->name,
            p->kind, id, name, p->name);
    return text;
}

static const char *path_if_there(const struct place *p, const char *id)
{
    const char *path = path_of(p, id);
    return path != NULL && access(path, F_OK) == 0 ? path : NULL;
}

/* The file of the only id that has one. */
static const char *only_path(const struct place *p, bool *several)
{
    const char *folder = path_of(p, NULL);
    const char *only = NULL;
    size_t count = 0;
    DIR *ids = folder == NULL ? NULL : opendir(folder);
    if (ids == NULL)
        return NULL;
    for (struct dirent *id; count < 2 && (id = readdir(ids)) != NULL;) {
        if (id->d_name[0] == '.')
            continue;
        const char *path = path_if_there(p, id->d_name);
        if (path == NULL)
            continue;
        only = path;
        count++;
    }
    closedir(ids);
    *several = *several || count > 1;
    return count == 1 ? only : NULL;
}

static const char *path_in(
    const struct place *p, const struct wndl_debug_id *id, bool *several)
{
    char text[WNDL_DEBUG_ID_TEXT];
    return id == NULL ? only_path(p, several)
                      : path_if_there(p, wndl_debug_id_text(id, text));
}

const char *wndl_fix_breakpad_path(struct wndl_arena *arena, const char *dir,
    const char *path, const struct wndl_debug_id *id, bool *several)
{
    const char *name = name_of(path);
    struct place place = {arena, dir, name, strlen(name), ""};
    struct place windows = {arena, dir, name, stem_of(name), ".pdb"};
    if (place.size == 0 || place.size > 4096)
        return NULL;
    const char *found = NULL;
    bool are_several = false;
    if (windows.size != 0)
        found = path_in(&windows, id, &are_several);
    if (found == NULL && !are_several)
        found = path_in(&place, id, &are_several);
    *several = *several || are_several;
    return found;
}
