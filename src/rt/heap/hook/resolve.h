/* SPDX-License-Identifier: MIT */
/*
 * resolve: which functions are the program's allocator's: those of the next
 * object that defines them, or of the program itself.
 */
#ifndef WNDL_RT_HEAP_HOOK_RESOLVE_H
#define WNDL_RT_HEAP_HOOK_RESOLVE_H

#include "rt/heap/record/allocator.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What each call looks at is in one line of the cache: up to `keeps_sizes`. */
struct wndl_rt_resolved {
    _Alignas(64) _Atomic bool resolved;
    _Atomic bool ready; /* and no module has to be looked at before a call */
    struct wndl_rt_allocator next;
};

_Static_assert(
    offsetof(struct wndl_rt_allocator, keeps_sizes) < 64 - sizeof(void *),
    "what each call looks at is in one line");

extern WNDL_RT_HIDDEN struct wndl_rt_resolved wndl_rt_resolved;

/*
 * Of the functions that a program's own allocator does not have, the libc's are
 * called, as without us.
 */
enum { WNDL_RT_MEMBER = sizeof(void (*)(void)) };
extern WNDL_RT_HIDDEN bool
    wndl_rt_is_libcs[sizeof(struct wndl_rt_allocator) / WNDL_RT_MEMBER];
#define WNDL_RT_IS_LIBCS(name)                                                 \
    wndl_rt_is_libcs[offsetof(struct wndl_rt_allocator, name) / WNDL_RT_MEMBER]

/* NULL while they are being looked for. */
const struct wndl_rt_allocator *wndl_rt_resolve(void);

static inline const struct wndl_rt_allocator *wndl_rt_real_allocator(void)
{
    if (WNDL_RT_LIKELY(atomic_load_explicit(
            &wndl_rt_resolved.ready, memory_order_acquire)))
        return &wndl_rt_resolved.next;
    return wndl_rt_resolve();
}

/*
 * Sees to it that the program's calls come here if it has an allocator of its
 * own, and returns whether it has. Those inside the allocator do not come.
 */
bool wndl_rt_heap_lead_imports(void);

/*
 * The allocator tells how large its blocks are. If not, only what is known of
 * each block tells that when it is freed: then all are sampled.
 */
bool wndl_rt_heap_knows_sizes(void);

/*
 * The allocator keeps sizes, and nothing has to be looked at before it is
 * called. After wndl_rt_heap_lead_imports().
 */
bool wndl_rt_heap_is_plain(void);

#endif
