/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/new.h"

#include "rt/heap/count/thread.h"
#include "rt/heap/hook/entry.h"
#include "rt/heap/hook/extras.h"
#include "rt/heap/hook/own.h"

#include <stdatomic.h>
#include <stdint.h>

/*
 * All are called with three arguments, the most that any has. Functions with
 * fewer ignore the others in the System V ABIs.
 */
struct arguments {
    uintptr_t first, second, third;
};

/* A block of a kind of new is freed by a delete of the same kind only. */
enum blocks { BLOCKS, ALIGNED_BLOCKS };

typedef void *maker(uintptr_t, uintptr_t, uintptr_t);
typedef void ender(uintptr_t, uintptr_t, uintptr_t);

static __thread const void *deleting;

/*
 * Some call malloc, through an import redirected to us: then the block has been
 * recorded there. Some of these return a part of that block, for which no other
 * function of the allocator is made. Their delete frees the whole, through an
 * import, too.
 */
static _Atomic bool mallocs[2], pads[2]; /* by enum blocks */

static bool is(_Atomic bool *what)
{
    return atomic_load_explicit(what, memory_order_relaxed);
}

static bool is_recorded(const struct wndl_rt_heap_thread *t, enum blocks blocks,
    const void *block, size_t size)
{
    if (t != NULL && block != NULL && t->last != 0) {
        uint64_t skipped = (uintptr_t)block - t->last;
        if (skipped <= t->last_size && size <= t->last_size - skipped) {
            atomic_store_explicit(
                skipped == 0 ? &mallocs[blocks] : &pads[blocks], true,
                memory_order_relaxed);
            return true;
        }
    }
    return is(&pads[blocks]) || (t == NULL && is(&mallocs[blocks]));
}

/*
 * It may throw, or call the program's new-handler, which may do anything, so
 * the thread is not busy meanwhile.
 */
static void *make(enum blocks blocks, void *real, const struct arguments *a,
    const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t != NULL) {
        t->last = 0;
        wndl_rt_heap_leave();
    }
    void *block = ((maker *)real)(a->first, a->second, a->third);
    if (is_recorded(t, blocks, block, (size_t)a->first))
        return block;
    return wndl_rt_heap_made(block, (size_t)a->first, regs);
}

/* Some call free, through an import redirected to us. */
static void end(enum blocks blocks, void *real, const struct arguments *a,
    const struct wndl_regs *regs)
{
    void *block = (void *)a->first;
    const void *outer = deleting;
    if (is(&pads[blocks])) {
        ((ender *)real)(a->first, a->second, a->third);
        return;
    }
    struct wndl_rt_heap_thread *t = wndl_rt_heap_ended(block, regs);
    deleting = block;
    ((ender *)real)(a->first, a->second, a->third);
    deleting = outer;
    if (t != NULL)
        wndl_rt_heap_leave();
}

bool wndl_rt_new_is_deleting(const void *block)
{
    return block == deleting;
}

/* The allocator's own. */
#define REAL(tag) wndl_rt_new_functions[WNDL_RT_FUNCTION_##tag].real

#define NEW_HOOK(tag, blocks, name)                                            \
    void *wndl_rt_hook_##tag(uintptr_t, uintptr_t, uintptr_t,                  \
        const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;                       \
    WNDL_RT_HEAP_ENTRY("wndl_rt_" #tag, "wndl_rt_hook_" #tag, 3);              \
    void *wndl_rt_hook_##tag(uintptr_t first, uintptr_t second,                \
        uintptr_t third, const struct wndl_regs *regs)                         \
    {                                                                          \
        return make(blocks, REAL(tag),                                         \
            &(struct arguments){first, second, third}, regs);                  \
    }

#define DELETE_HOOK(tag, blocks, name)                                         \
    void wndl_rt_hook_##tag(uintptr_t, uintptr_t, uintptr_t,                   \
        const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;                       \
    WNDL_RT_HEAP_ENTRY("wndl_rt_" #tag, "wndl_rt_hook_" #tag, 3);              \
    void wndl_rt_hook_##tag(uintptr_t first, uintptr_t second,                 \
        uintptr_t third, const struct wndl_regs *regs)                         \
    {                                                                          \
        end(blocks, REAL(tag), &(struct arguments){first, second, third},      \
            regs);                                                             \
    }

WNDL_RT_NEW_OPERATORS(NEW_HOOK, DELETE_HOOK)
