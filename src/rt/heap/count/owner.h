/* SPDX-License-Identifier: MIT */
/*
 * owner: the one thread that works on the block table without a lock while the
 * process has others. In many programs with threads one of them does nearly all
 * of the allocating, as in servers with threads that sleep. That thread would
 * pay for a lock at each allocation and free, and for memory of the table that
 * blocks which are freed soon do not need.
 *
 * A turn is the time of the owner between enter() and leave(). All other
 * threads exclude each other by the table's locks (blocks.c):
 *
 * - The owner begins while it holds every lock, and the table notes that.
 *   Whoever holds a lock checks for the note after it has the lock, and if it
 *   is there works on nothing. Either it held the lock before the owner did,
 *   who then sees all its changes, or after that, and it sees the note.
 * - To end the owner, a thread clears `is_on`, makes a barrier in all threads,
 *   and waits for the turn that may be under way. The owner makes `turns` odd
 *   and then reads `is_on`. It may read that before others see the store, which
 *   would need a barrier in each turn. membarrier(2) makes one in the owner
 *   just when it is needed, whatever the owner does at that time. Others see
 *   after the barrier what the owner did before it: if it had read `is_on`
 *   already, they see that `turns` is odd. The owner sees after the barrier
 *   what others did before it: that it is no longer on. There is no third case.
 * - The thread that made the barrier waits for an even number, which the owner
 *   stores with release order, and removes the note with such a store. Whoever
 *   reads that sees all that the owner changed.
 *
 * The kernel makes the barrier by an interrupt of the processors that run a
 * thread of the process. All other threads have passed a barrier when they were
 * switched out. Without the call, or where the process may be punished for it,
 * there is no owner.
 *
 * enter(), leave(): any thread that is not within a turn; no signal handler
 * that may interrupt one. The comments below say it for all others.
 */
#ifndef WNDL_RT_HEAP_COUNT_OWNER_H
#define WNDL_RT_HEAP_COUNT_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An owner's state. It belongs to one thread forever, so that no other thread's
 * turn can be mistaken for one of it.
 */
struct wndl_rt_owner {
    _Alignas(64) _Atomic uint32_t turns; /* odd in a turn; only the thread
                                          * writes it */
    _Atomic bool is_on;
    uint32_t began; /* `turns` at its begin; under the table's locks */
    bool is_slow;   /* a wait for it has failed; likewise */
};

/* The calling thread's state. `own` is NULL if it has never been the owner. */
struct wndl_rt_owner_here {
    struct wndl_rt_owner *own;
    uint32_t shared; /* turns among others since the last check */
};

extern __thread struct wndl_rt_owner_here wndl_rt_owner_here;

/*
 * A thread checks for others, and publishes its turns, once in so many turns.
 */
enum { WNDL_RT_OWNER_STEP = 16 };

static inline bool wndl_rt_owner_is_here(void)
{
    const struct wndl_rt_owner *o = wndl_rt_owner_here.own;
    return o != NULL && atomic_load_explicit(&o->is_on, memory_order_relaxed);
}

static inline void wndl_rt_owner_leave(struct wndl_rt_owner *o)
{
    uint32_t turns = atomic_load_explicit(&o->turns, memory_order_relaxed);
    atomic_store_explicit(&o->turns, turns + 1, memory_order_release);
}

/*
 * Begins a turn if the calling thread is the owner. Until leave() nobody else
 * works on the table. NULL: it is not the owner.
 */
static inline struct wndl_rt_owner *wndl_rt_owner_enter(void)
{
    struct wndl_rt_owner *o = wndl_rt_owner_here.own;
    if (o == NULL || !atomic_load_explicit(&o->is_on, memory_order_relaxed))
        return NULL;
    uint32_t turns = atomic_load_explicit(&o->turns, memory_order_relaxed);
    atomic_store_explicit(&o->turns, turns + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(
            atomic_load_explicit(&o->is_on, memory_order_relaxed), 1))
        return o;
    wndl_rt_owner_leave(o);
    return NULL;
}

bool wndl_rt_owner_is_time(void);

/*
 * Counts a turn of the calling thread among others, without any lock. True: it
 * has had so many of them in a row that it should be the owner.
 */
static inline bool wndl_rt_owner_wished(void)
{
    return __builtin_expect(
               ++wndl_rt_owner_here.shared % WNDL_RT_OWNER_STEP == 0, 0) &&
           wndl_rt_owner_is_time();
}

/*
 * Allows owners, after `after` turns or more, if the system and the known
 * sandboxes allow it. It takes some 10 ms if the process has other threads
 * already, so it is best called before. Call it again in a forked child. After
 * forbid(), a caller of end() may end the last owner.
 */
void wndl_rt_owner_allow(uint32_t after);
void wndl_rt_owner_forbid(void);

/*
 * Makes the calling thread the owner, if that is possible. It holds all locks.
 */
bool wndl_rt_owner_begin(void);

/*
 * Whether there is an owner other than the calling thread. Rules as for end().
 */
bool wndl_rt_owner_is_other(void);

/*
 * Waits until the owner, if there is one, is in no turn. It remains the owner
 * until gone(). False: it may be in a turn. For one thread at a time, under a
 * lock that callers of begin() hold, too; also for the owner outside of a turn.
 */
bool wndl_rt_owner_end(void);
void wndl_rt_owner_gone(void);

#endif
