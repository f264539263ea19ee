/* SPDX-License-Identifier: MIT */
/*
 * amounts: the live bytes and blocks of each tag. Each thread counts in amounts
 * of its own, which another thread takes over after its end; a block that
 * another thread frees counts there as less than nothing. Sums over all are
 * right.
 */
#ifndef WNDL_RT_TAGS_AMOUNTS_H
#define WNDL_RT_TAGS_AMOUNTS_H

#include "rec/tags.h"

#include <stdbool.h>
#include <stddef.h>
#include <windlass/memory_tag.h>

struct wndl_rt_amount {
    int64_t bytes, blocks;
};

struct wndl_rt_amounts;

/*
 * Private: the thread's; NULL until it needs them, and after its end. Without
 * its own a thread counts with others.
 */
extern __thread struct wndl_rt_amount *wndl_rt_amounts_here
    __attribute__((visibility("hidden")));

/* Private: for a thread that has none yet. */
void wndl_rt_amounts_add_first(uint32_t tag, struct wndl_rt_amount amount);

static inline void wndl_rt_amounts_add(
    uint32_t tag, struct wndl_rt_amount amount)
{
    struct wndl_rt_amount *here = wndl_rt_amounts_here;
    if (__builtin_expect(here == NULL, 0)) {
        wndl_rt_amounts_add_first(tag, amount);
        return;
    }
    /* Others only read. */
    struct wndl_rt_amount *to = &here[tag];
    __atomic_store_n(&to->bytes, to->bytes + amount.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&to->blocks, to->blocks + amount.blocks, __ATOMIC_RELAXED);
}

/* The sum over all threads, those that have ended too. */
struct wndl_rt_amount wndl_rt_amounts_of(uint32_t tag);

/* Once, at the start. */
void wndl_rt_amounts_start(void);

/* In a forked child: its other threads do not exist. */
void wndl_rt_amounts_after_fork(void);

#endif
