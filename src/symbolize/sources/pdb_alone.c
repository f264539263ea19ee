/* SPDX-License-Identifier: MIT */
/*
 * A PDB file whose image is missing. Only its name identifies it, unless a
 * build is requested.
 */
#include "obj/find/debug_id.h"
#include "obj/pe/pe.h"
#include "symbolize/core/symbolizer_impl.h"
#include "symbolize/sources/sources.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct search {
    struct wndl_symbolizer *s;
    const struct wndl_symbolizer_options *options;
    struct wndl_bytes folder; /* the first part of the path */
    struct wndl_bytes stem;   /* of the name */
    char id[WNDL_DEBUG_ID_TEXT];
    size_t id_size; /* of `id` without the age; 0: any build */
    char path[PATH_MAX];
    struct wndl_error refusal;
};

static void set_id(struct search *f)
{
    const struct wndl_symbolizer_options *o = f->options;
    struct wndl_bytes guid = {o->build_id, o->build_id_size};
    if (guid.data == NULL || guid.size != WNDL_GUID_SIZE)
        return;
    struct wndl_debug_id id = wndl_debug_id_of_build_id(guid, false);
    (void)wndl_debug_id_text(&id, f->id);
    f->id_size = 2 * WNDL_GUID_SIZE;
}

static void refuse(struct search *f, const struct wndl_error *err)
{
    if (f->refusal.status != WNDL_OK)
        return;
    f->refusal = *err;
    wndl_error_set_file(&f->refusal, f->path);
}

/*
 * Sets path to FOLDER + STEM.pdb, followed by /ID/STEM.pdb if there is an id.
 */
static bool set_path(struct search *f, struct wndl_bytes folder, const char *id)
{
    struct wndl_buf path;
    wndl_buf_init(&path, f->s->mem);
    wndl_buf_add(&path, folder.data, folder.size);
    wndl_buf_add(&path, f->stem.data, f->stem.size);
    wndl_buf_text(&path, ".pdb");
    if (id != NULL) {
        wndl_buf_printf(&path, "/%s/", id);
        wndl_buf_add(&path, f->stem.data, f->stem.size);
        wndl_buf_text(&path, ".pdb");
    }
    wndl_buf_byte(&path, '\0');
    bool fits = !path.failed && path.size <= sizeof f->path;
    if (fits)
        memcpy(f->path, path.data, path.size);
    wndl_buf_free(&path);
    return fits;
}

/* Opens the file at `path`. NOT_FOUND when it is not usable, or NOMEM. */
static enum wndl_status try_path(struct search *f)
{
    struct wndl_symbolizer *s = f->s;
    struct wndl_error err = {0};
    if (wndl_file_open(f->path, &s->file, &err) != WNDL_OK) {
        bool absent = err.sys_errno == ENOENT || err.sys_errno == ENOTDIR;
        /* A symbol store's is a folder. */
        if (!absent && err.status != WNDL_UNSUPPORTED)
            refuse(f, &err);
        return WNDL_NOT_FOUND;
    }
    enum wndl_status status =
        wndl_symbolizer_begin_pdb(s, s->file.bytes, f->path, f->options, &err);
    if (status == WNDL_OK)
        return status;
    wndl_pdb_close(s->pdb);
    s->pdb = NULL;
    wndl_file_close(&s->file);
    refuse(f, &err);
    return status == WNDL_NOMEM ? status : WNDL_NOT_FOUND;
}

/* Tries the folders of a symbol store for the one that has the file. */
static enum wndl_status try_store(struct search *f, struct wndl_bytes folder)
{
    char only[NAME_MAX + 1];
    size_t count = 0;
    DIR *ids = set_path(f, folder, NULL) ? opendir(f->path) : NULL;
    if (ids == NULL)
        return WNDL_NOT_FOUND;
    for (struct dirent *id; count < 2 && (id = readdir(ids)) != NULL;) {
        if (id->d_name[0] == '.' ||
            strncasecmp(id->d_name, f->id, f->id_size) != 0 ||
            !set_path(f, folder, id->d_name) || access(f->path, F_OK) != 0)
            continue;
        memcpy(only, id->d_name, strlen(id->d_name) + 1);
        count++;
    }
    closedir(ids);
    if (count == 1 && set_path(f, folder, only))
        return try_path(f);
    if (count > 1 && set_path(f, folder, NULL)) {
        struct wndl_error err = {0};
        (void)wndl_fail(&err, WNDL_NOT_FOUND,
            "there are several builds, and no binary to choose by");
        refuse(f, &err);
    }
    return WNDL_NOT_FOUND;
}

static enum wndl_status try_in(struct search *f, struct wndl_bytes folder)
{
    enum wndl_status status =
        set_path(f, folder, NULL) ? try_path(f) : WNDL_NOT_FOUND;
    return status == WNDL_NOT_FOUND ? try_store(f, folder) : status;
}

static enum wndl_status try_dir(struct search *f, const char *dir)
{
    struct wndl_buf folder;
    enum wndl_status status = WNDL_NOMEM;
    wndl_buf_init(&folder, f->s->mem);
    wndl_buf_printf(&folder, "%s/", dir);
    if (!folder.failed)
        status = try_in(f, (struct wndl_bytes){folder.data, folder.size});
    wndl_buf_free(&folder);
    return status;
}

enum wndl_status wndl_symbolizer_open_pdb_alone(struct wndl_symbolizer *s,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_error *err)
{
    struct search f = {.s = s, .options = options};
    const char *name = wndl_pe_path_name(path);
    f.folder =
        (struct wndl_bytes){(const uint8_t *)path, (size_t)(name - path)};
    f.stem = (struct wndl_bytes){(const uint8_t *)name, wndl_pe_stem(name)};
    if (f.stem.size == 0)
        return err->status;
    if (!wndl_demangler_init(&s->demangler, &s->arena))
        return wndl_symbolizer_no_memory(err);
    set_id(&f);
    enum wndl_status status = try_in(&f, f.folder);
    const char *const *dir = options->debug_dirs;
    for (; dir != NULL && *dir != NULL && status == WNDL_NOT_FOUND; dir++)
        status = try_dir(&f, *dir);
    if (status == WNDL_NOMEM)
        return wndl_symbolizer_no_memory(err);
    if (status == WNDL_NOT_FOUND && f.refusal.status != WNDL_OK)
        *err = f.refusal;
    return status == WNDL_OK ? status : err->status;
}
