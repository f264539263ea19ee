/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/owner.h"

#include "os/raw.h"
#include "rt/core/rt.h"
#include "rt/heap/count/lock.h"

enum {
    OWNERS = 32,      /* number of threads that can ever be one */
    NEVER = -1,       /* turns */
    LONG_ENOUGH = 16, /* times the turns that it took to become one */
    /* linux/membarrier.h */
    PRIVATE_EXPEDITED = 1 << 3,
    REGISTER_PRIVATE_EXPEDITED = 1 << 4,
};

__thread struct wndl_rt_owner_here wndl_rt_owner_here;

/*
 * The thread that may want to be the owner. Of any number of threads at work at
 * the same time, each writes to it only twice in `after` turns.
 */
static struct {
    _Alignas(64) _Atomic(const struct wndl_rt_owner_here *) by;
    _Atomic bool is_disturbed; /* others had turns since `by` was set */
    _Atomic uint32_t after;    /* turns without any other thread's */
} wish = {.after = (uint32_t)NEVER};

static struct wndl_rt_owner owners[OWNERS];
static uint32_t given;                             /* number of them */
static struct wndl_rt_owner *owner;                /* NULL: there is none */
static _Atomic uint32_t allowed = (uint32_t)NEVER; /* minimum of turns */

static void wish_after(uint32_t turns)
{
    atomic_store_explicit(&wish.after, turns, memory_order_relaxed);
}

void wndl_rt_owner_allow(uint32_t after)
{
    if (wndl_rt_is_careful() || !wndl_rt.with_barriers ||
        wndl_raw3(SYS_membarrier, REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
        return;
    atomic_store(&allowed, after);
    wish_after(after);
}

void wndl_rt_owner_forbid(void)
{
    atomic_store(&allowed, (uint32_t)NEVER);
    wish_after((uint32_t)NEVER);
}

/* True if it was so twice in a row, and nobody else had a turn in between. */
bool wndl_rt_owner_is_time(void)
{
    struct wndl_rt_owner_here *here = &wndl_rt_owner_here;
    bool is_mine = atomic_load_explicit(&wish.by, memory_order_relaxed) == here;
    bool is_disturbed =
        atomic_load_explicit(&wish.is_disturbed, memory_order_relaxed);
    if (!is_mine && !is_disturbed)
        atomic_store_explicit(&wish.is_disturbed, true, memory_order_relaxed);
    if (here->shared < atomic_load_explicit(&wish.after, memory_order_relaxed))
        return false;
    here->shared = 0;
    atomic_store_explicit(&wish.by, here, memory_order_relaxed);
    atomic_store_explicit(&wish.is_disturbed, false, memory_order_relaxed);
    return is_mine && !is_disturbed;
}

bool wndl_rt_owner_begin(void)
{
    struct wndl_rt_owner_here *here = &wndl_rt_owner_here;
    if (atomic_load(&allowed) == (uint32_t)NEVER || owner != NULL)
        return false;
    if (here->own == NULL && given < OWNERS)
        here->own = &owners[given++];
    struct wndl_rt_owner *o = here->own;
    if (o == NULL)
        return false;
    o->is_slow = false;
    o->began = atomic_load_explicit(&o->turns, memory_order_relaxed);
    atomic_store_explicit(&o->is_on, true, memory_order_relaxed);
    owner = o;
    return true;
}

bool wndl_rt_owner_is_other(void)
{
    return owner != NULL && owner != wndl_rt_owner_here.own;
}

static bool is_between_turns(void *context)
{
    struct wndl_rt_owner *o = context;
    return atomic_load_explicit(&o->turns, memory_order_acquire) % 2 == 0;
}

/*
 * A refused barrier does not matter for long: the owner, who sees that it is no
 * longer on, comes here itself.
 */
bool wndl_rt_owner_end(void)
{
    struct wndl_rt_owner *o = owner;
    if (o == NULL)
        return true;
    atomic_store_explicit(&o->is_on, false, memory_order_relaxed);
    if (o == wndl_rt_owner_here.own)
        return true;
    if (wndl_rt_is_careful() ||
        wndl_raw3(SYS_membarrier, PRIVATE_EXPEDITED, 0, 0) != 0)
        return false;
    if (o->is_slow)
        return is_between_turns(o);
    o->is_slow = !wndl_rt_wait(is_between_turns, o, WNDL_RT_WAIT_SHORT);
    return !o->is_slow;
}

/* If threads alternate more often than that, locks are cheaper. */
void wndl_rt_owner_gone(void)
{
    const struct wndl_rt_owner *o = owner;
    if (o == NULL)
        return;
    uint32_t turns =
        (atomic_load_explicit(&o->turns, memory_order_relaxed) - o->began) / 2;
    uint32_t after = atomic_load_explicit(&wish.after, memory_order_relaxed);
    if (turns / LONG_ENOUGH >= after)
        wish_after(atomic_load(&allowed));
    else if (after <= (uint32_t)NEVER / 2)
        wish_after(2 * after);
    owner = NULL;
}
