/* SPDX-License-Identifier: MIT */
#include "rt/walk/rules.h"

#include "os/raw.h"
#include "rt/core/memory.h"
#include "rt/core/rt.h"

struct wndl_unwinder *wndl_rt_unwinder(void)
{
    struct wndl_unwinder *there = atomic_load(&wndl_rt.unwinder);
    if (there != NULL)
        return there;
    void *memory = wndl_rt_map_undumped(wndl_unwinder_size());
    if (memory == NULL)
        return NULL;
    struct wndl_unwinder *made = wndl_unwinder_init(memory);
    if (atomic_compare_exchange_strong(&wndl_rt.unwinder, &there, made))
        return made;
    wndl_raw_unmap(memory, wndl_unwinder_size());
    return there;
}

void wndl_rt_rules_forget(void)
{
    struct wndl_unwinder *there = atomic_load(&wndl_rt.unwinder);
    if (there != NULL)
        wndl_unwinder_flush(there);
    atomic_fetch_add(&wndl_rt.rules_age, 1);
}
