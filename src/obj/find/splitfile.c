/* SPDX-License-Identifier: MIT */
#include "obj/find/splitfile.h"

#include "base/buf.h"

#include <limits.h>
#include <string.h>

static const char *const default_dirs[] = {"/usr/lib/debug", NULL};

/* Numbers of candidates for a .dwo file, as the header has them. */
enum { BY_COMP_DIR, IN_DEBUG_FOLDER, IN_BINARY_FOLDER = 3, CANDIDATES = 5 };

/* A debug file's reference to its supplementary file. */
struct link {
    struct wndl_bytes name;
    struct wndl_bytes id;
};

static bool is_absolute(struct wndl_bytes path)
{
    return path.size > 0 && path.data[0] == '/';
}

/*
 * Terminates `path` and opens it; if that fails, sets *err, unless it is set
 * already.
 */
static enum wndl_status try_path(
    struct wndl_buf *path, struct wndl_debugfile *out, struct wndl_error *first)
{
    struct wndl_error err = {0};
    wndl_buf_byte(path, '\0');
    if (path->failed)
        return wndl_fail(first, WNDL_NOMEM, "no memory to look for a file");
    const char *name = (const char *)path->data;
    enum wndl_status status = wndl_file_open(name, &out->file, &err);
    if (status == WNDL_OK)
        status = wndl_object_open(
            out->file.bytes, name, path->mem, &out->object, &err);
    if (status == WNDL_OK)
        return status;
    wndl_debugfile_close(out);
    if (first != NULL && (status == WNDL_NOMEM || first->status == WNDL_OK))
        *first = err;
    return status == WNDL_NOMEM ? status : WNDL_NOT_FOUND;
}

static void add_bytes(struct wndl_buf *path, struct wndl_bytes bytes)
{
    wndl_buf_add(path, bytes.data, bytes.size);
}

/* Starts `path` with the folder of `object`, after links are resolved. */
static bool put_folder(struct wndl_buf *path, const struct wndl_object *object)
{
    char folder[PATH_MAX];
    if (!wndl_file_real_folder(wndl_object_path(object), folder, sizeof folder))
        return false;
    wndl_buf_clear(path);
    wndl_buf_text(path, folder);
    wndl_buf_byte(path, '/');
    return true;
}

static struct wndl_bytes last_part(struct wndl_bytes name)
{
    for (size_t i = name.size; i > 0; i--)
        if (name.data[i - 1] == '/')
            return wndl_bytes_slice(name, i, name.size - i);
    return name;
}

/* The path that the compiler wrote to. */
static bool put_original(
    struct wndl_buf *path, const struct wndl_splitfile_dwo *dwo)
{
    wndl_buf_clear(path);
    if (!is_absolute(dwo->name)) {
        add_bytes(path, dwo->comp_dir);
        wndl_buf_byte(path, '/');
    }
    add_bytes(path, dwo->name);
    return is_absolute(dwo->name) || is_absolute(dwo->comp_dir);
}

/* The path of candidate `number`. False when there is no such candidate. */
static bool put_candidate(struct wndl_buf *path,
    const struct wndl_splitfile_places *places, unsigned number,
    const struct wndl_splitfile_dwo *dwo)
{
    if (number == BY_COMP_DIR)
        return put_original(path, dwo);
    bool by_binary = number >= IN_BINARY_FOLDER;
    bool whole = number == IN_DEBUG_FOLDER || number == IN_BINARY_FOLDER;
    struct wndl_bytes last = last_part(dwo->name);
    if (by_binary && places->binary == places->debug)
        return false;
    if (whole ? is_absolute(dwo->name) : last.size == dwo->name.size)
        return false;
    if (!put_folder(path, by_binary ? places->binary : places->debug))
        return false;
    add_bytes(path, whole ? dwo->name : last);
    return true;
}

enum wndl_status wndl_splitfile_open_dwo(
    const struct wndl_splitfile_places *places,
    const struct wndl_splitfile_dwo *dwo, unsigned *next,
    struct wndl_debugfile *out, struct wndl_error *err)
{
    struct wndl_buf path;
    enum wndl_status status = WNDL_NOT_FOUND;
    *out = (struct wndl_debugfile){0};
    wndl_buf_init(&path, places->mem);
    while (status == WNDL_NOT_FOUND && *next < CANDIDATES) {
        if (put_candidate(&path, places, (*next)++, dwo))
            status = try_path(&path, out, err);
    }
    wndl_buf_free(&path);
    if (status == WNDL_NOT_FOUND && err != NULL && err->status == WNDL_OK)
        return wndl_fail(err, status, "no .dwo file");
    return status;
}

static enum wndl_status try_package(struct wndl_buf *path,
    const struct wndl_object *object, struct wndl_debugfile *out,
    struct wndl_error *err)
{
    if (wndl_object_path(object)[0] == '\0')
        return WNDL_NOT_FOUND;
    wndl_buf_clear(path);
    wndl_buf_text(path, wndl_object_path(object));
    wndl_buf_text(path, ".dwp");
    return try_path(path, out, err);
}

enum wndl_status wndl_splitfile_open_package(
    const struct wndl_splitfile_places *places, struct wndl_debugfile *out,
    struct wndl_error *err)
{
    struct wndl_buf path;
    *out = (struct wndl_debugfile){0};
    wndl_buf_init(&path, places->mem);
    enum wndl_status status = try_package(&path, places->binary, out, err);
    if (status == WNDL_NOT_FOUND && places->debug != places->binary)
        status = try_package(&path, places->debug, out, err);
    wndl_buf_free(&path);
    return status;
}

/* A name, and the build-id up to the end. */
static bool read_altlink(struct wndl_object *object, struct link *link)
{
    struct wndl_bytes bytes;
    if (wndl_object_section_bytes(
            object, ".gnu_debugaltlink", &bytes, NULL, NULL) != WNDL_OK)
        return false;
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    link->name = wndl_cursor_cstr(&c);
    link->id =
        wndl_bytes_slice(bytes, wndl_cursor_offset(&c), wndl_cursor_left(&c));
    return !c.failed && link->name.size > 0;
}

/* DWARF 5, 7.3.6. False when it says the opposite of `is_supplementary`. */
static bool read_debug_sup(
    struct wndl_object *object, bool is_supplementary, struct link *link)
{
    struct wndl_bytes bytes;
    if (wndl_object_section_bytes(object, ".debug_sup", &bytes, NULL, NULL) !=
        WNDL_OK)
        return false;
    struct wndl_cursor c =
        wndl_cursor_at(bytes, 0, wndl_object_is_big_endian(object));
    (void)wndl_cursor_u16(&c); /* version */
    bool is_so = wndl_cursor_u8(&c) != 0;
    link->name = wndl_cursor_cstr(&c);
    uint64_t size = wndl_cursor_uleb(&c);
    link->id = wndl_bytes_slice(bytes, wndl_cursor_offset(&c), size);
    return !c.failed && is_so == is_supplementary;
}

/* Checks the build-id, or the file's own .debug_sup. */
static bool has_identity(struct wndl_object *object, struct wndl_bytes id)
{
    struct link own;
    if (wndl_bytes_equal(wndl_object_build_id(object), id))
        return true;
    return read_debug_sup(object, true, &own) && wndl_bytes_equal(own.id, id);
}

static enum wndl_status try_supplementary(struct wndl_buf *path,
    struct wndl_bytes id, struct wndl_debugfile *out, struct wndl_error *first)
{
    enum wndl_status status = try_path(path, out, first);
    if (status != WNDL_OK || has_identity(out->object, id))
        return status;
    if (first != NULL && first->status == WNDL_OK) {
        wndl_error_set_file(first, wndl_object_path(out->object));
        (void)wndl_fail(first, WNDL_NOT_FOUND,
            "the supplementary debug file is of another build");
    }
    wndl_debugfile_close(out);
    return WNDL_NOT_FOUND;
}

static enum wndl_status try_name(struct wndl_buf *path,
    const struct wndl_splitfile_places *places, const struct link *link,
    struct wndl_debugfile *out, struct wndl_error *first)
{
    wndl_buf_clear(path);
    if (!is_absolute(link->name) && !put_folder(path, places->debug))
        return WNDL_NOT_FOUND;
    add_bytes(path, link->name);
    return try_supplementary(path, link->id, out, first);
}

static enum wndl_status try_dir(struct wndl_buf *path, const char *dir,
    struct wndl_bytes id, struct wndl_debugfile *out, struct wndl_error *first)
{
    if (id.size < 2 || id.size > NAME_MAX / 4)
        return WNDL_NOT_FOUND;
    wndl_buf_clear(path);
    wndl_buf_printf(path, "%s/.build-id/%02x/", dir, id.data[0]);
    for (size_t i = 1; i < id.size; i++)
        wndl_buf_printf(path, "%02x", id.data[i]);
    wndl_buf_text(path, ".debug");
    return try_supplementary(path, id, out, first);
}

enum wndl_status wndl_splitfile_open_supplementary(
    const struct wndl_splitfile_places *places, struct wndl_debugfile *out,
    struct wndl_error *err)
{
    struct wndl_buf path;
    struct link link;
    struct wndl_error first = {0};
    *out = (struct wndl_debugfile){0};
    if (!read_altlink(places->debug, &link) &&
        !read_debug_sup(places->debug, false, &link)) {
        wndl_error_set_file(err, wndl_object_path(places->debug));
        return wndl_fail(err, WNDL_NOT_FOUND,
            "references to a supplementary file, but no valid "
            ".gnu_debugaltlink or .debug_sup");
    }
    wndl_buf_init(&path, places->mem);
    enum wndl_status status = try_name(&path, places, &link, out, &first);
    const char *const *dir = places->dirs == NULL ? default_dirs : places->dirs;
    for (; *dir != NULL && status == WNDL_NOT_FOUND; dir++)
        status = try_dir(&path, *dir, link.id, out, &first);
    wndl_buf_free(&path);
    if (status != WNDL_OK && err != NULL)
        *err = first;
    return status;
}
