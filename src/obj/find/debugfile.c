/* SPDX-License-Identifier: MIT */
#include "obj/find/debugfile.h"

#include "base/buf.h"
#include "obj/macho/macho.h"
#include "obj/wasm/wasm.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* A build-id is a hash; none in use is longer. */
enum { MAX_BUILD_ID = 64 };

/* The most bytes that crc32 can take at once. */
enum { CRC_STEP = 1 << 30 };

static const char *const default_dirs[] = {"/usr/lib/debug", NULL};

struct search {
    const struct wndl_object *object;
    const char *const *dirs;
    struct wndl_mem *mem;
    struct wndl_buf path; /* of the candidate */
    struct wndl_bytes link;
    const uint32_t *crc;       /* to be checked, or NULL */
    struct wndl_error refusal; /* of the first candidate that was skipped */
    struct wndl_debugfile *out;
};

static bool crc_matches(const struct search *search, struct wndl_bytes bytes)
{
    uLong crc = crc32(0, NULL, 0);
    for (size_t at = 0; at < bytes.size; at += CRC_STEP) {
        size_t left = bytes.size - at;
        crc = crc32(
            crc, bytes.data + at, (uInt)(left < CRC_STEP ? left : CRC_STEP));
    }
    return (uint32_t)crc == *search->crc;
}

/*
 * With a CRC a file without a build-id is accepted, but not one with another
 * build-id. A WebAssembly module without one is known by its code.
 */
static enum wndl_status check_identity(const struct search *search,
    const struct wndl_debugfile *candidate, struct wndl_error *err)
{
    struct wndl_bytes own = wndl_object_build_id(search->object);
    struct wndl_bytes its = wndl_object_build_id(candidate->object);
    bool comparable = own.size != 0 && its.size != 0;
    bool same = comparable
                    ? wndl_bytes_equal(own, its)
                    : wndl_wasm_same_code(search->object, candidate->object);
    if (!same && (comparable || search->crc == NULL))
        return wndl_fail(err, WNDL_NOT_FOUND,
            "the debug file belongs to another build of the binary");
    if (search->crc != NULL && !crc_matches(search, candidate->file.bytes))
        return wndl_fail(err, WNDL_NOT_FOUND,
            "the debug file's CRC32 differs from .gnu_debuglink");
    return WNDL_OK;
}

static enum wndl_status open_candidate(const struct search *search,
    const char *path, struct wndl_debugfile *candidate, struct wndl_error *err)
{
    char arch[WNDL_MACHO_ARCH];
    bool has_arch = wndl_macho_arch_of(search->object, arch);
    enum wndl_status status = wndl_file_open(path, &candidate->file, err);
    const struct wndl_object_source source = {
        candidate->file.bytes, path, has_arch ? arch : NULL};
    if (status == WNDL_OK)
        status = wndl_object_open_source(
            &source, search->mem, &candidate->object, err);
    if (status == WNDL_OK)
        status = check_identity(search, candidate, err);
    if (status != WNDL_OK)
        wndl_debugfile_close(candidate);
    return status;
}

/* Tries the path that was built in search->path. */
static enum wndl_status try_path(struct search *search)
{
    wndl_buf_byte(&search->path, '\0');
    if (search->path.failed)
        return WNDL_NOMEM;
    struct wndl_error err = {0};
    struct wndl_debugfile candidate = {0};
    enum wndl_status status = open_candidate(
        search, (const char *)search->path.data, &candidate, &err);
    if (status == WNDL_OK) {
        *search->out = candidate;
        return WNDL_OK;
    }
    if (status == WNDL_NOMEM)
        return WNDL_NOMEM;
    bool absent = err.sys_errno == ENOENT || err.sys_errno == ENOTDIR;
    if (!absent && search->refusal.status == WNDL_OK)
        search->refusal = err;
    return WNDL_NOT_FOUND;
}

static enum wndl_status try_build_id(
    struct search *search, const char *dir, struct wndl_bytes id)
{
    wndl_buf_clear(&search->path);
    wndl_buf_printf(&search->path, "%s/.build-id/%02x/", dir, id.data[0]);
    for (size_t i = 1; i < id.size; i++)
        wndl_buf_printf(&search->path, "%02x", id.data[i]);
    wndl_buf_text(&search->path, ".debug");
    return try_path(search);
}

static enum wndl_status try_link(
    struct search *search, const char *dir, const char *folder)
{
    wndl_buf_clear(&search->path);
    wndl_buf_printf(&search->path, "%s%s/", dir, folder);
    wndl_buf_add(&search->path, search->link.data, search->link.size);
    return try_path(search);
}

static enum wndl_status find_by_build_id(struct search *search)
{
    struct wndl_bytes id = wndl_object_build_id(search->object);
    if (id.size < 2 || id.size > MAX_BUILD_ID)
        return WNDL_NOT_FOUND;
    enum wndl_status status = WNDL_NOT_FOUND;
    for (const char *const *dir = search->dirs;
         *dir != NULL && status == WNDL_NOT_FOUND; dir++)
        status = try_build_id(search, *dir, id);
    return status;
}

/* The link must be a name: one with a slash would lead out of the folders. */
static bool is_plain_name(struct wndl_bytes name)
{
    return name.size != 0 && name.size <= NAME_MAX &&
           memchr(name.data, '/', name.size) == NULL;
}

static enum wndl_status find_by_link(struct search *search)
{
    char folder[PATH_MAX];
    uint32_t crc;
    enum wndl_status status =
        wndl_object_debuglink(search->object, &search->link, &crc);
    if (status != WNDL_OK || !is_plain_name(search->link) ||
        !wndl_file_real_folder(
            wndl_object_path(search->object), folder, sizeof folder))
        return WNDL_NOT_FOUND;
    search->crc = &crc;
    status = try_link(search, folder, "");
    if (status == WNDL_NOT_FOUND)
        status = try_link(search, folder, "/.debug");
    for (const char *const *dir = search->dirs;
         *dir != NULL && status == WNDL_NOT_FOUND; dir++)
        status = try_link(search, *dir, folder);
    search->crc = NULL;
    return status;
}

/* ---- WebAssembly */

/* The part of an address after its last slash: the name of a file. */
static struct wndl_bytes name_of_external(struct wndl_bytes address)
{
    const uint8_t *slash =
        address.size == 0 ? NULL : memrchr(address.data, '/', address.size);
    if (slash == NULL)
        return address;
    size_t before = (size_t)(slash - address.data) + 1;
    return (struct wndl_bytes){slash + 1, address.size - before};
}

/* Says where debug information would be, if nothing else was refused. */
static void miss_external(struct search *search, struct wndl_bytes address)
{
    char what[sizeof search->refusal.what];
    if (search->refusal.status != WNDL_OK)
        return;
    snprintf(what, sizeof what, "debug information is in %.*s: not found",
        (int)(address.size < NAME_MAX ? address.size : NAME_MAX),
        (const char *)address.data);
    (void)wndl_fail_at(
        &search->refusal, WNDL_NOT_FOUND, "external_debug_info", 0, what);
    wndl_error_set_file(&search->refusal, wndl_object_path(search->object));
}

/* The address is seldom one of this machine: its last part names the file. */
static enum wndl_status find_external(struct search *search)
{
    char folder[PATH_MAX];
    struct wndl_bytes address = wndl_wasm_external(search->object);
    enum wndl_status status = WNDL_NOT_FOUND;
    search->link = name_of_external(address);
    if (!is_plain_name(search->link))
        return status;
    if (wndl_file_real_folder(
            wndl_object_path(search->object), folder, sizeof folder))
        status = try_link(search, folder, "");
    for (const char *const *dir = search->dirs;
         *dir != NULL && status == WNDL_NOT_FOUND; dir++)
        status = try_link(search, *dir, "");
    if (status == WNDL_NOT_FOUND)
        miss_external(search, address);
    return status;
}

/* ---- Apple's dSYM bundles */

static const char bundle[] = ".dSYM/Contents/Resources/DWARF";

/* Tries all files in the bundle, whatever their names. */
static enum wndl_status try_all_in(struct search *search, const char *folder)
{
    enum { MOST = 64 };
    enum wndl_status status = WNDL_NOT_FOUND;
    DIR *files = opendir(folder);
    if (files == NULL)
        return status;
    struct dirent *file;
    for (int i = 0; i < MOST && status == WNDL_NOT_FOUND &&
                    (file = readdir(files)) != NULL;
         i++) {
        if (file->d_name[0] == '.')
            continue;
        wndl_buf_clear(&search->path);
        wndl_buf_printf(&search->path, "%s/%s", folder, file->d_name);
        status = try_path(search);
    }
    closedir(files);
    return status;
}

/* Tries the bundle that is named after the first `size` bytes of `path`. */
static enum wndl_status try_bundle(
    struct search *search, const char *path, size_t size, const char *name)
{
    char folder[PATH_MAX + sizeof bundle];
    if (size >= PATH_MAX)
        return WNDL_NOT_FOUND;
    memcpy(folder, path, size);
    memcpy(folder + size, bundle, sizeof bundle);
    wndl_buf_clear(&search->path);
    wndl_buf_printf(&search->path, "%s/%s", folder, name);
    enum wndl_status status = try_path(search);
    return status == WNDL_NOT_FOUND ? try_all_in(search, folder) : status;
}

/*
 * Searches beside the binary, whose path is the first `size` bytes of `path`,
 * and beside its parent folders: App.app/Contents/MacOS/App, for example.
 */
static enum wndl_status find_bundle_above(
    struct search *search, const char *path, size_t size, const char *name)
{
    enum { FOLDERS_UP = 5 };
    enum wndl_status status = WNDL_NOT_FOUND;
    for (int i = 0; i < FOLDERS_UP && size > 0 && status == WNDL_NOT_FOUND;
         i++) {
        status = try_bundle(search, path, size, name);
        const char *slash = memrchr(path, '/', size);
        size = slash == NULL ? 0 : (size_t)(slash - path);
    }
    return status;
}

static enum wndl_status find_bundle(struct search *search)
{
    char folder[PATH_MAX];
    char path[PATH_MAX];
    const char *given = wndl_object_path(search->object);
    const char *slash = strrchr(given, '/');
    const char *name = slash == NULL ? given : slash + 1;
    enum wndl_status status = WNDL_NOT_FOUND;
    if (wndl_file_real_folder(given, folder, sizeof folder)) {
        int size = snprintf(path, sizeof path, "%s/%s", folder, name);
        if (size > 0 && (size_t)size < sizeof path)
            status = find_bundle_above(search, path, (size_t)size, name);
    }
    for (const char *const *dir = search->dirs;
         *dir != NULL && status == WNDL_NOT_FOUND; dir++) {
        int size = snprintf(path, sizeof path, "%s/%s", *dir, name);
        if (size > 0 && (size_t)size < sizeof path)
            status = try_bundle(search, path, (size_t)size, name);
    }
    return status;
}

enum wndl_status wndl_debugfile_find(const struct wndl_object *object,
    const char *const *dirs, struct wndl_mem *mem, struct wndl_debugfile *out,
    struct wndl_error *err)
{
    struct search search = {
        .object = object,
        .dirs = dirs == NULL ? default_dirs : dirs,
        .mem = mem,
        .out = out,
    };
    *out = (struct wndl_debugfile){0};
    wndl_buf_init(&search.path, mem);
    char arch[WNDL_MACHO_ARCH];
    bool is_apple = wndl_macho_arch_of(object, arch);
    enum wndl_status status =
        is_apple ? find_bundle(&search) : find_by_build_id(&search);
    if (status == WNDL_NOT_FOUND && !is_apple)
        status = find_by_link(&search);
    if (status == WNDL_NOT_FOUND)
        status = find_external(&search);
    wndl_buf_free(&search.path);
    if (status == WNDL_NOMEM)
        return wndl_fail(err, status, "no memory to look for a debug file");
    if (status == WNDL_OK)
        return status;
    if (search.refusal.status == WNDL_OK)
        return wndl_fail(err, status, "no separate debug file");
    if (err != NULL)
        *err = search.refusal;
    if (err != NULL)
        err->status = status;
    return status;
}

enum wndl_status wndl_debugfile_open(const struct wndl_object *object,
    const char *path, struct wndl_mem *mem, struct wndl_debugfile *out,
    struct wndl_error *err)
{
    const struct search search = {.object = object, .mem = mem};
    *out = (struct wndl_debugfile){0};
    return open_candidate(&search, path, out, err);
}

void wndl_debugfile_close(struct wndl_debugfile *debugfile)
{
    wndl_object_close(debugfile->object);
    wndl_file_close(&debugfile->file);
    debugfile->object = NULL;
}
