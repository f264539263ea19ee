/* SPDX-License-Identifier: MIT */
/*
 * malloc: the hooked allocation functions. The program's allocator is the next
 * object that defines them. Each hook leaves errno as the allocator does.
 */
#include "rt/heap/count/block_marks.h"
#include "rt/heap/hook/bootstrap.h"
#include "rt/heap/hook/calls.h"
#include "rt/heap/hook/entry.h"
#include "rt/heap/hook/new.h"
#include "rt/heap/hook/resolve.h"
#include "rt/tags/core/current.h"

#include <errno.h>

/* The program's allocator can neither free it nor report its size. */
static void *record_libcs(
    void *block, size_t size, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = block == NULL ? NULL : wndl_rt_heap_enter();
    if (t == NULL)
        return block;
    wndl_rt_heap_allocated(
        t, &(struct wndl_rt_alloc){
               .block = wndl_rt_other_key(block, WNDL_RT_LIBCS),
               .requested = size,
               .usable = size,
               .regs = regs,
               .tag = wndl_rt_tag_current(),
               .is_reported = true,
           });
    wndl_rt_heap_leave();
    return block;
}

void *wndl_rt_hook_malloc(
    size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("malloc", "wndl_rt_hook_malloc", 1);

static WNDL_RT_NOINLINE void *allocate(
    size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    if (a == NULL)
        return wndl_rt_bootstrap_allocate(16, size);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return wndl_rt_call_record_inline(t, a, a->malloc(size), size, regs);
}

/* Records a block for `t`, which has entered quickly. */
static inline __attribute__((always_inline)) void *record_quickly(
    struct wndl_rt_heap_thread *t, void *block, size_t size,
    const struct wndl_regs *regs)
{
    size_t usable;
    if (!WNDL_RT_LIKELY(block != NULL && wndl_rt_kept_size(block, &usable) &&
                        wndl_rt_stripe_only_counts_alloc(&t->stripe, usable)))
        return wndl_rt_call_record(
            t, &wndl_rt_resolved.next, block, size, regs);
    if (!WNDL_RT_LIKELY(
            !wndl_rt_heap_draws(t, size, wndl_rt_heap->sample_below)))
        return wndl_rt_call_sampled(t, block, size, usable, regs);
    wndl_rt_heap_count_plain_alloc(
        t, block, (struct wndl_rt_sizes){size, usable});
    wndl_rt_heap_leave();
    return block;
}

static WNDL_RT_NOINLINE void *allocate_quickly(
    struct wndl_rt_heap_thread *t, size_t size, const struct wndl_regs *regs)
{
    return record_quickly(t, wndl_rt_resolved.next.malloc(size), size, regs);
}

void *wndl_rt_hook_malloc(size_t size, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter_quickly(size);
    return t == NULL ? allocate(size, regs) : allocate_quickly(t, size, regs);
}

void *wndl_rt_hook_calloc(
    size_t, size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("calloc", "wndl_rt_hook_calloc", 2);

static WNDL_RT_NOINLINE void *clear(
    size_t count, size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    size_t all;
    if (a == NULL)
        return __builtin_mul_overflow(count, size, &all)
                   ? NULL
                   : wndl_rt_bootstrap_allocate(16, all);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return wndl_rt_call_record(
        t, a, a->calloc(count, size), count * size, regs);
}

static WNDL_RT_NOINLINE void *clear_quickly(struct wndl_rt_heap_thread *t,
    size_t count, size_t size, const struct wndl_regs *regs)
{
    return record_quickly(
        t, wndl_rt_resolved.next.calloc(count, size), count * size, regs);
}

void *wndl_rt_hook_calloc(
    size_t count, size_t size, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter_quickly(count * size);
    return t == NULL ? clear(count, size, regs)
                     : clear_quickly(t, count, size, regs);
}

void *wndl_rt_hook_aligned_alloc(
    size_t, size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("aligned_alloc", "wndl_rt_hook_aligned_alloc", 2);

void *wndl_rt_hook_aligned_alloc(
    size_t alignment, size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    if (a == NULL)
        return wndl_rt_bootstrap_allocate(alignment, size);
    if (WNDL_RT_IS_LIBCS(aligned_alloc))
        return record_libcs(a->aligned_alloc(alignment, size), size, regs);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return wndl_rt_call_record(
        t, a, a->aligned_alloc(alignment, size), size, regs);
}

void *wndl_rt_hook_memalign(
    size_t, size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("memalign", "wndl_rt_hook_memalign", 2);

void *wndl_rt_hook_memalign(
    size_t alignment, size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    if (a == NULL)
        return wndl_rt_bootstrap_allocate(alignment, size);
    if (WNDL_RT_IS_LIBCS(memalign))
        return record_libcs(a->memalign(alignment, size), size, regs);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return wndl_rt_call_record(t, a, a->memalign(alignment, size), size, regs);
}

void *wndl_rt_hook_valloc(
    size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("valloc", "wndl_rt_hook_valloc", 1);

void *wndl_rt_hook_valloc(size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    if (a == NULL)
        return NULL;
    if (WNDL_RT_IS_LIBCS(valloc))
        return record_libcs(a->valloc(size), size, regs);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return wndl_rt_call_record(t, a, a->valloc(size), size, regs);
}

void *wndl_rt_hook_pvalloc(
    size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("pvalloc", "wndl_rt_hook_pvalloc", 1);

void *wndl_rt_hook_pvalloc(size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    if (a == NULL)
        return NULL;
    if (WNDL_RT_IS_LIBCS(pvalloc))
        return record_libcs(a->pvalloc(size), size, regs);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return wndl_rt_call_record(t, a, a->pvalloc(size), size, regs);
}

int wndl_rt_hook_posix_memalign(
    void **, size_t, size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("posix_memalign", "wndl_rt_hook_posix_memalign", 3);

int wndl_rt_hook_posix_memalign(
    void **to, size_t alignment, size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    if (a == NULL)
        return ENOMEM;
    if (WNDL_RT_IS_LIBCS(posix_memalign)) {
        int failed = a->posix_memalign(to, alignment, size);
        (void)record_libcs(failed == 0 ? *to : NULL, size, regs);
        return failed;
    }
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    int result = a->posix_memalign(to, alignment, size);
    (void)wndl_rt_call_record(t, a, result == 0 ? *to : NULL, size, regs);
    return result;
}

/* ---- frees */

void wndl_rt_hook_free(void *, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("free", "wndl_rt_hook_free", 1);

static inline __attribute__((always_inline)) void end_inline(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_allocator *a,
    void *block, const struct wndl_regs *regs)
{
    wndl_rt_heap_end(t, a, block, regs);
    a->free(block);
    wndl_rt_heap_leave();
}

/* For `t`, which has entered quickly. */
static WNDL_RT_NOINLINE void end(
    struct wndl_rt_heap_thread *t, void *block, const struct wndl_regs *regs)
{
    if (block != NULL && !wndl_rt_bootstrap_has(block))
        end_inline(t, &wndl_rt_resolved.next, block, regs);
    else
        wndl_rt_heap_leave();
}

static WNDL_RT_NOINLINE void release(void *block, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    if (block == NULL || a == NULL || wndl_rt_bootstrap_has(block))
        return;
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t != NULL) {
        end_inline(t, a, block, regs);
        return;
    }
    if (!wndl_rt_new_is_deleting(block))
        wndl_rt_untracked_free(a, block);
    a->free(block);
}

/* Blocks from before the real functions are known have marks. */
void wndl_rt_hook_free(void *block, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter_quickly(0);
    size_t usable;
    if (t == NULL) {
        release(block, regs);
        return;
    }
    if (!WNDL_RT_LIKELY(block != NULL &&
                        !wndl_rt_blocks_maybe((uintptr_t)block) &&
                        wndl_rt_kept_size(block, &usable) &&
                        wndl_rt_stripe_only_counts_free(&t->stripe, usable))) {
        end(t, block, regs);
        return;
    }
    wndl_rt_heap_count_plain_free(t, block, usable);
    wndl_rt_resolved.next.free(block);
    wndl_rt_heap_leave();
}

void *wndl_rt_hook_realloc(
    void *, size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("realloc", "wndl_rt_hook_realloc", 2);

void *wndl_rt_hook_realloc(
    void *block, size_t size, const struct wndl_regs *regs)
{
    return wndl_rt_call_move(wndl_rt_real_allocator(), NULL, block, size, regs);
}

void *wndl_rt_hook_reallocarray(
    void *, size_t, size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("reallocarray", "wndl_rt_hook_reallocarray", 3);

/* Many allocators lack it, and libc's would call us again. */
void *wndl_rt_hook_reallocarray(
    void *block, size_t count, size_t size, const struct wndl_regs *regs)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return wndl_rt_call_move(wndl_rt_real_allocator(), NULL, block, all, regs);
}
