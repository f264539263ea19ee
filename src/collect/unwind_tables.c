/* SPDX-License-Identifier: MIT */
#include "collect/unwind_tables.h"

#include "os/file.h"
#include "rec/crc32c.h"
#include "unwind/table.h"

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
    const struct wndl_table *wanted, struct wndl_bytes *copy)
{
    struct wndl_file file;
    struct wndl_table table;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return false;
    bool found = wndl_table_open(file.bytes, &table, NULL) == WNDL_OK &&
                 wndl_table_is_for(&table, wanted->machine, wanted->build_id,
                     NULL) == WNDL_OK &&
                 is_whole(&table);
    if (found) {
        copy->data = (const uint8_t *)wndl_arena_copy(
            arena, file.bytes.data, file.bytes.size);
        copy->size = copy->data == NULL ? 0 : file.bytes.size;
    }
    wndl_file_close(&file);
    return found;
}

struct wndl_bytes wndl_unwind_table_copy(
    struct wndl_arena *arena, uint16_t machine, struct wndl_bytes build_id)
{
    char name[2 * WNDL_TABLE_BUILD_ID_MAX + 1], path[PATH_MAX];
    struct wndl_bytes copy = {0};
    const struct wndl_table wanted = {.machine = machine, .build_id = build_id};
    const char *folders = getenv(WNDL_TABLE_FOLDERS_ENV);
    if (folders == NULL || build_id.size == 0 ||
        build_id.size > WNDL_TABLE_BUILD_ID_MAX)
        return copy;
    for (size_t i = 0; i < build_id.size; i++)
        snprintf(name + 2 * i, 3, "%02x", build_id.data[i]);
    while (*folders != '\0') {
        const size_t size = strcspn(folders, ":");
        int written = snprintf(path, sizeof path, "%.*s/%s%s", (int)size,
            folders, name, WNDL_TABLE_SUFFIX);
        if (size != 0 && written < (int)sizeof path &&
            copy_file(path, arena, &wanted, &copy))
            return copy;
        folders += size + (folders[size] == ':');
    }
    return copy;
}
