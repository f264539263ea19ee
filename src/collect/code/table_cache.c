/* SPDX-License-Identifier: MIT */
/*
 * A file: magic, CRC-32C of all after it, version, stamp, table. Whoever can
 * write it decides where stacks lead, so it must be the user's and closed to
 * others, as its folder must be.
 */
#include "collect/code/table_cache.h"

#include "base/buf.h"
#include "base/hash.h"
#include "os/file.h"
#include "os/replace.h"
#include "rec/crc32c.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windlass/version.h>

enum {
    CODE_VERSION = 1, /* another one makes other rules of the same code */
    ID_MAX = 64,      /* bytes of a build-id */
    CRC_END = 12,
    HEAD = 24,
};

static const char magic[8] = "WNDLCODE";

static uint32_t version(void)
{
    return (uint32_t)CODE_VERSION << 24 | WNDL_VERSION_MAJOR << 16 |
           WNDL_VERSION_MINOR << 8 | WNDL_VERSION_PATCH;
}

/* ---- its place */

void wndl_kept_table_of(struct wndl_kept_table *kept, const char *folder,
    const struct wndl_kept_facts *facts)
{
    const struct wndl_bytes id = facts->build_id;
    char digits[2 * ID_MAX + 1];
    kept->stamp = wndl_hash_u64(facts->size << 1 | facts->has_debug_frame);
    kept->path[0] = '\0';
    if (folder == NULL || id.size == 0 || id.size > ID_MAX)
        return;
    for (size_t i = 0; i < id.size; i++)
        snprintf(digits + 2 * i, 3, "%02x", id.data[i]);
    if (snprintf(kept->path, sizeof kept->path, "%s/%s.wcode", folder,
            digits) >= (int)sizeof kept->path)
        kept->path[0] = '\0';
}

static void folder_of(const struct wndl_kept_table *kept, char *folder)
{
    snprintf(folder, PATH_MAX, "%s", kept->path);
    *strrchr(folder, '/') = '\0';
}

/* ---- reading */

static enum wndl_status check_owner(
    uint32_t owner, bool is_open, struct wndl_error *err)
{
    if (!is_open && owner == geteuid())
        return WNDL_OK;
    return wndl_fail(err, WNDL_DENIED,
        is_open ? "not used: others may write to it"
                : "not used: it is another user's");
}

static enum wndl_status check_folder(const char *folder, struct wndl_error *err)
{
    struct stat st;
    wndl_error_set_file(err, folder);
    if (lstat(folder, &st) != 0)
        return wndl_fail_errno(err, errno, "cannot use this folder");
    if (!S_ISDIR(st.st_mode))
        return wndl_fail_errno(err, ENOTDIR, "cannot use this folder");
    return check_owner(st.st_uid, (st.st_mode & (S_IWGRP | S_IWOTH)) != 0, err);
}

static enum wndl_status check_bytes(
    struct wndl_bytes bytes, uint64_t stamp, struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(bytes, sizeof magic, false);
    const uint32_t crc = wndl_cursor_u32(&c);
    const uint32_t of = wndl_cursor_u32(&c);
    const uint64_t has = wndl_cursor_u64(&c);
    if (bytes.size < HEAD || memcmp(bytes.data, magic, sizeof magic) != 0 ||
        crc != wndl_crc32c(0, bytes.data + CRC_END, bytes.size - CRC_END))
        return wndl_fail(err, WNDL_MALFORMED,
            "not used: it is damaged, or no unwind table made from code");
    return of == version() && has == stamp ? WNDL_OK : WNDL_NOT_FOUND;
}

static enum wndl_status take(
    struct wndl_bytes bytes, struct wndl_arena *arena, struct wndl_bytes *table)
{
    const size_t size = bytes.size - HEAD;
    *table = (struct wndl_bytes){
        (const uint8_t *)wndl_arena_copy(arena, bytes.data + HEAD, size), size};
    return table->data == NULL ? WNDL_NOMEM : WNDL_OK;
}

enum wndl_status wndl_kept_table_read(const struct wndl_kept_table *kept,
    struct wndl_arena *arena, struct wndl_bytes *table, struct wndl_error *err)
{
    struct wndl_file_facts facts;
    struct wndl_file file;
    char folder[PATH_MAX];
    if (kept->path[0] == '\0' || access(kept->path, F_OK) != 0)
        return WNDL_NOT_FOUND;
    folder_of(kept, folder);
    enum wndl_status status = check_folder(folder, err);
    if (status != WNDL_OK)
        return status;
    wndl_error_set_file(err, kept->path);
    status = wndl_file_open_itself(kept->path, &file, &facts, err);
    if (status != WNDL_OK)
        return status;
    status = check_owner(facts.owner, facts.is_open, err);
    if (status == WNDL_OK)
        status = check_bytes(file.bytes, kept->stamp, err);
    if (status == WNDL_OK)
        status = take(file.bytes, arena, table);
    wndl_file_close(&file);
    return status;
}

/* ---- writing */

/* Makes each folder of the path that is not there. */
static void make_folders(char *folder)
{
    for (char *at = strchr(folder + 1, '/'); at != NULL;
         at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(folder, 0700);
        *at = '/';
    }
    (void)mkdir(folder, 0700);
}

static void fill(const struct wndl_kept_table *kept, struct wndl_bytes table,
    struct wndl_buf *out)
{
    wndl_buf_add(out, magic, sizeof magic);
    wndl_buf_u32le(out, 0);
    wndl_buf_u32le(out, version());
    wndl_buf_u64le(out, kept->stamp);
    if (table.size != 0)
        wndl_buf_add(out, table.data, table.size);
    if (out->failed)
        return;
    const uint32_t crc =
        wndl_crc32c(0, out->data + CRC_END, out->size - CRC_END);
    for (size_t i = 0; i < sizeof crc; i++)
        out->data[sizeof magic + i] = (uint8_t)(crc >> 8 * i);
}

enum wndl_status wndl_kept_table_write(const struct wndl_kept_table *kept,
    struct wndl_bytes table, struct wndl_error *err)
{
    struct wndl_buf out;
    char folder[PATH_MAX];
    if (kept->path[0] == '\0')
        return WNDL_OK;
    folder_of(kept, folder);
    make_folders(folder);
    enum wndl_status status = check_folder(folder, err);
    if (status != WNDL_OK)
        return status;
    wndl_buf_init(&out, wndl_mem_libc());
    fill(kept, table, &out);
    status = out.failed ? WNDL_NOMEM
                        : wndl_file_replace(kept->path,
                              (struct wndl_bytes){out.data, out.size}, err);
    wndl_buf_free(&out);
    return status;
}
