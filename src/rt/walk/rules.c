/* SPDX-License-Identifier: MIT */
#include "rt/walk/rules.h"

#include "rt/core/rt.h"
#include "unwind/fast/cache.h"

/* Part of this object: a process has one mapping less to make and to end. */
static struct wndl_unwinder unwinder;
static _Atomic bool is_used;

struct wndl_unwinder *wndl_rt_unwinder(void)
{
    if (!atomic_load(&is_used)) {
        (void)wndl_unwinder_init(&unwinder);
        atomic_store(&is_used, true);
    }
    return &unwinder;
}

void wndl_rt_rules_forget(void)
{
    if (atomic_load(&is_used))
        wndl_unwinder_flush(&unwinder);
    atomic_fetch_add(&wndl_rt.rules_age, 1);
}
