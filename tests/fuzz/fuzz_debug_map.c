/* SPDX-License-Identifier: MIT */
/*
 * fuzz_debug_map: a linked image in memory and one object file, or an archive,
 * that its debug map leads to. The input is the size of the image, 4 bytes,
 * little endian; the image; and the file, which is at PLACE.
 */
#include "symbolize/debug_map/debug_map.h"

#include "obj/macho/macho.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* "/proc/self/fd/100" */
enum { PLACE = 100 };

static bool place_file(struct wndl_bytes file)
{
    static bool is_open;
    if (!is_open) {
        int fd = memfd_create("fuzz", 0);
        is_open = fd >= 0 && dup2(fd, PLACE) == PLACE;
        close(fd);
    }
    return is_open && ftruncate(PLACE, 0) == 0 &&
           pwrite(PLACE, file.data, file.size, 0) == (ssize_t)file.size;
}

static enum wndl_status visit(
    void *context, const struct wndl_dwarf_function *function)
{
    (void)context;
    if (function->range_count == 0)
        abort();
    for (size_t i = 0; i < function->range_count; i++)
        if (i > 0 &&
            function->ranges[i].start.v < function->ranges[i - 1].start.v)
            abort();
    return WNDL_OK;
}

/* Where answers change is inside of the range. */
static void look_for_changes(
    struct wndl_debug_map *map, const struct wndl_macho_linked *linked)
{
    struct wndl_arena arena;
    struct wndl_vec places;
    const struct wndl_dwarf_range range = {{linked->start}, {linked->end}};
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&places, &arena, sizeof(uint64_t));
    (void)!wndl_debug_map_changes(map, range, &places);
    for (size_t i = 0; i < places.len; i++) {
        uint64_t at = *(uint64_t *)wndl_vec_at(&places, i);
        if (at < linked->start || at > linked->end)
            abort();
    }
    wndl_arena_free(&arena);
}

static void look_up(
    struct wndl_debug_map *map, const struct wndl_macho_linked *linked)
{
    for (uint64_t i = 0; i < 64; i += 5) {
        struct wndl_dwarf_frames frames;
        wndl_svma addr = {linked->start + i};
        if (wndl_debug_map_lookup(map, addr, &frames) == WNDL_OK &&
            frames.count == 0)
            abort();
    }
}

static void use(const struct wndl_object *image, struct wndl_debug_map *map)
{
    enum { MOST = 16 };
    struct wndl_arena arena;
    struct wndl_macho_map pieces;
    struct wndl_dwarf_stats stats;
    wndl_arena_init(&arena, wndl_mem_libc());
    if (wndl_macho_read_map(image, &arena, &pieces, NULL) != WNDL_OK)
        abort();
    for (size_t i = 0; i < pieces.linked_count && i < MOST; i++) {
        look_up(map, &pieces.linked[i]);
        look_for_changes(map, &pieces.linked[i]);
    }
    (void)!wndl_debug_map_visit_functions(map, visit, NULL);
    wndl_debug_map_get_stats(map, &stats);
    if (stats.files_missing != 0 && stats.first_missing.what[0] == '\0')
        abort();
    wndl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const nowhere[] = {NULL};
    struct wndl_object *image;
    struct wndl_debug_map *map;
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){data, size}, 0, false);
    uint32_t image_size = wndl_cursor_u32(&c);
    struct wndl_bytes first = {wndl_cursor_take(&c, image_size), image_size};
    if (c.failed || wndl_cursor_left(&c) == 0)
        return 0;
    struct wndl_bytes file = {first.data + image_size, wndl_cursor_left(&c)};
    if (!place_file(file) || wndl_object_open(first, "fuzz", wndl_mem_libc(),
                                 &image, NULL) != WNDL_OK)
        return 0;
    if (wndl_debug_map_open(image, nowhere, wndl_mem_libc(), &map) == WNDL_OK &&
        map != NULL)
        use(image, map);
    wndl_debug_map_close(map);
    wndl_object_close(image);
    return 0;
}
