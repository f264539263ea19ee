/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/copy.h"

#include "os/raw.h"
#include "rt/core/child.h"
#include "rt/core/read_parts.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum {
    COPY_FROM = 4 * 1024, /* blocks: below it no copy is made */
    WIPED_MOST = 16,      /* pages, which may be the state of random numbers */
};

static bool copy_lacks(const struct wndl_rt_areas *s)
{
    return s->wanted->scan != NULL && atomic_load(&s->wanted->scan->copy_lacks);
}

/* A sandbox may end the process for a fork. */
bool wndl_rt_copy_is_possible(const struct wndl_rt_areas *s)
{
    return s->own.pagemap >= 0 && !copy_lacks(s) &&
           wndl_raw3(SYS_prctl, PR_GET_SECCOMP, 0, 0) == 0;
}

/* A search that is waited for is as fast in place. */
bool wndl_rt_copy_is_wanted(const struct wndl_rt_areas *s)
{
    return !s->own.in_place && s->block_room >= COPY_FROM &&
           wndl_rt_copy_is_possible(s);
}

/* Drops all results, because a copy may have written only a part. */
static void take_back(const struct wndl_rt_areas *s)
{
    uint32_t count = atomic_load(s->wanted->site_count);
    count = count < s->wanted->most_sites ? count : s->wanted->most_sites;
    for (uint32_t i = 0; i < count; i++) {
        struct wndl_heap_leaks *leaks = &s->wanted->leaks[i];
        if ((leaks->definite | leaks->indirect | leaks->possible) != 0)
            *leaks = (struct wndl_heap_leaks){0};
    }
}

/*
 * For a copy: whether it has all areas. Memory that a fork omits
 * (MADV_DONTFORK, devices' mappings), or that was unmapped before, leads to
 * nothing there. Blocks to which only that points would seem lost.
 */
static bool has_all_areas(const struct wndl_rt_areas *s)
{
    uint8_t resident;
    for (size_t i = 0; i < s->count; i++) {
        const struct wndl_rt_area *a = &s->all[i];
        if ((a->is_read || a->blocks != 0) &&
            wndl_raw3(SYS_mincore, (long)wndl_rt_area_page(a, 0), WNDL_RT_PAGE,
                (long)&resident) == -ENOMEM)
            return false;
    }
    return true;
}

/* The first touched page. If there is none, the result does not matter. */
static uint8_t *first_touched(const struct wndl_rt_area *a)
{
    const size_t last = a->states.count - 1;
    return &a->states.pages[wndl_rt_pages_next_touched(&a->states, 0, last)];
}

/*
 * For a copy: reports to the process the pages wiped in the copy
 * (MADV_WIPEONFORK). In a mapping all of them are, or none.
 */
static void note_wiped(const struct wndl_rt_areas *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct wndl_rt_area *a = &s->all[i];
        if (a->states.pages == NULL)
            continue;
        uint8_t resident = 1, *page = first_touched(a);
        uintptr_t at = wndl_rt_area_page(a, (size_t)(page - a->states.pages));
        if (*page == WNDL_RT_PAGE_PRESENT &&
            wndl_raw3(SYS_mincore, (long)at, WNDL_RT_PAGE, (long)&resident) ==
                0 &&
            (resident & 1) == 0)
            *page = WNDL_RT_PAGE_WIPED;
    }
}

/* Whether more is wiped than may be passed over without a search. */
static bool has_wiped_much(const struct wndl_rt_areas *s)
{
    size_t wiped = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct wndl_rt_area *a = &s->all[i];
        if (a->states.pages == NULL || *first_touched(a) != WNDL_RT_PAGE_WIPED)
            continue;
        for (size_t page = 0; page < a->states.count; page++)
            wiped += a->states.pages[page] != WNDL_RT_PAGE_UNTOUCHED;
    }
    return wiped > WIPED_MOST;
}

static bool is_in_block(struct wndl_rt_follower *s, uintptr_t word)
{
    uintptr_t start;
    const struct wndl_rt_area *a = wndl_rt_areas_heap_before(s->areas, word);
    return a != NULL && word < a->high &&
           wndl_rt_block_bitmap_before(&a->bitmap, word, &start) &&
           word - start < wndl_rt_areas_size_at(s->areas, start);
}

static bool leads_to_blocks(
    struct wndl_rt_follower *s, const struct wndl_rt_area *a)
{
    const size_t count = a->states.count;
    for (size_t i = 0; i < count; i++) {
        i = wndl_rt_pages_next_touched(&a->states, i, count);
        struct iovec page = {(void *)wndl_rt_area_page(a, i), WNDL_RT_PAGE};
        if (i == count)
            break;
        size_t got = wndl_rt_read_parts(s->copied, WNDL_RT_COPIED, &page, 1);
        size_t kept = wndl_rt_pointer_filter_keep(
            &s->areas->filter, s->copied, got / sizeof *s->copied, s->found);
        for (size_t k = 0; k < kept; k++) {
            if (is_in_block(s, s->found[k]))
                return true;
        }
    }
    return false;
}

/*
 * Wiped memory is mostly the state of random numbers, without the address of
 * any block. Whether that is so.
 */
static bool was_wiped_in_vain(struct wndl_rt_follower *s)
{
    s->areas->near = s->areas->heaps[0];
    for (size_t i = 0; i < s->areas->count; i++) {
        const struct wndl_rt_area *a = &s->areas->all[i];
        if (a->states.pages != NULL &&
            *first_touched(a) == WNDL_RT_PAGE_WIPED && leads_to_blocks(s, a))
            return false;
    }
    return true;
}

struct copied {
    const struct wndl_rt_areas *areas;
    void (*search)(void *context);
    void *context;
};

/* For a copy that nobody waits for. The next allocation makes the scan. */
static _Noreturn void ask_for_scan_in_place(
    const struct wndl_rt_leak_search *wanted)
{
    atomic_store(&wanted->scan->copy_lacks, 1);
    atomic_store(wanted->scan_begun, wanted->scan_answers - 1);
    wndl_rt_child_exit(1);
}

static _Noreturn void be_copy(const struct copied *c)
{
    const struct wndl_rt_leak_search *wanted = c->areas->wanted;
    wndl_rt_child_leave_no_core();
    wndl_rt.pid = wndl_raw_getpid();
    const bool has_all = has_all_areas(c->areas);
    note_wiped(c->areas);
    if (wanted->scan_begun != NULL && (!has_all || has_wiped_much(c->areas)))
        ask_for_scan_in_place(wanted);
    if (!has_all)
        wndl_rt_child_exit(1);
    c->search(c->context);
    wndl_rt_child_exit(0);
}

/* Which pages there are is asked when the table of blocks moves no more. */
static long fork_holding_blocks(struct wndl_rt_areas *areas)
{
    wndl_rt_blocks_hold_all();
    const long copy = wndl_rt_areas_look_at_pages(areas, MAP_SHARED)
                          ? wndl_rt_child_fork_alone()
                          : -1;
    wndl_rt_blocks_leave_all();
    return copy;
}

/*
 * A page that was readable a moment ago and is not in the copy ends the copy,
 * and no more.
 */
bool wndl_rt_copy_search(
    struct wndl_rt_follower *s, void (*search)(void *context), void *context)
{
    struct wndl_rt_areas *areas = s->areas;
    wndl_rt_own_pages_begin_copy(&areas->own);
    const long copy = fork_holding_blocks(areas);
    if (copy == 0)
        be_copy(&(struct copied){areas, search, context});
    wndl_rt_own_pages_end_copy(&areas->own);
    bool found =
        copy > 0 && wndl_rt_child_wait(copy) == 0 && was_wiped_in_vain(s);
    wndl_rt_areas_forget_pages(areas);
    if (copy > 0 && !found)
        take_back(areas);
    return found;
}

/* The copy that nobody has waited for; 0: there is none. */
static _Atomic long left;

bool wndl_rt_copy_is_left(void)
{
    const long copy = atomic_load(&left);
    int status;
    if (copy > 0 &&
        wndl_raw4(SYS_wait4, copy, (long)&status, __WALL | WNOHANG, 0) == 0)
        return true;
    atomic_store(&left, 0);
    return false;
}

/* The kernel copies each page at its first write, a fault, from now on. */
static void announce(const struct wndl_rt_leak_search *wanted)
{
    struct rusage used = {0};
    (void)wndl_raw3(SYS_getrusage, RUSAGE_SELF, (long)&used, 0);
    wanted->scan->faults = (uint64_t)used.ru_minflt;
    atomic_store(&wanted->scan->copied, wanted->scan_answers);
}

bool wndl_rt_copy_leave(
    struct wndl_rt_areas *areas, void (*search)(void *context), void *context)
{
    wndl_rt_own_pages_begin_copy(&areas->own);
    const long copy = fork_holding_blocks(areas);
    if (copy == 0)
        be_copy(&(struct copied){areas, search, context});
    wndl_rt_own_pages_end_copy(&areas->own);
    wndl_rt_areas_forget_pages(areas);
    if (copy > 0) {
        announce(areas->wanted);
        atomic_store(&left, copy);
    }
    return copy > 0;
}

void wndl_rt_copy_wait(void)
{
    const long copy = atomic_exchange(&left, 0);
    if (copy > 0)
        (void)wndl_rt_child_wait(copy);
}

void wndl_rt_copy_forget(void)
{
    atomic_store(&left, 0);
}
