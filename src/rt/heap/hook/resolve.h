/* SPDX-License-Identifier: MIT */
/*
 * resolve: finds the functions of the program's allocator. They are those of
 * the next object that defines them, or of the program itself.
 */
#ifndef WNDL_RT_HEAP_HOOK_RESOLVE_H
#define WNDL_RT_HEAP_HOOK_RESOLVE_H

#include "rt/heap/record/allocator.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The members up to `keeps_sizes`, which each call reads, are in one cache
 * line.
 */
struct wndl_rt_resolved {
    _Alignas(64) _Atomic bool resolved;
    _Atomic bool ready; /* resolved, and no module must be checked before a
                         * call */
    struct wndl_rt_allocator next;
};

_Static_assert(
    offsetof(struct wndl_rt_allocator, keeps_sizes) < 64 - sizeof(void *),
    "each call reads one cache line");

extern WNDL_RT_HIDDEN struct wndl_rt_resolved wndl_rt_resolved;

/*
 * Whether a function is libc's. Where a program's own allocator lacks a
 * function, libc's is called, as without us.
 */
enum { WNDL_RT_MEMBER = sizeof(void (*)(void)) };
extern WNDL_RT_HIDDEN bool
    wndl_rt_is_libcs[sizeof(struct wndl_rt_allocator) / WNDL_RT_MEMBER];
#define WNDL_RT_IS_LIBCS(name)                                                 \
    wndl_rt_is_libcs[offsetof(struct wndl_rt_allocator, name) / WNDL_RT_MEMBER]

/* NULL while they are being looked up. */
const struct wndl_rt_allocator *wndl_rt_resolve(void);

static inline const struct wndl_rt_allocator *wndl_rt_real_allocator(void)
{
    if (WNDL_RT_LIKELY(atomic_load_explicit(
            &wndl_rt_resolved.ready, memory_order_acquire)))
        return &wndl_rt_resolved.next;
    return wndl_rt_resolve();
}

/*
 * Redirects the program's calls to us if it has an allocator of its own, and
 * returns whether it has. Calls inside the allocator are not redirected.
 */
bool wndl_rt_heap_lead_imports(void);

/*
 * Whether the allocator reports the size of a block. If not, the size of a
 * freed block is known from our own table only, and so all blocks are sampled.
 */
bool wndl_rt_heap_knows_sizes(void);

/*
 * Whether the allocator keeps sizes, and no check is needed before a call. For
 * use after wndl_rt_heap_lead_imports().
 */
bool wndl_rt_heap_is_plain(void);

#endif
