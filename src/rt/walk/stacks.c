/* SPDX-License-Identifier: MIT */
#include "rt/walk/stacks.h"

#include "os/maps.h"
#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/rt.h"

#include <errno.h>
#include <sys/auxv.h>

enum {
    CHECKED = 64 * WNDL_RT_PAGE,
    CAREFUL_SIZE = 1024 * 1024,
    PLACE_SHIFT = 14,             /* size of small stacks */
    WAYS = 4,                     /* places for an address */
    LEAST_GAP = 128 * 1024 * 1024 /* below the initial stack: Linux's mmap.c */
};

static bool within(const struct wndl_stack_range *range, uint64_t address)
{
    return address >= range->low && address < range->high;
}

/* A search in the list of mappings, and its result. */
struct search {
    uint64_t sp;
    uint64_t tp; /* thread pointer: a thread's TCB is the top of its stack */
    struct wndl_stack_range at_tp, initial;
};

static bool look_at(void *context, const struct wndl_mapping *m)
{
    struct search *s = context;
    if (!m->readable)
        return true;
    struct wndl_stack_range range = {m->start, m->end};
    if (within(&range, s->tp))
        s->at_tp = (struct wndl_stack_range){m->start, s->tp};
    if (wndl_bytes_is(m->path, "[stack]"))
        s->initial = range;
    return true;
}

/* The kernel reads a mask before it notices that nothing is to be done. */
static bool is_readable(uint64_t page)
{
    enum { NOTHING = -1 };
    return wndl_raw4(SYS_rt_sigprocmask, NOTHING, (long)page, 0,
               WNDL_ARCH_SIGSET_BYTES) != -EFAULT;
}

static bool are_readable(uint64_t from, uint64_t to)
{
    while (from < to && is_readable(from))
        from += WNDL_RT_PAGE;
    return from >= to;
}

/* `from` is a page's start. */
static bool are_mapped(uint64_t from, uint64_t size)
{
    uint8_t resident[CHECKED / WNDL_RT_PAGE];
    if (wndl_rt_is_careful())
        return are_readable(from, from + size);
    return wndl_raw3(SYS_mincore, (long)from, (long)size, (long)resident) == 0;
}

/*
 * In a child forked by a thread, the initial thread runs on that thread's
 * former stack. So the mapping with sp decides first.
 */
static struct wndl_stack_range own_stack(const struct search *s)
{
    if (within(&s->initial, s->sp))
        return s->initial;
    if (within(&s->at_tp, s->sp))
        return s->at_tp;
    return wndl_raw_gettid() == wndl_raw_getpid() ? s->initial : s->at_tp;
}

/*
 * Looks up the stack without the list of mappings. A thread's stack ends at its
 * TCB, the initial one at the name of the executable. Memory between is
 * readable.
 */
static bool look_up_carefully(struct wndl_rt_stacks *stacks, uint64_t sp)
{
    uint64_t from = sp & ~(uint64_t)(WNDL_RT_PAGE - 1);
    uint64_t to = wndl_arch_thread_pointer();
    if (sp >= to)
        to = getauxval(AT_EXECFN);
    if (sp >= to || to - from > CAREFUL_SIZE || !are_readable(from, to))
        return false;
    stacks->own = (struct wndl_stack_range){from, to};
    return true;
}

static bool look_up(
    struct wndl_rt_stacks *stacks, uint64_t sp, struct wndl_bytes room)
{
    if (wndl_rt_is_careful())
        return look_up_carefully(stacks, sp);
    struct search s = {.sp = sp, .tp = wndl_arch_thread_pointer()};
    if (!wndl_maps_each("/proc/self/maps", room, look_at, &s))
        return false;
    stacks->own = own_stack(&s);
    stacks->is_initial = stacks->own.low == s.initial.low;
    /* A protection key may forbid what the mapping allows. */
    return within(&stacks->own, sp) &&
           is_readable(sp & ~(uint64_t)(WNDL_RT_PAGE - 1));
}

/*
 * Nothing else is mapped just below the initial stack, as far as its limit. If
 * the stack has grown, memory just below its old end is mapped. So the kernel
 * is asked, but not by a read, which would make the stack grow.
 */
static bool may_be_own(const struct wndl_rt_stacks *stacks, uint64_t sp)
{
    const struct wndl_stack_range *own = &stacks->own;
    if (own->high == 0)
        return true;
    if (!stacks->is_initial || sp >= own->low)
        return false;
    return own->high - sp <= LEAST_GAP ||
           (!wndl_rt_is_careful() &&
               are_mapped(own->low - WNDL_RT_PAGE, WNDL_RT_PAGE));
}

/* ---- others */

/* A readable range. `ends`: the page after it is unreadable, else not known. */
struct other {
    uint64_t low, high;
    bool ends;
};

/*
 * The known ones, by address. Each is a word, so that threads and handlers need
 * no lock: from the highest bit on the page of its start, the number of its
 * pages, `ends`, and wndl_rt.unmaps when it was read. 0: none.
 */
static _Atomic uint64_t others[WNDL_RT_OTHER_STACKS];

enum {
    UNMAPS_BITS = 20,
    COUNT_BITS = 7,
    ENDS_SHIFT = UNMAPS_BITS,
    COUNT_SHIFT = ENDS_SHIFT + 1,
    START_SHIFT = COUNT_SHIFT + COUNT_BITS,
    UNMAPS_MASK = (1 << UNMAPS_BITS) - 1,
    COUNT_MOST = (1 << COUNT_BITS) - 1,
};

static uint64_t pack(const struct other *other, uint32_t unmaps)
{
    const uint64_t count = (other->high - other->low) / WNDL_RT_PAGE;
    return other->low / WNDL_RT_PAGE << START_SHIFT | count << COUNT_SHIFT |
           (uint64_t)other->ends << ENDS_SHIFT | unmaps;
}

static struct other unpack(uint64_t word)
{
    const uint64_t low = (word >> START_SHIFT) * WNDL_RT_PAGE;
    const uint64_t count = word >> COUNT_SHIFT & COUNT_MOST;
    return (struct other){
        low, low + count * WNDL_RT_PAGE, (word >> ENDS_SHIFT & 1) != 0};
}

static uint32_t unmaps_now(void)
{
    return atomic_load_explicit(&wndl_rt.unmaps, memory_order_acquire) &
           UNMAPS_MASK;
}

static _Atomic uint64_t *places_of(uint64_t sp)
{
    const uint64_t hash =
        (sp >> PLACE_SHIFT) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &others[hash % (WNDL_RT_OTHER_STACKS / WAYS) * WAYS];
}

/* Checks pages from `high` on that are before `end`. */
static void look_further(struct other *other, uint64_t end)
{
    while (other->high < end && is_readable(other->high))
        other->high += WNDL_RT_PAGE;
    other->ends = other->high < end;
}

/* The last one looked up is the first, and replaces one that is out of date. */
static void put_first(_Atomic uint64_t *places, uint64_t word)
{
    for (size_t i = 0; i < WAYS; i++) {
        const uint64_t old = atomic_exchange(&places[i], word);
        if (((old ^ word) & UNMAPS_MASK) != 0 || old >> START_SHIFT == 0)
            return;
        word = old;
    }
}

static bool add_other(uint64_t sp)
{
    const uint32_t unmaps = unmaps_now();
    const uint64_t from = sp & ~(uint64_t)(WNDL_RT_PAGE - 1);
    struct other other = {.low = from, .high = from};
    look_further(&other, from + CHECKED);
    if (other.high == from)
        return false;
    put_first(places_of(sp), pack(&other, unmaps));
    return true;
}

/* Cuts it to the surely mapped part; false if that is empty. */
static bool give_other(const struct wndl_rt_stacks *stacks, struct other *other,
    uint64_t sp, struct wndl_stack_range *range)
{
    const uint64_t from = sp & ~(uint64_t)(WNDL_RT_PAGE - 1);
    const uint64_t end = from + CHECKED;
    if (end - other->low > COUNT_MOST * (uint64_t)WNDL_RT_PAGE)
        return false;
    if (other->high < end && !other->ends)
        look_further(other, end);
    *range =
        (struct wndl_stack_range){sp, other->high < end ? other->high : end};
    return stacks->are_called ? is_readable(range->high - WNDL_RT_PAGE)
                              : are_mapped(from, range->high - from);
}

static bool find_other(const struct wndl_rt_stacks *stacks, uint64_t sp,
    struct wndl_stack_range *range)
{
    const uint32_t unmaps = unmaps_now();
    _Atomic uint64_t *places = places_of(sp);
    for (size_t i = 0; i < WAYS; i++) {
        const uint64_t word =
            atomic_load_explicit(&places[i], memory_order_relaxed);
        struct other other = unpack(word);
        if ((word & UNMAPS_MASK) != unmaps || sp < other.low ||
            sp >= other.high)
            continue;
        const bool given = give_other(stacks, &other, sp, range);
        const uint64_t now = given ? pack(&other, unmaps) : 0;
        if (now != word)
            atomic_store_explicit(&places[i], now, memory_order_relaxed);
        if (given)
            return true;
    }
    return false;
}

static size_t known(struct wndl_rt_stacks *stacks, uint64_t sp,
    struct wndl_stack_range ranges[WNDL_RT_STACKS_GIVEN])
{
    if (within(&stacks->own, sp)) {
        ranges[0] = (struct wndl_stack_range){
            sp - WNDL_ARCH_RED_ZONE, stacks->own.high};
        return 1;
    }
    if (!find_other(stacks, sp, &ranges[0]))
        return 0;
    ranges[1] = stacks->own;
    return stacks->own.high == 0 ? 1 : 2;
}

size_t wndl_rt_stacks_around(struct wndl_rt_stacks *stacks, uint64_t sp,
    struct wndl_bytes room,
    struct wndl_stack_range ranges[WNDL_RT_STACKS_GIVEN])
{
    size_t count = known(stacks, sp, ranges);
    if (count == 0 && may_be_own(stacks, sp) && look_up(stacks, sp, room))
        count = known(stacks, sp, ranges);
    if (count == 0 && add_other(sp))
        count = known(stacks, sp, ranges);
    return count;
}
