/* SPDX-License-Identifier: MIT */
#include "obj/packed/zip.h"
#include "obj/packed/packed_file.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Signatures and sizes without the variable parts: APPNOTE 4.3.7, 4.3.12 to
 * 4.3.16. */
enum {
    LOCAL = 0x04034b50,
    LOCAL_SIZE = 30,
    ENTRY = 0x02014b50,
    END = 0x06054b50,
    END_SIZE = 22,
    END64 = 0x06064b50,
    LOCATOR = 0x07064b50,
    LOCATOR_SIZE = 20,
    MAX_COMMENT = 0xffff,
    EXTRA_ZIP64 = 1,
    STORED = 0,
    IS_ENCRYPTED = 1,      /* general purpose flag, bit 0 */
    SIZES_FOLLOW = 1 << 3, /* local sizes may be 0 */
};

static const char END_RECORD[] = "end of central directory";
static const char DIRECTORY[] = "central directory";
static const char LOCAL_HEADER[] = "local file header";

struct directory {
    uint64_t offset, size, count;
};

struct entry {
    struct wndl_bytes name, extra;
    uint64_t packed, size, local;
    uint32_t crc;
    uint16_t flags, method;
};

static struct wndl_cursor cursor_at(struct wndl_bytes bytes, uint64_t offset)
{
    return wndl_cursor_at(bytes, offset, false);
}

static struct wndl_bytes take(struct wndl_cursor *c, uint64_t size)
{
    const uint8_t *data = wndl_cursor_take(c, size);
    return (struct wndl_bytes){data, data == NULL ? 0 : (size_t)size};
}

/* ---- where the directory is */

/* The end record is the last thing but for a comment. */
static bool find_end(struct wndl_bytes archive, uint64_t *at)
{
    if (archive.size < END_SIZE)
        return false;
    for (uint64_t comment = 0;
         comment <= MAX_COMMENT && comment <= archive.size - END_SIZE;
         comment++) {
        *at = archive.size - END_SIZE - comment;
        struct wndl_cursor c = cursor_at(archive, *at);
        if (wndl_cursor_u32(&c) != END)
            continue;
        wndl_cursor_skip(&c, END_SIZE - 4 - 2);
        if (wndl_cursor_u16(&c) == comment)
            return true;
    }
    return false;
}

/* A wide end record, where numbers do not fit the narrow one. */
static enum wndl_status read_end64(struct wndl_bytes archive, uint64_t end,
    struct directory *directory, struct wndl_error *err)
{
    struct wndl_cursor c = cursor_at(
        archive, end < LOCATOR_SIZE ? archive.size : end - LOCATOR_SIZE);
    if (wndl_cursor_u32(&c) != LOCATOR)
        return wndl_fail_at(err, WNDL_MALFORMED, END_RECORD, end,
            "no locator of the wide end record");
    wndl_cursor_skip(&c, 4); /* its volume */
    uint64_t at = wndl_cursor_u64(&c);
    c = cursor_at(archive, at);
    uint32_t signature = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 8 + 2 + 2 + 4 + 4); /* size, versions, volumes */
    uint64_t here = wndl_cursor_u64(&c);
    directory->count = wndl_cursor_u64(&c);
    directory->size = wndl_cursor_u64(&c);
    directory->offset = wndl_cursor_u64(&c);
    if (c.failed || signature != END64)
        return wndl_fail_at(
            err, WNDL_MALFORMED, END_RECORD, at, "no wide end record");
    if (here != directory->count)
        return wndl_fail_at(err, WNDL_UNSUPPORTED, END_RECORD, at,
            "an archive of several volumes");
    return WNDL_OK;
}

static enum wndl_status find_directory(struct wndl_bytes archive,
    struct directory *directory, struct wndl_error *err)
{
    uint64_t end = 0;
    if (!find_end(archive, &end))
        return wndl_fail_at(err, WNDL_UNSUPPORTED, END_RECORD, archive.size,
            "not a zip archive");
    struct wndl_cursor c = cursor_at(archive, end + 4);
    wndl_cursor_skip(&c, 2 + 2); /* volumes */
    uint16_t here = wndl_cursor_u16(&c);
    directory->count = wndl_cursor_u16(&c);
    directory->size = wndl_cursor_u32(&c);
    directory->offset = wndl_cursor_u32(&c);
    bool wide = directory->count == UINT16_MAX ||
                directory->size == UINT32_MAX ||
                directory->offset == UINT32_MAX;
    enum wndl_status status = WNDL_OK;
    if (wide)
        status = read_end64(archive, end, directory, err);
    else if (here != directory->count)
        status = wndl_fail_at(err, WNDL_UNSUPPORTED, END_RECORD, end,
            "an archive of several volumes");
    if (status != WNDL_OK)
        return status;
    if (directory->offset > end || directory->size > end - directory->offset)
        return wndl_fail_at(err, WNDL_MALFORMED, END_RECORD, end,
            "the central directory is not in the archive");
    return WNDL_OK;
}

/* ---- contents */

/* Numbers of 32 bits that are all ones are in the extra field instead, in
 * this order (APPNOTE 4.5.3). False when one is not. */
static bool widen(struct wndl_bytes extra, uint64_t **numbers, size_t count)
{
    struct wndl_cursor c = cursor_at(extra, 0);
    struct wndl_cursor wide = cursor_at((struct wndl_bytes){0}, 0);
    while (wndl_cursor_left(&c) >= 4) {
        uint16_t id = wndl_cursor_u16(&c);
        uint16_t size = wndl_cursor_u16(&c);
        struct wndl_cursor body = wndl_cursor_sub(&c, size);
        if (id == EXTRA_ZIP64 && wndl_cursor_left(&wide) == 0)
            wide = body;
    }
    for (size_t i = 0; i < count; i++)
        if (*numbers[i] == UINT32_MAX)
            *numbers[i] = wndl_cursor_u64(&wide);
    return !wide.failed;
}

static bool read_entry(struct wndl_cursor *c, struct entry *e)
{
    uint32_t signature = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 2 + 2); /* versions */
    e->flags = wndl_cursor_u16(c);
    e->method = wndl_cursor_u16(c);
    wndl_cursor_skip(c, 2 + 2); /* time, date */
    e->crc = wndl_cursor_u32(c);
    e->packed = wndl_cursor_u32(c);
    e->size = wndl_cursor_u32(c);
    uint16_t name = wndl_cursor_u16(c);
    uint16_t extra = wndl_cursor_u16(c);
    uint16_t comment = wndl_cursor_u16(c);
    wndl_cursor_skip(c, 2 + 2 + 4); /* volume, attributes */
    e->local = wndl_cursor_u32(c);
    e->name = take(c, name);
    e->extra = take(c, extra);
    wndl_cursor_skip(c, comment);
    return signature == ENTRY && !c->failed;
}

static enum wndl_status find_entry(struct wndl_bytes archive,
    const struct directory *directory, struct wndl_bytes name,
    struct entry *entry, struct wndl_error *err)
{
    struct wndl_bytes bytes =
        wndl_bytes_slice(archive, directory->offset, directory->size);
    struct wndl_cursor c = cursor_at(bytes, 0);
    for (uint64_t i = 0; i < directory->count; i++) {
        uint64_t at = wndl_cursor_offset(&c);
        if (!read_entry(&c, entry))
            return wndl_fail_at(err, WNDL_MALFORMED, DIRECTORY, at,
                "an entry that is damaged or cut short");
        if (!wndl_bytes_equal(entry->name, name))
            continue;
        uint64_t *wide[] = {&entry->size, &entry->packed, &entry->local};
        if (!widen(entry->extra, wide, 3))
            return wndl_fail_at(err, WNDL_MALFORMED, DIRECTORY, at,
                "an entry lacks its wide numbers");
        return WNDL_OK;
    }
    return wndl_fail_at(
        err, WNDL_NOT_FOUND, DIRECTORY, 0, "no such file in the archive");
}

/* ---- the member itself */

static enum wndl_status check_entry(
    const struct entry *e, struct wndl_error *err)
{
    if ((e->flags & IS_ENCRYPTED) != 0)
        return wndl_fail_at(err, WNDL_UNSUPPORTED, DIRECTORY, 0,
            "the file is encrypted in the archive");
    if (e->method != STORED)
        return wndl_fail_at(err, WNDL_UNSUPPORTED, DIRECTORY, 0,
            "the file is compressed in the archive; unpack it first");
    if (e->packed != e->size)
        return wndl_fail_at(
            err, WNDL_MALFORMED, DIRECTORY, 0, "a stored file of two sizes");
    return WNDL_OK;
}

/* A local header; the member's bytes follow it. */
static bool read_local(struct wndl_cursor *c, struct entry *e)
{
    uint32_t signature = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 2); /* version */
    e->flags = wndl_cursor_u16(c);
    e->method = wndl_cursor_u16(c);
    wndl_cursor_skip(c, 2 + 2); /* time, date */
    e->crc = wndl_cursor_u32(c);
    e->packed = wndl_cursor_u32(c);
    e->size = wndl_cursor_u32(c);
    uint16_t name = wndl_cursor_u16(c);
    uint16_t extra = wndl_cursor_u16(c);
    e->name = take(c, name);
    e->extra = take(c, extra);
    uint64_t *wide[] = {&e->size, &e->packed};
    return signature == LOCAL && !c->failed && widen(e->extra, wide, 2);
}

static bool agree(const struct entry *entry, const struct entry *local)
{
    bool follow = (local->flags & SIZES_FOLLOW) != 0;
    bool sizes = local->packed == entry->packed && local->size == entry->size &&
                 local->crc == entry->crc;
    return wndl_bytes_equal(local->name, entry->name) &&
           local->method == entry->method && (sizes || follow);
}

static enum wndl_status read_member(struct wndl_bytes archive,
    const struct directory *directory, const struct entry *entry,
    struct wndl_bytes *member, struct wndl_error *err)
{
    struct entry local;
    struct wndl_bytes before = wndl_bytes_slice(archive, 0, directory->offset);
    struct wndl_cursor c = cursor_at(before, entry->local);
    if (!read_local(&c, &local))
        return wndl_fail_at(err, WNDL_MALFORMED, LOCAL_HEADER, entry->local,
            "no header where the directory says");
    if (!agree(entry, &local))
        return wndl_fail_at(err, WNDL_MALFORMED, LOCAL_HEADER, entry->local,
            "contradicts the directory");
    uint64_t at = wndl_cursor_offset(&c);
    if (entry->size > wndl_cursor_left(&c))
        return wndl_fail_at(err, WNDL_TRUNCATED, LOCAL_HEADER, at,
            "the file reaches past the archive's directory");
    *member = take(&c, entry->size);
    return WNDL_OK;
}

enum wndl_status wndl_zip_find(struct wndl_bytes archive,
    struct wndl_bytes name, struct wndl_bytes *member, struct wndl_error *err)
{
    struct directory directory = {0};
    struct entry entry = {0};
    *member = (struct wndl_bytes){0};
    enum wndl_status status = find_directory(archive, &directory, err);
    if (status == WNDL_OK)
        status = find_entry(archive, &directory, name, &entry, err);
    if (status == WNDL_OK)
        status = check_entry(&entry, err);
    if (status == WNDL_OK)
        status = read_member(archive, &directory, &entry, member, err);
    return status;
}

/* ---- "ARCHIVE!/MEMBER" */

static enum wndl_status open_member(const char *path, const char *mark,
    struct wndl_file *file, struct wndl_bytes *bytes, struct wndl_error *err)
{
    char archive[PATH_MAX];
    size_t size = (size_t)(mark - path);
    if (size >= sizeof archive)
        return wndl_fail_errno(err, ENAMETOOLONG, "cannot open the file");
    memcpy(archive, path, size);
    archive[size] = '\0';
    enum wndl_status status = wndl_file_open(archive, file, err);
    if (status != WNDL_OK)
        return status;
    const char *name = mark + 2;
    struct wndl_bytes wanted = {(const uint8_t *)name, strlen(name)};
    status = wndl_zip_find(file->bytes, wanted, bytes, err);
    if (status != WNDL_OK)
        wndl_file_close(file);
    wndl_error_set_file(err, path);
    return status;
}

enum wndl_status wndl_zip_open_path(const char *path, struct wndl_file *file,
    struct wndl_bytes *bytes, struct wndl_error *err)
{
    struct wndl_error refusal = {0};
    enum wndl_status status = wndl_file_open(path, file, &refusal);
    if (status == WNDL_OK)
        status = wndl_packed_file_unpack(file, &refusal);
    *bytes = file->bytes;
    const char *mark = strstr(path, "!/");
    bool absent = refusal.sys_errno == ENOENT || refusal.sys_errno == ENOTDIR;
    if (status != WNDL_OK && absent && mark != NULL)
        return open_member(path, mark, file, bytes, err);
    if (status != WNDL_OK && err != NULL)
        *err = refusal;
    return status;
}
