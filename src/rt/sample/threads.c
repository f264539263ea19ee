/* SPDX-License-Identifier: MIT */
#include "rt/sample/threads.h"

#include "os/raw.h"
#include "rec/heap.h"
#include "rt/arch/own_stack.h"
#include "rt/core/memory.h"
#include "rt/core/rt.h"
#include "rt/sample/events.h"
#include "rt/sample/timer.h"
#include "rt/walk/rules.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ROWS = 2 * WNDL_SHM_THREADS, /* a power of two: probes stay short */
    GONE = -1,
    FIRST_LIMIT = 64,
    ALIGNMENT = 64,
    FULL_RING = WNDL_RING_BYTES / 2,
    TRIES = 16,
};

/*
 * The slot of each thread. `tid` is 0 if the row was never used, and GONE if
 * its thread has ended. A probe for a tid starts at tid modulo the table and
 * ends at a 0. Its own thread reads a row's slot, and the sweep does after the
 * thread has ended.
 */
static struct {
    _Atomic int tid;
    uint32_t slot;
} rows[ROWS];

/*
 * Slot i has ring i. Memory stays with its slot. Free slots are a stack, linked
 * by index + 1.
 */
static struct {
    struct wndl_rt_thread *memory;
    _Atomic uint32_t next;
} slots[WNDL_SHM_THREADS];

/* The memory of all slots, in their order. */
static struct {
    uint8_t *_Atomic start; /* NULL: each has a mapping of its own */
    _Atomic bool tried;
} reserved;

static __thread struct wndl_rt_thread *self;

static _Atomic uint64_t top;   /* index + 1, and above it a count of changes */
static _Atomic uint32_t fresh; /* slots from here on were never used */
static _Atomic uint32_t used;
static _Atomic uint32_t limit = FIRST_LIMIT; /* of `used`, before a sweep */
static _Atomic uint32_t denied; /* attempts while there was no slot */

static void push_free(uint32_t slot)
{
    uint64_t old = atomic_load(&top);
    uint64_t new;
    do {
        atomic_store(&slots[slot].next, (uint32_t)old);
        new = ((old >> 32) + 1) << 32 | (slot + 1);
    } while (!atomic_compare_exchange_weak(&top, &old, new));
}

/* WNDL_SHM_THREADS if there is none. */
static uint32_t pop_free(void)
{
    uint64_t old = atomic_load(&top);
    uint64_t new;
    do {
        if ((uint32_t)old == 0)
            return WNDL_SHM_THREADS;
        uint32_t next = atomic_load(&slots[(uint32_t)old - 1].next);
        new = ((old >> 32) + 1) << 32 | next;
    } while (!atomic_compare_exchange_weak(&top, &old, new));
    return (uint32_t)old - 1;
}

static bool has_room(uint32_t slot)
{
    const struct wndl_ring *ring = &wndl_rt.shm->rings[slot];
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    return head - tail < FULL_RING;
}

static uint32_t take_fresh(void)
{
    uint32_t slot = atomic_load(&fresh);
    while (slot < WNDL_SHM_THREADS &&
           !atomic_compare_exchange_weak(&fresh, &slot, slot + 1))
        ;
    return slot;
}

/*
 * A slot whose ring is nearly full of ended threads' events is skipped while
 * there are others.
 */
static uint32_t take_slot(void)
{
    uint32_t full[TRIES];
    uint32_t count = 0;
    uint32_t slot = pop_free();
    while (slot != WNDL_SHM_THREADS && !has_room(slot) && count < TRIES) {
        full[count++] = slot;
        slot = pop_free();
    }
    if (slot == WNDL_SHM_THREADS)
        slot = take_fresh();
    if (slot == WNDL_SHM_THREADS && count > 0)
        slot = full[--count];
    while (count > 0)
        push_free(full[--count]);
    return slot;
}

static uint32_t first_row(int tid)
{
    return (uint32_t)tid % ROWS;
}

/* The row of `tid`, or ROWS. */
static uint32_t find_row(int tid)
{
    uint32_t i = first_row(tid);
    for (uint32_t n = 0; n < ROWS; n++) {
        int here = atomic_load_explicit(&rows[i].tid, memory_order_relaxed);
        if (here == tid)
            return i;
        if (here == 0)
            return ROWS;
        i = (i + 1) % ROWS;
    }
    return ROWS;
}

/* There are more rows than slots, so one is free. */
static void add_row(int tid, uint32_t slot)
{
    for (uint32_t i = first_row(tid);; i = (i + 1) % ROWS) {
        int here = atomic_load_explicit(&rows[i].tid, memory_order_relaxed);
        if (here <= 0 &&
            atomic_compare_exchange_strong(&rows[i].tid, &here, tid)) {
            rows[i].slot = slot;
            return;
        }
    }
}

static void free_slot(uint32_t slot)
{
    atomic_fetch_sub(&used, 1);
    push_free(slot);
}

/* Frees those that have ended without notice. */
void wndl_rt_threads_sweep(void)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        int tid = atomic_load_explicit(&rows[i].tid, memory_order_acquire);
        if (tid <= 0 || wndl_raw3(SYS_tgkill, wndl_rt.pid, tid, 0) != -ESRCH)
            continue;
        uint32_t slot = rows[i].slot;
        if (!atomic_compare_exchange_strong(&rows[i].tid, &tid, GONE))
            continue;
        wndl_rt_timers_drop(slots[slot].memory);
        if (slots[slot].memory->announced)
            wndl_rt_thread_exit(&wndl_rt.shm->rings[slot], 0);
        free_slot(slot);
    }
    uint32_t next = 2 * atomic_load(&used);
    if (next < FIRST_LIMIT)
        next = FIRST_LIMIT;
    atomic_store(&limit, next < WNDL_SHM_THREADS ? next : WNDL_SHM_THREADS);
}

/*
 * A sweep asks the kernel about each thread. While all slots are taken it is
 * made once for as many attempts, so that it costs each of them the same,
 * however many threads there are.
 */
static bool is_sweep_due(void)
{
    const uint32_t most = atomic_load(&limit);
    return atomic_load(&used) >= most &&
           (most < WNDL_SHM_THREADS ||
               atomic_fetch_add(&denied, 1) % WNDL_SHM_THREADS == 0);
}

static size_t aligned(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* Reserves address space for all slots; NULL if there is none to spare. */
static uint8_t *reserve(size_t size)
{
    uint8_t *old = atomic_load(&reserved.start);
    if (old != NULL || atomic_exchange(&reserved.tried, true))
        return old;
    const size_t all = size * WNDL_SHM_THREADS;
    uint8_t *start =
        sizeof(void *) < 8 || wndl_rt_is_careful() || wndl_rt_space_is_limited()
            ? NULL
            : wndl_raw_map(all, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (start != NULL)
        (void)wndl_raw3(SYS_madvise, (long)start, (long)all, MADV_DONTDUMP);
    wndl_rt.slots_size = start == NULL ? 0 : all;
    atomic_store(&wndl_rt.slots_start, (uintptr_t)start);
    atomic_store(&reserved.start, start);
    return start;
}

/*
 * The system has a limit on mappings, of which each thread of the program needs
 * two. Ours together are two: the part that is used and the rest.
 */
static uint8_t *map_slot(uint32_t slot, size_t size)
{
    size = wndl_round_up_page(size);
    uint8_t *start = reserve(size);
    if (start == NULL)
        return wndl_rt_map_undumped(size);
    uint8_t *memory = start + slot * size;
    if (!wndl_rt_is_careful())
        return wndl_raw3(SYS_mprotect, (long)memory, (long)size,
                   PROT_READ | PROT_WRITE) == 0
                   ? memory
                   : NULL;
    const long a[] = {(long)memory, (long)size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED};
    return wndl_raw6(WNDL_SYS_MMAP, a, -1, 0) == (long)memory ? memory : NULL;
}

static struct wndl_rt_thread *map_memory(uint32_t slot)
{
    struct wndl_rt_thread *t;
    size_t own = aligned(sizeof *t);
    size_t walks = aligned(wndl_resume_size(wndl_rt.max_frames));
    uint8_t *memory = map_slot(slot, own + walks + WNDL_RT_OWN_STACK);
    if (memory == NULL)
        return NULL;
    t = (struct wndl_rt_thread *)(void *)memory;
    t->slot = slot;
    t->walks =
        wndl_resume_init(memory + own, wndl_rt.max_frames, wndl_rt_unwinder());
    t->stack = memory + own + walks;
    slots[slot].memory = t;
    return t;
}

void wndl_rt_thread_renew(struct wndl_rt_thread *t)
{
    atomic_fetch_or_explicit(&wndl_rt.shm->ring_used[t->slot / 64],
        UINT64_C(1) << t->slot % 64, memory_order_relaxed);
    t->pauses = wndl_rt_pauses();
    t->looks = 0;
    wndl_resume_forget(t->walks);
    t->announced = false;
    t->left_out = false;
    t->named = true; /* there is no name to write */
    t->stood_still = false;
    t->last_cpu = 0;
    t->look_time = 0;
    t->look_cpu = 0;
    t->perf_cpu = 0;
    t->debt = 0;
    t->faults = 0;
    t->first = 0;
    memset(t->name, 0, sizeof t->name);
    memset(&t->stacks, 0, sizeof t->stacks);
}

static struct wndl_rt_thread *make(int tid)
{
    if (is_sweep_due())
        wndl_rt_threads_sweep();
    uint32_t slot = take_slot();
    if (slot == WNDL_SHM_THREADS)
        return NULL;
    atomic_fetch_add(&used, 1);
    struct wndl_rt_thread *t = slots[slot].memory;
    if (t == NULL)
        t = map_memory(slot);
    if (t == NULL) {
        free_slot(slot);
        return NULL;
    }
    t->tid = tid;
    t->timer = -1;
    t->tick = -1;
    wndl_rt_thread_renew(t);
    add_row(tid, slot);
    return t;
}

struct wndl_rt_thread *wndl_rt_thread_adopt(int tid)
{
    return make(tid);
}

uint32_t wndl_rt_threads_known(void)
{
    return atomic_load(&used);
}

struct wndl_rt_thread *wndl_rt_thread_find(int tid)
{
    uint32_t row = find_row(tid);
    return row == ROWS ? NULL : slots[rows[row].slot].memory;
}

struct wndl_rt_thread *wndl_rt_thread_of(int tid)
{
    struct wndl_rt_thread *t = wndl_rt_thread_find(tid);
    return t != NULL ? t : make(tid);
}

void wndl_rt_thread_begin(struct wndl_rt_thread *t)
{
    self = t;
}

struct wndl_rt_thread *wndl_rt_thread_self(void)
{
    return self;
}

struct wndl_rt_thread *wndl_rt_thread_at(uint32_t slot)
{
    return slot < WNDL_SHM_THREADS ? slots[slot].memory : NULL;
}

void wndl_rt_thread_free(struct wndl_rt_thread *t)
{
    uint32_t row = find_row(t->tid);
    if (row == ROWS)
        return;
    atomic_store(&rows[row].tid, GONE);
    self = NULL;
    free_slot(t->slot);
}

/* Timers do not survive a fork. */
void wndl_rt_threads_forget(void)
{
    for (uint32_t i = 0; i < ROWS; i++)
        atomic_store_explicit(&rows[i].tid, 0, memory_order_relaxed);
    self = NULL;
    atomic_store(&top, 0);
    atomic_store(&fresh, 0);
    atomic_store(&used, 0);
    atomic_store(&limit, FIRST_LIMIT);
    atomic_store(&wndl_rt.ahead, 0);
    atomic_store(&denied, 0);
}
