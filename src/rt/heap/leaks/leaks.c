/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/leaks.h"

#include "os/raw.h"
#include "rt/core/child.h"
#include "rt/core/read_parts.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/leaks/areas.h"
#include "rt/heap/leaks/copy.h"
#include "rt/heap/leaks/follow.h"
#include "rt/heap/leaks/roots.h"
#include "rt/heap/leaks/scan.h"

#include <sys/mman.h>
#include <sys/uio.h>

enum { RESERVED = 512 };

/*
 * A search. Two mappings hold all that it needs, which is some bits for most
 * blocks: the table of blocks has the rest.
 */
struct search {
    const struct wndl_rt_leak_search *wanted;
    const struct wndl_rt_root *roots;
    size_t root_count;
    struct wndl_rt_areas areas;
    struct wndl_rt_follower follower;
    struct wndl_rt_registers *registers; /* room for them, in `memory` */
    uint8_t *memory, *more;
    size_t more_size;
};

/* ---- roots */

static void follow_root(void *context, const struct wndl_rt_root_range *range)
{
    struct search *s = context;
    wndl_rt_follow_push(
        &s->follower, range->start, range->end, WNDL_RT_REACHED);
    wndl_rt_follow(&s->follower);
}

/* ---- unreached blocks */

static void follow_leaks(struct search *s, struct wndl_rt_area *a)
{
    uintptr_t start;
    for (uintptr_t at = a->bitmap.low;
         wndl_rt_block_bitmap_after(&a->bitmap, at, &start);
         at = start + WNDL_RT_BLOCK_ALIGNMENT) {
        if (wndl_rt_block_bitmap_mark(&a->bitmap, start) != WNDL_RT_UNREACHED)
            continue;
        s->follower.leader = start;
        wndl_rt_block_bitmap_set_mark(&a->bitmap, start, WNDL_RT_DEFINITE);
        wndl_rt_follow_push(&s->follower, start,
            start + wndl_rt_areas_size_at(&s->areas, start), WNDL_RT_INDIRECT);
        wndl_rt_follow(&s->follower);
    }
}

/* Most sites have no leaks. Memory that is not written to stays unmapped. */
static void add_leak(void *context, const struct wndl_rt_block *b)
{
    struct search *s = context;
    uintptr_t start = (uintptr_t)b->address;
    if (b->generation != s->wanted->generation)
        return;
    const struct wndl_rt_area *a = wndl_rt_areas_heap_before(&s->areas, start);
    if (a == NULL || !wndl_rt_block_bitmap_has(&a->bitmap, start))
        return;
    enum wndl_rt_reach state = wndl_rt_block_bitmap_mark(&a->bitmap, start);
    if (state == WNDL_RT_REACHED)
        return;
    struct wndl_heap_leaks *leaks = &s->wanted->leaks[b->site];
    leaks->definite += state == WNDL_RT_DEFINITE;
    leaks->indirect += state == WNDL_RT_INDIRECT;
    leaks->possible += state == WNDL_RT_POSSIBLE;
}

/* ---- memory */

static uint8_t *map(size_t size)
{
    return wndl_raw_map(size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static bool make_room(struct search *s)
{
    struct wndl_rt_areas *a = &s->areas;
    struct wndl_rt_follower *f = &s->follower;
    enum { ALL = WNDL_RT_COPIED + 2 * WNDL_RT_WORDS_ROOM * sizeof *f->found };
    size_t areas = s->wanted->most_mappings;
    const size_t threads =
        s->wanted->asks_threads
            ? WNDL_RT_ASKED_MOST * sizeof(struct wndl_rt_registers)
            : 0;
    a->ours_size =
        wndl_round_up_page(areas * sizeof *a->all + ALL +
                           WNDL_RT_PARTS * sizeof *f->parts + threads);
    s->memory = map(a->ours_size);
    if (s->memory == NULL)
        return false;
    a->ours = (uintptr_t)s->memory;
    a->all = (struct wndl_rt_area *)(void *)s->memory;
    f->copied = (uintptr_t *)(void *)(a->all + areas);
    f->found = f->copied + WNDL_RT_COPIED_WORDS;
    f->ordered = f->found + WNDL_RT_WORDS_ROOM;
    f->parts = (struct iovec *)(void *)(f->ordered + WNDL_RT_WORDS_ROOM);
    s->registers = (void *)(f->parts + WNDL_RT_PARTS);
    return true;
}

/* Makes room for the blocks that were counted. */
static bool make_more_room(struct search *s)
{
    size_t pending =
        (s->areas.block_room + RESERVED) * sizeof(struct wndl_rt_part);
    s->more_size = 2 * pending + wndl_rt_areas_heap_size(&s->areas);
    s->more = map(s->more_size);
    if (s->more == NULL)
        return false;
    s->follower.sure.parts = (struct wndl_rt_part *)(void *)s->more;
    s->follower.possible.parts =
        (struct wndl_rt_part *)(void *)(s->more + pending);
    wndl_rt_areas_make_heaps(&s->areas, s->more + 2 * pending);
    return true;
}

/* ---- the whole search */

static void find_lost(struct search *s)
{
    wndl_rt_roots_each(&s->areas, s->roots, s->root_count, follow_root, s);
    for (size_t i = 0; i < s->areas.heap_count; i++)
        follow_leaks(s, s->areas.heaps[i]);
    wndl_rt_blocks_each(add_leak, s);
}

static void search_all(void *search)
{
    struct search *s = search;
    s->areas.near = s->areas.heaps[0];
    if (s->wanted->leaks != NULL)
        find_lost(s);
    if (s->wanted->scan != NULL)
        wndl_rt_heap_scan(
            &s->areas, s->roots, s->root_count, s->follower.copied);
}

static bool search_here(struct search *s)
{
    const bool is_bounded = wndl_rt_areas_look_at_pages(&s->areas, MAP_PRIVATE);
    if (is_bounded)
        search_all(s);
    wndl_rt_areas_forget_pages(&s->areas);
    return is_bounded;
}

/* Makes the heaps of the blocks that were counted. */
static void add_blocks(struct search *s)
{
    struct wndl_rt_areas *a = &s->areas;
    a->near = a->heaps[0];
    a->filter.low = a->near->bitmap.low;
    wndl_rt_blocks_each(wndl_rt_areas_add, a);
    wndl_rt_areas_find_gap(a);
}

/* False: not searched. */
static bool search_among_blocks(struct search *s)
{
    bool is_searched = true;
    struct wndl_rt_areas *a = &s->areas;
    add_blocks(s);
    if (!wndl_rt_copy_is_wanted(a) ||
        !wndl_rt_copy_search(&s->follower, search_all, s))
        is_searched = !a->own.too_many && search_here(s);
    wndl_raw_unmap(s->more, s->more_size);
    return is_searched;
}

/* ---- a scan that the program does not wait for */

/* For a copy: counts and scans. The memory ends with the copy. */
static void scan_in_copy(void *search)
{
    struct search *s = search;
    s->areas.is_copy = true;
    wndl_rt_blocks_each(wndl_rt_areas_count, &s->areas);
    if (s->areas.block_room == 0) {
        wndl_rt_heap_scan_nothing(&s->areas);
        return;
    }
    if (!make_more_room(s))
        wndl_rt_child_exit(1);
    add_blocks(s);
    search_all(s);
}

static bool scan_copy(struct search *s)
{
    for (size_t i = 0; i < s->areas.count; i++)
        s->areas.all[i].may_have_blocks = true;
    return wndl_rt_copy_is_possible(&s->areas) &&
           wndl_rt_copy_leave(&s->areas, scan_in_copy, s);
}

/* If nothing can be read, all blocks would seem lost. */
static bool can_read(struct search *s)
{
    struct iovec probe = {s, sizeof *s};
    return wndl_rt_read_parts(s->follower.copied, WNDL_RT_COPIED, &probe, 1) ==
           sizeof *s;
}

bool wndl_rt_heap_find_leaks(const struct wndl_rt_leak_search *wanted,
    const struct wndl_rt_root *roots, size_t count)
{
    struct search s = {
        .wanted = wanted,
        .roots = roots,
        .root_count = count,
        .areas = {.wanted = wanted,
            .filter = {.tags = wanted->pointer_tags,
                .has_avx2 = wndl_rt_pointer_filter_has_avx2()}},
        .follower.areas = &s.areas,
    };
    if (wndl_rt_is_careful() || !make_room(&s))
        return false;
    s.areas.threads = s.registers;
    if (wanted->asks_threads)
        s.areas.thread_count = wndl_rt_registers_ask(s.registers);
    wndl_rt_own_pages_begin(&s.areas.own);
    wndl_rt_blocks_settle();
    bool known = can_read(&s) && wndl_rt_areas_list(&s.areas);
    const bool is_left =
        known && wanted->leaks == NULL && wanted->scan != NULL && scan_copy(&s);
    if (known && !is_left) {
        wndl_rt_blocks_each(wndl_rt_areas_count, &s.areas);
        known = s.areas.block_room == 0 || make_more_room(&s);
    }
    if (known && s.areas.block_room != 0)
        known = search_among_blocks(&s);
    else if (known && !is_left && wanted->scan != NULL)
        wndl_rt_heap_scan_nothing(&s.areas);
    wndl_rt_own_pages_end(&s.areas.own);
    wndl_raw_unmap(s.memory, s.areas.ours_size);
    return known;
}
