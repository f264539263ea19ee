/* SPDX-License-Identifier: MIT */
#include "symbolize/files/pdb_find.h"

#include "obj/find/debug_id.h"
#include "obj/pe/pe.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

struct search {
    const struct wndl_object *image;
    struct wndl_mem *mem;
    struct wndl_pe_pdb wanted;
    struct wndl_bytes name; /* of the PDB file */
    char id[WNDL_DEBUG_ID_TEXT];
    struct wndl_buf path; /* of the candidate */
    struct wndl_error refusal;
    struct wndl_pdb_file *out;
};

void wndl_pdb_file_close(struct wndl_pdb_file *file, struct wndl_mem *mem)
{
    wndl_pdb_close(file->pdb);
    wndl_file_close(&file->file);
    wndl_mem_free(mem, file->path);
    *file = (struct wndl_pdb_file){0};
}

void wndl_pdb_file_give_up(struct wndl_bytes mapped)
{
    const struct wndl_file file = {.bytes = mapped};
    wndl_file_give_up(&file);
}

static enum wndl_status open_candidate(
    struct search *s, struct wndl_pdb_file *file, struct wndl_error *err)
{
    const struct wndl_pdb_source source = {
        .file = file->file.bytes,
        .path = file->path,
        .give_up = wndl_pdb_file_give_up,
    };
    enum wndl_status status = wndl_pdb_open(&source, s->mem, &file->pdb, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_bytes guid = {wndl_pdb_id(file->pdb)->guid, 16};
    if (wndl_bytes_equal(guid, s->wanted.guid))
        return WNDL_OK;
    return wndl_fail(
        err, WNDL_NOT_FOUND, "the PDB file belongs to another build");
}

/* Tries the path that was built in s->path. */
static enum wndl_status try_path(struct search *s)
{
    struct wndl_error err = {0};
    struct wndl_pdb_file file = {0};
    wndl_buf_byte(&s->path, '\0');
    if (s->path.failed)
        return WNDL_NOMEM;
    const char *path = (const char *)s->path.data;
    if (memchr(path, '\0', s->path.size - 1) != NULL)
        return WNDL_NOT_FOUND;
    enum wndl_status status = wndl_file_open(path, &file.file, &err);
    if (status == WNDL_OK) {
        file.path = s->mem->resize(s->mem, NULL, s->path.size);
        if (file.path == NULL)
            status = WNDL_NOMEM;
        else
            memcpy(file.path, path, s->path.size);
    }
    if (status == WNDL_OK)
        status = open_candidate(s, &file, &err);
    if (status == WNDL_OK) {
        *s->out = file;
        return WNDL_OK;
    }
    wndl_pdb_file_close(&file, s->mem);
    if (status == WNDL_NOMEM)
        return status;
    wndl_error_set_file(&err, path);
    bool absent = err.sys_errno == ENOENT || err.sys_errno == ENOTDIR;
    if (!absent && s->refusal.status == WNDL_OK)
        s->refusal = err;
    return WNDL_NOT_FOUND;
}

static enum wndl_status try_in(struct search *s, const char *dir, bool is_store)
{
    wndl_buf_clear(&s->path);
    wndl_buf_printf(&s->path, "%s/", dir);
    wndl_buf_add(&s->path, s->name.data, s->name.size);
    if (is_store) {
        wndl_buf_printf(&s->path, "/%s/", s->id);
        wndl_buf_add(&s->path, s->name.data, s->name.size);
    }
    return try_path(s);
}

static enum wndl_status try_stored(struct search *s)
{
    if (s->wanted.path.data[0] != '/')
        return WNDL_NOT_FOUND;
    wndl_buf_clear(&s->path);
    wndl_buf_add(&s->path, s->wanted.path.data, s->wanted.path.size);
    return try_path(s);
}

static enum wndl_status try_all(struct search *s, const char *const *dirs)
{
    char folder[PATH_MAX];
    bool has_folder = wndl_file_real_folder(
        wndl_object_path(s->image), folder, sizeof folder);
    enum wndl_status status =
        has_folder ? try_in(s, folder, false) : WNDL_NOT_FOUND;
    if (status == WNDL_NOT_FOUND)
        status = try_stored(s);
    if (status == WNDL_NOT_FOUND && has_folder)
        status = try_in(s, folder, true);
    for (; dirs != NULL && *dirs != NULL && status == WNDL_NOT_FOUND; dirs++) {
        status = try_in(s, *dirs, false);
        if (status == WNDL_NOT_FOUND)
            status = try_in(s, *dirs, true);
    }
    return status;
}

/* Reports why there is none. */
static enum wndl_status report_missing(
    const struct search *s, struct wndl_error *err)
{
    char name[200];
    if (s->refusal.status != WNDL_OK) {
        if (err != NULL)
            *err = s->refusal;
        return WNDL_NOT_FOUND;
    }
    size_t size = s->name.size < sizeof name ? s->name.size : sizeof name - 1;
    memcpy(name, s->name.data, size);
    name[size] = '\0';
    wndl_error_set_file(err, name);
    return wndl_fail(err, WNDL_NOT_FOUND,
        "no such file beside the binary, where it was written, or in a folder "
        "of debug files");
}

enum wndl_status wndl_pdb_file_find(const struct wndl_object *image,
    const char *const *dirs, struct wndl_mem *mem, struct wndl_pdb_file *out,
    struct wndl_error *err)
{
    struct search s = {.image = image, .mem = mem, .out = out};
    *out = (struct wndl_pdb_file){0};
    if (wndl_pe_find_pdb(image, &s.wanted) != WNDL_OK)
        return wndl_fail(err, WNDL_NOT_FOUND, "no PDB file goes with it");
    s.name = wndl_pe_pdb_name(s.image);
    if (s.name.size == 0 || s.name.size > NAME_MAX)
        return wndl_fail(err, WNDL_NOT_FOUND, "the PDB file has no name");
    struct wndl_debug_id id = wndl_debug_id_of_build_id(s.wanted.guid, false);
    id.age = s.wanted.age;
    (void)wndl_debug_id_text(&id, s.id);
    wndl_buf_init(&s.path, mem);
    enum wndl_status status = try_all(&s, dirs);
    wndl_buf_free(&s.path);
    if (status == WNDL_NOMEM)
        return wndl_fail(err, status, "no memory to look for a PDB file");
    return status == WNDL_OK ? status : report_missing(&s, err);
}
