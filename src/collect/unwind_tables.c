/* SPDX-License-Identifier: MIT */
#include "collect/unwind_tables.h"

#include "os/file.h"
#include "rec/crc32c.h"
#include "unwind/table_chrome.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_whole(const struct wndl_table *table)
{
    const size_t at = WNDL_TABLE_CRC_AT + sizeof(uint32_t);
    const struct wndl_bytes b = table->bytes;
    return wndl_crc32c(0, b.data + at, b.size - at) == table->crc;
}

/* False when it is not that binary's, not whole, or not there. */
static bool copy_file(const char *path, struct wndl_arena *arena,
    bool (*is_wanted)(struct wndl_bytes bytes, struct wndl_object *object,
        struct wndl_unwind_table *found),
    struct wndl_object *object, struct wndl_unwind_table *copy)
{
    struct wndl_file file;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return false;
    const bool found = is_wanted(file.bytes, object, copy);
    if (found) {
        copy->bytes.data = (const uint8_t *)wndl_arena_copy(
            arena, file.bytes.data, file.bytes.size);
        copy->bytes.size = copy->bytes.data == NULL ? 0 : file.bytes.size;
    }
    wndl_file_close(&file);
    return found;
}

static bool is_own(struct wndl_bytes bytes, struct wndl_object *object,
    struct wndl_unwind_table *found)
{
    struct wndl_table table;
    (void)found;
    return wndl_table_open(bytes, &table, NULL) == WNDL_OK &&
           wndl_table_is_for(&table, wndl_object_machine(object),
               wndl_object_build_id(object), NULL) == WNDL_OK &&
           is_whole(&table);
}

static bool is_chrome(struct wndl_bytes bytes, struct wndl_object *object,
    struct wndl_unwind_table *found)
{
    struct wndl_table table;
    struct wndl_table_chrome_of of = {.machine = wndl_object_machine(object)};
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        const struct wndl_section s = wndl_object_section(object, i);
        if (!wndl_bytes_is(s.name, ".text"))
            continue;
        of.text = found->text = s.addr.v;
        of.text_size = found->text_size = s.size;
        return s.size != 0 &&
               wndl_table_open_chrome(bytes, &of, &table, NULL) == WNDL_OK;
    }
    return false;
}

/* In the first folder that has one under the name. */
static bool find(struct wndl_arena *arena, const char *name,
    struct wndl_object *object, bool chrome, struct wndl_unwind_table *copy)
{
    char path[PATH_MAX];
    const char *folders = getenv(WNDL_TABLE_FOLDERS_ENV);
    while (*folders != '\0') {
        const size_t size = strcspn(folders, ":");
        const int written =
            snprintf(path, sizeof path, "%.*s/%s%s", (int)size, folders, name,
                chrome ? WNDL_TABLE_CHROME_SUFFIX : WNDL_TABLE_SUFFIX);
        if (size != 0 && written < (int)sizeof path &&
            copy_file(path, arena, chrome ? is_chrome : is_own, object, copy))
            return true;
        folders += size + (folders[size] == ':');
    }
    return false;
}

struct wndl_unwind_table wndl_unwind_table_copy(
    struct wndl_arena *arena, struct wndl_object *object)
{
    char name[2 * WNDL_TABLE_BUILD_ID_MAX + 1];
    struct wndl_unwind_table copy = {.text_size = 0};
    const struct wndl_bytes id = wndl_object_build_id(object);
    if (getenv(WNDL_TABLE_FOLDERS_ENV) == NULL || id.size == 0 ||
        id.size > WNDL_TABLE_BUILD_ID_MAX)
        return copy;
    for (size_t i = 0; i < id.size; i++)
        snprintf(name + 2 * i, 3, "%02x", id.data[i]);
    if (find(arena, name, object, false, &copy) ||
        (wndl_object_machine(object) == EM_ARM &&
            find(arena, name, object, true, &copy)))
        return copy;
    return (struct wndl_unwind_table){.text_size = 0};
}
