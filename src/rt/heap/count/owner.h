/* SPDX-License-Identifier: MIT */
/*
 * owner: the one thread that works on the block table without a lock while the
 * process has others. Many programs with threads have one that does all of the
 * allocating but for a call now and then, as servers with threads that sleep:
 * it pays for a lock at each allocation and each free, and for the table's
 * memory, where blocks that are freed soon need not be, for nothing.
 *
 * A turn is what the owner does between enter() and leave(). That others keep
 * out of each other's way is the table's to see to, by locks (blocks.c):
 *
 * - The owner begins while it holds every lock, and the table notes it. Who
 *   holds one looks for that after it has the lock, and if so works on nothing:
 *   either it held the lock before the owner did, who sees all that it changed,
 *   or after that, and it sees the note.
 * - To end it, one clears `is_on`, makes a barrier in all threads, and waits
 *   for the turn that may be going on. The owner makes `turns` odd and then
 *   looks at `is_on`. It may look before others see the store, for which each
 *   turn would need a barrier of its own; membarrier(2) makes one there just
 *   when it is needed, whatever the owner does at that time. What it did
 *   before that barrier is seen behind it: if it had looked already, that
 *   `turns` is odd. What it does after it sees all before it: that it is on no
 *   more. There is no third.
 * - The thread that made the barrier waits for an even number, which the owner
 *   stores with release order, and takes the note back with such a store: who
 *   reads that sees all that the owner changed.
 *
 * The kernel makes the barrier by an interrupt in processors that run a thread
 * of the process now; all others have passed one to get there. Where it does
 * not know the call, or the process may be punished for it, there is no owner.
 *
 * enter(), leave(): any thread, not within a turn already; no signal handler
 * that may interrupt one. All others in the comments below.
 */
#ifndef WNDL_RT_HEAP_COUNT_OWNER_H
#define WNDL_RT_HEAP_COUNT_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one thread for ever: nobody else's turn can be taken for one of it. */
struct wndl_rt_owner {
    _Alignas(64) _Atomic uint32_t turns; /* odd in one; the thread's alone */
    _Atomic bool is_on;
    uint32_t began; /* `turns` when it began; under the table's locks */
    bool is_slow;   /* somebody has waited in vain; likewise */
};

/* The calling thread's. `own` is NULL if it has never been the owner. */
struct wndl_rt_owner_here {
    struct wndl_rt_owner *own;
    uint32_t shared; /* turns among others since it was asked last */
};

extern __thread struct wndl_rt_owner_here wndl_rt_owner_here;

/* A thread looks for others once in so many turns, of which it tells them. */
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
 * Begins a turn if the calling thread is the owner: until leave() nobody else
 * works on the table. NULL: it is not.
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
 * There may be owners from now on, after `after` turns or more, if the system
 * and what is known of sandboxes allow it. It takes some 10 ms where the
 * process has other threads already: to be called before it has. Again in a
 * forked child. forbid(): who calls end() after it may end the last.
 */
void wndl_rt_owner_allow(uint32_t after);
void wndl_rt_owner_forbid(void);

/* The calling thread is the owner, if it can be. It holds all locks. */
bool wndl_rt_owner_begin(void);

/* There is one, and it is not the calling thread. As end(). */
bool wndl_rt_owner_is_other(void);

/*
 * The owner, if there is one, has no turn any more. There is one until gone().
 * False: it has, or that cannot be told. One thread at a time, by a lock that
 * who calls begin() holds, too; the owner as well, but not in a turn.
 */
bool wndl_rt_owner_end(void);
void wndl_rt_owner_gone(void);

#endif
