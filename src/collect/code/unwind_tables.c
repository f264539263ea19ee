/* SPDX-License-Identifier: MIT */
#include "collect/code/unwind_tables.h"

#include "os/file.h"
#include "rec/crc32c.h"
#include "unwind/table/chrome.h"
#include "unwind/table/named.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- whose a table is */

/* Any binary's if `object` is NULL. */
static enum wndl_status open_own(
    struct wndl_bytes bytes, struct wndl_object *object, struct wndl_error *err)
{
    const size_t at = WNDL_TABLE_CRC_AT + sizeof(uint32_t);
    struct wndl_table table;
    enum wndl_status status = wndl_table_open(bytes, &table, err);
    if (status == WNDL_OK && object != NULL)
        status = wndl_table_is_for(&table, wndl_object_machine(object),
            wndl_object_build_id(object), err);
    if (status == WNDL_OK &&
        wndl_crc32c(0, bytes.data + at, bytes.size - at) != table.crc)
        status = wndl_fail(err, WNDL_MALFORMED,
            "a damaged unwind table: its checksum is wrong");
    return status;
}

/* *found is where .text is. */
static enum wndl_status open_chrome(struct wndl_bytes bytes,
    struct wndl_object *object, struct wndl_unwind_table *found,
    struct wndl_error *err)
{
    struct wndl_table table;
    struct wndl_table_chrome_of of = {.machine = wndl_object_machine(object)};
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        const struct wndl_section s = wndl_object_section(object, i);
        if (!wndl_bytes_is(s.name, ".text") || s.size == 0)
            continue;
        of.text = found->text = s.addr.v;
        of.text_size = found->text_size = s.size;
        return wndl_table_open_chrome(bytes, &of, &table, err);
    }
    return wndl_fail(err, WNDL_NOT_FOUND,
        "counts from .text, which the binary's section headers do not name");
}

static bool is_own(struct wndl_bytes bytes)
{
    return bytes.size >= sizeof WNDL_TABLE_MAGIC - 1 &&
           memcmp(bytes.data, WNDL_TABLE_MAGIC, sizeof WNDL_TABLE_MAGIC - 1) ==
               0;
}

static enum wndl_status open_either(struct wndl_bytes bytes,
    struct wndl_object *object, struct wndl_unwind_table *found,
    struct wndl_error *err)
{
    struct wndl_chrome_v2 chrome;
    *found = (struct wndl_unwind_table){.text_size = 0};
    if (is_own(bytes))
        return open_own(bytes, object, err);
    if (wndl_chrome_v2_open(bytes, &chrome, NULL) != WNDL_OK)
        return wndl_fail(err, WNDL_MALFORMED,
            "neither an unwind table nor Chromium's unwind info v2");
    return object == NULL ? WNDL_OK : open_chrome(bytes, object, found, err);
}

enum wndl_status wndl_unwind_table_check(
    const char *file, struct wndl_object *object, struct wndl_error *err)
{
    struct wndl_unwind_table found;
    struct wndl_file table;
    enum wndl_status status = wndl_file_open(file, &table, err);
    if (status != WNDL_OK)
        return status;
    status = open_either(table.bytes, object, &found, err);
    wndl_error_set_file(err, file);
    wndl_file_close(&table);
    return status;
}

/* ---- finding it */

/*
 * Copies a table. False when it belongs to another binary, is not whole, or
 * does not exist.
 */
static bool copy_file(const char *path, struct wndl_arena *arena,
    struct wndl_object *object, struct wndl_unwind_table *copy)
{
    struct wndl_file file;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return false;
    const bool found = open_either(file.bytes, object, copy, NULL) == WNDL_OK;
    if (found) {
        copy->bytes.data = (const uint8_t *)wndl_arena_copy(
            arena, file.bytes.data, file.bytes.size);
        copy->bytes.size = copy->bytes.data == NULL ? 0 : file.bytes.size;
    }
    wndl_file_close(&file);
    return found;
}

static bool find_by_name(struct wndl_arena *arena, struct wndl_object *object,
    const char *path, const char *tables, struct wndl_unwind_table *copy)
{
    struct wndl_table_named named;
    while (wndl_table_named_next(&tables, &named)) {
        if (wndl_table_names(named.module, path) &&
            copy_file(named.file, arena, object, copy))
            return true;
    }
    return false;
}

/* Visits a file that may be the table of a binary. True ends the visits. */
typedef bool visit_file(void *context, const char *path);

/* Visits the files of that name, in each folder. */
static bool visit_folders(
    const char *name, const char *suffix, visit_file *visit, void *context)
{
    char path[PATH_MAX];
    const char *folders = getenv(WNDL_TABLE_FOLDERS_ENV);
    while (*folders != '\0') {
        const size_t size = strcspn(folders, ":");
        const int written = snprintf(
            path, sizeof path, "%.*s/%s%s", (int)size, folders, name, suffix);
        if (size != 0 && written < (int)sizeof path && visit(context, path))
            return true;
        folders += size + (folders[size] == ':');
    }
    return false;
}

static bool visit_by_build_id(
    struct wndl_object *object, visit_file *visit, void *context)
{
    char name[2 * WNDL_TABLE_BUILD_ID_MAX + 1];
    const struct wndl_bytes id = wndl_object_build_id(object);
    if (getenv(WNDL_TABLE_FOLDERS_ENV) == NULL || id.size == 0 ||
        id.size > WNDL_TABLE_BUILD_ID_MAX)
        return false;
    for (size_t i = 0; i < id.size; i++)
        snprintf(name + 2 * i, 3, "%02x", id.data[i]);
    return visit_folders(name, WNDL_TABLE_SUFFIX, visit, context) ||
           (wndl_object_machine(object) == EM_ARM &&
               visit_folders(name, WNDL_TABLE_CHROME_SUFFIX, visit, context));
}

struct copying {
    struct wndl_arena *arena;
    struct wndl_object *object;
    struct wndl_unwind_table *copy;
};

static bool copy_visited(void *context, const char *path)
{
    const struct copying *c = context;
    return copy_file(path, c->arena, c->object, c->copy);
}

struct wndl_unwind_table wndl_unwind_table_copy(struct wndl_arena *arena,
    struct wndl_object *object, const char *path, const char *tables)
{
    struct wndl_unwind_table copy;
    struct copying copying = {arena, object, &copy};
    if (find_by_name(arena, object, path, tables, &copy) ||
        visit_by_build_id(object, copy_visited, &copying))
        return copy;
    return (struct wndl_unwind_table){.text_size = 0};
}

/* ---- reporting of files that are not used */

struct refusing {
    struct wndl_object *object;
    void (*refused)(void *context, const struct wndl_error *err);
    void *context;
};

static bool check_visited(void *context, const char *path)
{
    const struct refusing *r = context;
    struct wndl_error err = {0};
    if (access(path, F_OK) != 0)
        return false;
    if (wndl_unwind_table_check(path, r->object, &err) == WNDL_OK)
        return true;
    r->refused(r->context, &err);
    return false;
}

void wndl_unwind_tables_refused(struct wndl_object *object,
    void (*refused)(void *context, const struct wndl_error *err), void *context)
{
    struct refusing refusing = {object, refused, context};
    (void)visit_by_build_id(object, check_visited, &refusing);
}
