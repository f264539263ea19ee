/* SPDX-License-Identifier: MIT */
#include "rt/threads.h"

#include "os/raw.h"
#include "rt/rt.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { GONE = -1, FIRST_LIMIT = 64, UNWINDER_ALIGNMENT = 64 };

/*
 * Slot i serves ring i. `tid` is 0 when the slot was never used and GONE when
 * its thread has ended; a probe for a tid starts at tid modulo the table and
 * ends at a 0. Memory stays with its slot for the next thread.
 */
static struct {
    _Atomic int tid;
    struct wndl_rt_thread *memory;
} slots[WNDL_SHM_THREADS];

static _Atomic uint32_t used;
static _Atomic uint32_t limit = FIRST_LIMIT; /* of `used`, before a sweep */

static uint32_t first_slot(int tid)
{
    return (uint32_t)tid % WNDL_SHM_THREADS;
}

static struct wndl_rt_thread *find(int tid)
{
    uint32_t i = first_slot(tid);
    for (uint32_t n = 0; n < WNDL_SHM_THREADS; n++) {
        int here = atomic_load_explicit(&slots[i].tid, memory_order_relaxed);
        if (here == tid)
            return slots[i].memory;
        if (here == 0)
            return NULL;
        i = (i + 1) % WNDL_SHM_THREADS;
    }
    return NULL;
}

static void drop_timer(struct wndl_rt_thread *thread)
{
    if (thread == NULL || thread->timer < 0)
        return;
    wndl_rt_engine_drop_timer(thread->timer);
    thread->timer = -1;
}

/* Frees the slots of threads that have ended. */
static void sweep(void)
{
    for (uint32_t i = 0; i < WNDL_SHM_THREADS; i++) {
        int tid = atomic_load_explicit(&slots[i].tid, memory_order_acquire);
        if (tid <= 0 || wndl_raw3(SYS_tgkill, wndl_rt.pid, tid, 0) != -ESRCH ||
            !atomic_compare_exchange_strong(&slots[i].tid, &tid, GONE))
            continue;
        drop_timer(slots[i].memory);
        atomic_fetch_sub(&used, 1);
    }
    uint32_t next = 2 * atomic_load(&used);
    if (next < FIRST_LIMIT)
        next = FIRST_LIMIT;
    atomic_store(&limit, next < WNDL_SHM_THREADS ? next : WNDL_SHM_THREADS);
}

/* A slot of this thread's own, or WNDL_SHM_THREADS. */
static uint32_t claim(int tid)
{
    uint32_t i = first_slot(tid);
    for (uint32_t n = 0; n < WNDL_SHM_THREADS; n++) {
        int here = atomic_load_explicit(&slots[i].tid, memory_order_relaxed);
        if (here <= 0 &&
            atomic_compare_exchange_strong(&slots[i].tid, &here, tid)) {
            atomic_fetch_add(&used, 1);
            return i;
        }
        i = (i + 1) % WNDL_SHM_THREADS;
    }
    return WNDL_SHM_THREADS;
}

static struct wndl_rt_thread *map_memory(void)
{
    size_t own = (sizeof(struct wndl_rt_thread) + UNWINDER_ALIGNMENT - 1) &
                 ~(size_t)(UNWINDER_ALIGNMENT - 1);
    uint8_t *memory = wndl_raw_map(own + wndl_unwinder_size(),
        PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (memory == NULL)
        return NULL;
    struct wndl_rt_thread *thread = (struct wndl_rt_thread *)(void *)memory;
    thread->unwinder = wndl_unwinder_init(memory + own);
    thread->timer = -1;
    return thread;
}

void wndl_rt_thread_renew(struct wndl_rt_thread *thread)
{
    atomic_fetch_or_explicit(&wndl_rt.shm->ring_used[thread->slot / 64],
        UINT64_C(1) << thread->slot % 64, memory_order_relaxed);
    thread->image = wndl_rt.image;
    thread->samples = 0;
    thread->last_count = 0;
    thread->busy = false;
    thread->announced = false;
    thread->last_cpu = 0;
    memset(thread->name, 0, sizeof thread->name);
    memset(&thread->stacks, 0, sizeof thread->stacks);
    memset(thread->pages, 0, sizeof thread->pages);
}

static struct wndl_rt_thread *make(int tid)
{
    if (atomic_load(&used) >= atomic_load(&limit))
        sweep();
    uint32_t slot = claim(tid);
    if (slot == WNDL_SHM_THREADS)
        return NULL;
    if (slots[slot].memory == NULL)
        slots[slot].memory = map_memory();
    struct wndl_rt_thread *thread = slots[slot].memory;
    if (thread == NULL) {
        atomic_store(&slots[slot].tid, GONE);
        atomic_fetch_sub(&used, 1);
        return NULL;
    }
    thread->tid = tid;
    thread->slot = slot;
    wndl_rt_thread_renew(thread);
    return thread;
}

struct wndl_rt_thread *wndl_rt_thread_of(int tid)
{
    struct wndl_rt_thread *thread = find(tid);
    return thread != NULL ? thread : make(tid);
}

void wndl_rt_threads_forget(void)
{
    for (uint32_t i = 0; i < WNDL_SHM_THREADS; i++) {
        atomic_store_explicit(&slots[i].tid, 0, memory_order_relaxed);
        if (slots[i].memory != NULL)
            slots[i].memory->timer = -1; /* timers do not pass a fork */
    }
    atomic_store(&used, 0);
    atomic_store(&limit, FIRST_LIMIT);
}
