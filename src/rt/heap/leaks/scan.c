/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/scan.h"

#include "os/dlfind.h"
#include "os/raw.h"
#include "rt/core/read_parts.h"
#include "rt/heap/leaks/contents.h"
#include "rt/heap/leaks/follow.h"
#include "rt/heap/leaks/roots.h"
#include "rt/heap/leaks/stack_parts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ULEB_MOST = 10, /* bytes of a number */
    BITS = 64,
    PATH_MOST = 4096,
    AT_ONCE = 1 << 20, /* bytes: then it may be given up */
    FOUND = 64,        /* finds that wait for what was fetched for them */
    ROOT_DATA = 0,
    ROOT_STACK = 1,
    ROOT_OTHER = 2,
    ROOT_REGISTERS = 3,
    ROOT_FRAME = 4,
};

enum found_kind {
    FOUND_BLOCK,   /* `at` its start, `word` its site, as it is written */
    FOUND_POINTER, /* a word that may be one: `at` its address */
    FOUND_END,     /* of the block or root */
};

struct found {
    enum found_kind kind;
    uintptr_t at, word;
};

struct scan {
    struct wndl_rt_areas *areas;
    /* From `written` to `found` they are not written yet. */
    struct found finds[FOUND];
    size_t found, written;
    uintptr_t *copied;
    uintptr_t copied_at; /* so many bytes from here on are in `copied` */
    size_t copied_size;
    uint8_t *next, *end;
    bool is_full, is_given_up;
    uint32_t *ranks; /* of all areas */
    size_t ranks_size;
    /* By number of the block: its site, + 1; 0: it is gone; UINT32_MAX: not
     * known, after a fork. */
    uint32_t *sites;
    size_t sites_size;
    uint32_t begun;  /* number of blocks whose memory was read */
    uintptr_t block; /* the last one that was written */
    uint32_t number; /* of blocks that were written */
    /* The start of the block or root that is read, the word before its next
     * pointer, and the last target. */
    uintptr_t start;
    uint64_t word, target;
    char executable[PATH_MOST];
    struct wndl_rt_stack_parts *parts; /* of the stack that is read; NULL: no
                                        * memory */
    uint32_t nodes;                    /* the highest that a root names */
};

/* ---- numbers */

static void put(struct scan *s, uint64_t value)
{
    if (s->end - s->next < ULEB_MOST) {
        s->is_full = true;
        return;
    }
    for (; value >= 0x80; value >>= 7)
        *s->next++ = (uint8_t)(value | 0x80);
    *s->next++ = (uint8_t)value;
}

/* Whether the rest is left out. */
static bool has_ended(struct scan *s)
{
    const struct wndl_rt_leak_search *wanted = s->areas->wanted;
    s->is_given_up |= wanted->scan_given_up != NULL &&
                      atomic_load_explicit(wanted->scan_given_up,
                          memory_order_relaxed) == wanted->scan_answers;
    return s->is_full || s->is_given_up;
}

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ -(difference >> 63);
}

/* ---- the numbers of blocks */

static size_t words_of(const struct wndl_rt_area *a)
{
    const struct wndl_rt_block_bitmap *b = &a->bitmap;
    return (b->high - b->low) / WNDL_RT_BLOCK_ALIGNMENT / BITS + 1;
}

static uint32_t count_area(struct wndl_rt_area *a, uint32_t before)
{
    const size_t words = words_of(a);
    for (size_t i = 0; i < words; i++) {
        const uint64_t bits = a->bitmap.levels[0][i];
        if (bits == 0)
            continue;
        a->ranks[i] = before;
        before += (uint32_t)__builtin_popcountll(bits);
    }
    return before;
}

/* Returns the number of blocks, or UINT32_MAX without memory. */
static uint32_t number_blocks(struct scan *s)
{
    struct wndl_rt_areas *a = s->areas;
    for (size_t i = 0; i < a->heap_count; i++)
        s->ranks_size += words_of(a->heaps[i]) * sizeof *s->ranks;
    s->ranks = wndl_raw_map(s->ranks_size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (s->ranks == NULL)
        return UINT32_MAX;
    uint32_t *at = s->ranks;
    uint32_t count = 0;
    for (size_t i = 0; i < a->heap_count; i++) {
        a->heaps[i]->ranks = at;
        at += words_of(a->heaps[i]);
        count = count_area(a->heaps[i], count);
    }
    return count;
}

static uint32_t number_of(const struct wndl_rt_area *a, uintptr_t start)
{
    const size_t bit = (start - a->bitmap.low) / WNDL_RT_BLOCK_ALIGNMENT;
    const uint64_t before =
        a->bitmap.levels[0][bit / BITS] & ((UINT64_C(1) << bit % BITS) - 1);
    return a->ranks[bit / BITS] + (uint32_t)__builtin_popcountll(before);
}

/* ---- the sites of blocks */

static void keep_site(void *context, const struct wndl_rt_block *b)
{
    struct scan *s = context;
    const uintptr_t start = (uintptr_t)b->address;
    const struct wndl_rt_area *a = wndl_rt_areas_heap_before(s->areas, start);
    if (a == NULL || !wndl_rt_block_bitmap_has(&a->bitmap, start))
        return;
    const bool is_known = b->generation == s->areas->wanted->generation;
    s->sites[number_of(a, start)] = is_known ? b->site + 1 : UINT32_MAX;
}

/*
 * The table is in no order, so that a look-up of each block waits for memory.
 * False without memory.
 */
static bool keep_sites(struct scan *s, uint32_t blocks)
{
    s->sites_size = ((size_t)blocks + 1) * sizeof *s->sites;
    s->sites = wndl_raw_map(s->sites_size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (s->sites != NULL)
        wndl_rt_blocks_each(keep_site, s);
    return s->sites != NULL;
}

/* Usable bytes of a block; a word if they are not known. */
static size_t size_of(const struct scan *s, uint32_t number)
{
    const uint32_t site = s->sites[number];
    if (site == 0 || site == UINT32_MAX)
        return site == 0 ? 0 : sizeof(uintptr_t);
    return (size_t)(s->areas->wanted->sites[site - 1].usable - 1);
}

/* ---- what is found, in its order */

/*
 * As in the search, the last word of a block may be the allocator's. Here, but
 * not there, a pointer to the end of a block leads to it: one past the last
 * element of an array. If another block starts there, that was found before.
 */
static bool leads_into(const struct scan *s, size_t into, uint32_t number)
{
    const size_t size = size_of(s, number);
    return into <= size && into != size - sizeof(uintptr_t);
}

static void take_word(struct scan *s, uintptr_t at, uintptr_t word)
{
    uintptr_t start = word;
    const struct wndl_rt_area *a = wndl_rt_areas_heap_before(s->areas, word);
    if (a == NULL || word > a->high ||
        (!wndl_rt_block_bitmap_has(&a->bitmap, word) &&
            !wndl_rt_block_bitmap_before(&a->bitmap, word, &start)) ||
        start == s->start)
        return;
    const uint32_t target = number_of(a, start);
    if (word != start && !leads_into(s, word - start, target))
        return;
    const uint64_t place = (at - s->start) / sizeof word + 1;
    put(s, place - s->word);
    put(s, zigzag(target - s->target) << 1 | (word != start));
    s->word = place;
    s->target = target;
}

static void write_head(struct scan *s, uintptr_t start, uint64_t site)
{
    put(s, (start - s->block) / WNDL_RT_BLOCK_ALIGNMENT);
    put(s, site);
    s->block = s->start = start;
    s->word = 0;
    s->target = s->number++;
}

static void write_first(struct scan *s)
{
    const struct found *f = &s->finds[s->written++ % FOUND];
    if (f->kind == FOUND_POINTER)
        take_word(s, f->at, f->word);
    else if (f->kind == FOUND_BLOCK)
        write_head(s, f->at, f->word);
    else
        put(s, 0);
}

static void write_all(struct scan *s)
{
    while (s->written != s->found)
        write_first(s);
}

static void add_found(
    struct scan *s, enum found_kind kind, uintptr_t at, uintptr_t word)
{
    if (s->found - s->written == FOUND)
        write_first(s);
    s->finds[s->found++ % FOUND] = (struct found){kind, at, word};
}

/* Pointers lead anywhere: data on their targets comes while others wait. */
static void fetch_target(struct scan *s, uintptr_t word)
{
    const struct wndl_rt_area *a = wndl_rt_areas_heap_before(s->areas, word);
    if (a == NULL || word > a->bitmap.high)
        return;
    const size_t bit = (word - a->bitmap.low) / WNDL_RT_BLOCK_ALIGNMENT;
    __builtin_prefetch(&a->bitmap.levels[0][bit / BITS]);
    __builtin_prefetch(&a->ranks[bit / BITS]);
}

/* ---- words */

static void take_words(
    struct scan *s, uintptr_t at, const uintptr_t *words, size_t count)
{
    const struct wndl_rt_pointer_filter *f = &s->areas->filter;
    for (size_t i = 0; i < count; i++) {
        const uintptr_t word = words[i] & ~f->tags;
        const bool is_between = word > f->gap && word < f->gap_end;
        if (word - f->low > f->high - f->low || is_between)
            continue;
        fetch_target(s, word);
        add_found(s, FOUND_POINTER, at + i * sizeof word, word);
    }
}

/*
 * Reads by the kernel from `at` on, which is a whole word. As blocks come in
 * the order of their addresses, what follows is mostly wanted next.
 */
static void copy_from(struct scan *s, uintptr_t at)
{
    size_t size = WNDL_RT_COPIED;
    (void)wndl_rt_areas_pages_at(s->areas, at, &size);
    const struct iovec part = {(void *)at, size};
    s->copied_at = at;
    s->copied_size = wndl_rt_read_parts(s->copied, WNDL_RT_COPIED, &part, 1) &
                     ~(sizeof at - 1);
}

/* Returns the bytes to go on after. */
static size_t take_copied(struct scan *s, uintptr_t at, size_t size)
{
    if (at - s->copied_at >= s->copied_size)
        copy_from(s, at);
    const size_t before = at - s->copied_at;
    if (before >= s->copied_size) {
        const size_t page = (at | (WNDL_RT_PAGE - 1)) + 1 - at;
        return page < size ? page : size;
    }
    const size_t left = s->copied_size - before;
    const size_t got = size < left ? size : left;
    take_words(s, at, s->copied + before / sizeof at, got / sizeof at);
    return got;
}

static void take_memory(struct scan *s, uintptr_t start, uintptr_t end)
{
    enum { DOWN = sizeof(uintptr_t) - 1 };
    uintptr_t at = (start + DOWN) & ~(uintptr_t)DOWN;
    end &= ~(uintptr_t)DOWN;
    while (at < end && !has_ended(s)) {
        size_t size = end - at;
        if (size > AT_ONCE)
            size = AT_ONCE;
        switch (wndl_rt_areas_pages_at(s->areas, at, &size)) {
        case WNDL_RT_PAGE_OTHER:
            size = take_copied(s, at, size);
            break;
        case WNDL_RT_PAGE_PRESENT:
            take_words(s, at, (const uintptr_t *)at, size / sizeof at);
            break;
        default:
            break;
        }
        at += size;
    }
    add_found(s, FOUND_END, end, 0);
}

/* ---- blocks */

static void put_block(struct scan *s, uintptr_t start)
{
    const uint32_t number = s->begun++, site = s->sites[number];
    add_found(s, FOUND_BLOCK, start, site == UINT32_MAX ? 0 : site);
    take_memory(s, start, start + size_of(s, number));
}

static void put_blocks(struct scan *s, const struct wndl_rt_area *a)
{
    uintptr_t start;
    for (uintptr_t at = a->bitmap.low;
         !has_ended(s) && wndl_rt_block_bitmap_after(&a->bitmap, at, &start);
         at = start + WNDL_RT_BLOCK_ALIGNMENT)
        put_block(s, start);
}

/* ---- roots */

static void put_path(struct scan *s, const char *path)
{
    const size_t size = path == NULL ? 0 : strlen(path);
    put(s, size);
    if ((size_t)(s->end - s->next) < size)
        s->is_full = true;
    for (size_t i = 0; i < size && !s->is_full; i++)
        *s->next++ = (uint8_t)path[i];
}

/* The main program's name is empty in the loader's list. */
static void find_executable(struct scan *s)
{
    const long size = wndl_raw4(SYS_readlinkat, AT_FDCWD,
        (long)"/proc/self/exe", (long)s->executable, PATH_MOST - 1);
    s->executable[size > 0 ? size : 0] = '\0';
}

static const char *path_of(
    const struct scan *s, const struct wndl_dlmodule *module)
{
    return module->name != NULL && module->name[0] == '\0' ? s->executable
                                                           : module->name;
}

static uint64_t kind_of(const struct wndl_rt_root_range *range, bool is_data)
{
    switch (range->kind) {
    case WNDL_RT_ROOT_STACK:
        return ROOT_STACK;
    case WNDL_RT_ROOT_REGISTERS:
        return ROOT_REGISTERS;
    default:
        return is_data ? ROOT_DATA : ROOT_OTHER;
    }
}

static void put_memory_of_root(
    struct scan *s, uintptr_t start, uintptr_t end, uint8_t *before)
{
    s->start = start & ~(uintptr_t)(sizeof start - 1);
    s->word = s->target = 0;
    take_memory(s, start, end);
    write_all(s);
    if (s->word == 0)
        s->next = before;
}

/* ---- parts of stacks */

/*
 * Where the stack's walk starts; NULL: it is not known. A thread that runs on
 * may end, and its stack with it.
 */
static const struct wndl_regs *regs_of(
    const struct scan *s, const struct wndl_rt_root_range *range)
{
    const struct wndl_rt_leak_search *wanted = s->areas->wanted;
    const struct wndl_regs *regs = NULL;
    if (range->tid == wanted->tid)
        regs = wanted->regs;
    const size_t threads = s->areas->is_copy ? s->areas->thread_count : 0;
    for (size_t i = 0; i < threads && regs == NULL; i++) {
        const struct wndl_rt_registers *t = &s->areas->threads[i];
        if (t->tid == range->tid && atomic_load(&t->answered))
            regs = &t->regs;
    }
    return regs != NULL && regs->sp >= range->start && regs->sp < range->end
               ? regs
               : NULL;
}

/* In place of the path: the node of the innermost frame, and how many callers
 * up from it. */
static void put_frame(
    struct scan *s, uintptr_t start, uintptr_t end, int tid, size_t depth)
{
    uint8_t *const before = s->next;
    put(s, ROOT_FRAME);
    put(s, start);
    put(s, end - start);
    put(s, (uintptr_t)tid);
    uint8_t *const size = s->next;
    put(s, 0);
    put(s, s->parts->node);
    put(s, depth);
    if (!s->is_full)
        *size = (uint8_t)(s->next - size - 1);
    put_memory_of_root(s, start, end, before);
    if (s->next != before && s->nodes < s->parts->node)
        s->nodes = s->parts->node;
}

/* False: it is put as one root. */
static bool put_parts(struct scan *s, const struct wndl_rt_root_range *range)
{
    const struct wndl_regs *regs = regs_of(s, range);
    if (s->parts == NULL || regs == NULL ||
        !wndl_rt_stack_parts_fill(
            s->parts, regs, regs == s->areas->wanted->regs, range->end))
        return false;
    uintptr_t start = range->start & ~(uintptr_t)(sizeof start - 1);
    for (size_t i = 0; i < s->parts->count && !has_ended(s); i++) {
        if (start < s->parts->ends[i])
            put_frame(s, start, s->parts->ends[i], range->tid, i);
        start = s->parts->ends[i];
    }
    return true;
}

static void put_root(void *context, const struct wndl_rt_root_range *range)
{
    struct scan *s = context;
    struct wndl_dlmodule module;
    if (has_ended(s) ||
        (range->kind == WNDL_RT_ROOT_STACK && put_parts(s, range)))
        return;
    const bool is_data = range->kind == WNDL_RT_ROOT_MEMORY &&
                         wndl_dlfind(range->start, &module);
    const uintptr_t start = range->start & ~(uintptr_t)(sizeof start - 1);
    uint8_t *const before = s->next;
    put(s, kind_of(range, is_data));
    put(s, start);
    put(s, range->end - start);
    put(s, is_data ? start - (uintptr_t)module.bias.v : (uintptr_t)range->tid);
    put_path(s, is_data ? path_of(s, &module) : NULL);
    put_memory_of_root(s, range->start, range->end, before);
}

/* ---- all */

static void scan_all(
    struct scan *s, const struct wndl_rt_root *early, size_t count)
{
    s->areas->near = s->areas->heaps[0];
    for (size_t i = 0; i < s->areas->heap_count && !has_ended(s); i++)
        put_blocks(s, s->areas->heaps[i]);
    write_all(s);
    wndl_rt_roots_each(s->areas, early, count, put_root, s);
}

static enum wndl_heap_scan_state state_of(const struct scan *s)
{
    return s->is_given_up ? WNDL_HEAP_SCAN_GIVEN_UP
           : s->is_full   ? WNDL_HEAP_SCAN_TOO_LARGE
                          : WNDL_HEAP_SCAN_DONE;
}

/* After the scan itself, if there is room. */
static void hand_over(struct scan *s, struct wndl_heap_scan *head)
{
    const uint64_t used = (uintptr_t)s->next - (uintptr_t)head;
    const uint64_t offset = wndl_round_up_page((size_t)used);
    head->has_contents = 0;
    if (s->areas->wanted->contents_taken != NULL && !has_ended(s) &&
        WNDL_HEAP_SCAN_MOST - offset >= WNDL_HEAP_WINDOW)
        wndl_rt_contents_hand_over(
            s->areas, (uint8_t *)head + offset, offset, s->copied);
}

/* How long the program has waited: of a copy not at all. */
static uint64_t time_stopped(const struct wndl_rt_areas *areas)
{
    const uint64_t begun = areas->wanted->begun;
    return begun == 0 || areas->is_copy
               ? 0
               : wndl_raw_clock_ns(CLOCK_MONOTONIC) - begun;
}

static void answer(const struct wndl_rt_areas *areas,
    enum wndl_heap_scan_state state, uint64_t bytes)
{
    struct wndl_heap_scan *scan = areas->wanted->scan;
    scan->state = state;
    scan->bytes = bytes;
    scan->stopped = time_stopped(areas);
    atomic_store(&scan->answers, areas->wanted->scan_answers);
}

void wndl_rt_heap_scan(struct wndl_rt_areas *areas,
    const struct wndl_rt_root *early, size_t count, uintptr_t *copied)
{
    struct wndl_heap_scan *head = areas->wanted->scan;
    uint8_t *const begin = (uint8_t *)head + WNDL_RT_PAGE;
    struct scan s = {
        .areas = areas,
        .copied = copied,
        .next = begin,
        /* On 32-bit machines there is no scan, and no such address. */
        .end = (uint8_t *)((uintptr_t)head + (uintptr_t)WNDL_HEAP_SCAN_MOST),
    };
    const uint32_t blocks = number_blocks(&s);
    if (blocks == UINT32_MAX)
        return;
    if (!keep_sites(&s, blocks)) {
        wndl_raw_unmap(s.ranks, s.ranks_size);
        return;
    }
    find_executable(&s);
    s.parts = wndl_raw_map(sizeof *s.parts, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1);
    put(&s, blocks);
    scan_all(&s, early, count);
    wndl_raw_unmap(s.sites, s.sites_size);
    wndl_raw_unmap(s.ranks, s.ranks_size);
    if (s.parts != NULL)
        wndl_raw_unmap(s.parts, sizeof *s.parts);
    hand_over(&s, head);
    head->nodes = s.nodes;
    answer(areas, state_of(&s), (uint64_t)(s.next - begin));
}

void wndl_rt_heap_scan_nothing(const struct wndl_rt_areas *areas)
{
    uint8_t *const begin = (uint8_t *)areas->wanted->scan + WNDL_RT_PAGE;
    *begin = 0;
    answer(areas, WNDL_HEAP_SCAN_DONE, 1);
}
