/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/thread.h"

#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/memory.h"
#include "rt/core/rt.h"
#include "rt/heap/count/blocks.h"
#include "rt/walk/jit_registry.h"
#include "rt/walk/rules.h"
#include "unwind/core/frame.h"
#include "unwind/fast/resume.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_LIMIT = 64, ALIGNMENT = 64 };

/* All that were ever made; none is freed. */
static _Atomic(struct wndl_rt_heap_thread *) all;
static _Atomic uint32_t made;
static _Atomic uint32_t limit = FIRST_LIMIT; /* of `made`, before a sweep */

static struct wndl_rt_heap_thread *claim_free(int tid)
{
    struct wndl_rt_heap_thread *t = atomic_load(&all);
    for (; t != NULL; t = t->next) {
        int owner = 0;
        if (atomic_load_explicit(&t->owner, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&t->owner, &owner, tid))
            return t;
    }
    return NULL;
}

/* Frees those whose threads have ended without notice. */
static void sweep(void)
{
    struct wndl_rt_heap_thread *t = atomic_load(&all);
    for (; t != NULL; t = t->next) {
        int owner = atomic_load(&t->owner);
        if (owner != 0 && !wndl_rt_is_careful() &&
            wndl_raw3(SYS_tgkill, wndl_rt.pid, owner, 0) == -ESRCH)
            (void)atomic_compare_exchange_strong(&t->owner, &owner, 0);
    }
    atomic_store(&limit, 2 * atomic_load(&made));
}

static size_t aligned(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static struct wndl_rt_heap_thread *make(int tid)
{
    size_t own = aligned(sizeof(struct wndl_rt_heap_thread));
    size_t walks = aligned(wndl_resume_size(wndl_rt.max_frames));
    size_t hashes =
        (wndl_rt.max_frames + 1) * sizeof(struct wndl_rt_stack_hash);
    size_t size = own + walks + hashes;
    uint8_t *memory = wndl_rt_map_undumped(size);
    if (memory == NULL)
        return NULL;
    struct wndl_rt_heap_thread *t = (void *)memory;
    t->walks =
        wndl_resume_init(memory + own, wndl_rt.max_frames, wndl_rt_unwinder());
    t->nodes.hashes = (void *)(memory + own + walks);
    atomic_store(&t->owner, tid);
    t->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &t->next, t))
        ;
    atomic_fetch_add(&made, 1);
    return t;
}

static void forget(struct wndl_rt_heap_thread *t, int tid)
{
    t->last = 0;
    t->alloc_site = 0;
    t->free_site = 0;
    t->random = (uint64_t)tid * WNDL_GOLDEN;
    t->rules_age = atomic_load(&wndl_rt.rules_age);
    wndl_resume_forget(t->walks);
    t->stacks = (struct wndl_rt_stacks){.are_called = true};
    memset(&t->nodes.known, 0, sizeof t->nodes.known);
    t->nodes.known.age = t->rules_age;
    t->prefault = wndl_rt_prefault_none();
}

struct wndl_rt_heap_thread *wndl_rt_heap_thread_take(struct wndl_heap *heap)
{
    int tid = wndl_raw_gettid();
    struct wndl_rt_heap_thread *t = claim_free(tid);
    if (t == NULL && atomic_load(&made) >= atomic_load(&limit)) {
        sweep();
        t = claim_free(tid);
    }
    if (t == NULL)
        t = make(tid);
    if (t == NULL)
        return NULL;
    forget(t, tid);
    t->stripe = wndl_rt_stripe_take(heap, wndl_rt.pid, tid);
    /* Another stripe is used only if a thread has the first. */
    if (t->stripe.totals != &heap->stripe[0])
        wndl_rt_blocks_share();
    return t;
}

void wndl_rt_heap_thread_leave(struct wndl_rt_heap_thread *t)
{
    wndl_rt_stripe_leave(&t->stripe);
    atomic_store(&t->owner, 0);
}

void wndl_rt_heap_threads_forget(void)
{
    struct wndl_rt_heap_thread *t = atomic_load(&all);
    for (; t != NULL; t = t->next) {
        memset(t->recent, 0, sizeof t->recent);
        atomic_store(&t->owner, 0);
    }
}

bool wndl_rt_heap_threads_freed(uint64_t address)
{
    const struct wndl_rt_heap_thread *t = atomic_load(&all);
    for (; t != NULL; t = t->next) {
        for (uint32_t i = 0; i < WNDL_RT_FREED; i++) {
            if (atomic_load_explicit(&t->freed_last[i], memory_order_relaxed) ==
                address)
                return true;
        }
    }
    return false;
}

bool wndl_rt_heap_threads_are_in(uintptr_t start, uintptr_t end)
{
    const struct wndl_rt_heap_thread *t = atomic_load(&all);
    while (t != NULL && ((uintptr_t)t < start || (uintptr_t)t >= end))
        t = t->next;
    return t != NULL;
}

void wndl_rt_heap_threads_each(
    void (*visit)(void *context, const struct wndl_stack_range *stack),
    void *context)
{
    const struct wndl_rt_heap_thread *t = atomic_load(&all);
    for (; t != NULL; t = t->next) {
        if (atomic_load(&t->owner) != 0 && t->stacks.own.high != 0)
            visit(context, &t->stacks.own);
    }
}

/* After an unloading, drops what was learnt before. */
static void catch_up(struct wndl_rt_heap_thread *t)
{
    uint32_t age =
        atomic_load_explicit(&wndl_rt.rules_age, memory_order_acquire);
    if (__builtin_expect(t->rules_age == age, 1))
        return;
    t->rules_age = age;
    memset(&t->nodes.known, 0, sizeof t->nodes.known);
    t->nodes.known.age = age;
    wndl_resume_forget(t->walks);
}

/* Does what wndl_rt_stacks_around() does, in the simple case. */
static inline size_t stacks_around(struct wndl_rt_heap_thread *t, uint64_t sp,
    struct wndl_stack_range stacks[WNDL_RT_STACKS_GIVEN])
{
    const struct wndl_stack_range *own = &t->stacks.own;
    if (__builtin_expect(sp < own->low || sp >= own->high, 0))
        return wndl_rt_stacks_around(&t->stacks, sp,
            (struct wndl_bytes){t->scratch, sizeof t->scratch}, stacks);
    stacks[0] = (struct wndl_stack_range){sp - WNDL_ARCH_RED_ZONE, own->high};
    return 1;
}

bool wndl_rt_heap_walk(struct wndl_rt_heap_thread *t,
    const struct wndl_regs *regs, struct wndl_resumed *stack,
    struct wndl_rt_stack_hash *hash)
{
    struct wndl_stack_range stacks[WNDL_RT_STACKS_GIVEN];
    catch_up(t);
    size_t count = stacks_around(t, regs->sp, stacks);
    if (count == 0)
        return false;
    stack->walk.method = wndl_rt_walk_method(wndl_rt.unwind);
    stack->walk.jit = wndl_rt_jit_registry();
    wndl_unwind_resume_called(t->walks, regs, stacks, count, stack);
    struct wndl_heap_stripe *totals = t->stripe.totals;
    wndl_rt_stripe_add(&t->stripe, &totals->frames, stack->walk.count);
    wndl_rt_stripe_add(&t->stripe, &totals->frames_resumed, stack->resumed);
    *hash = wndl_rt_nodes_hash(&t->nodes, stack);
    return true;
}

enum wndl_loss wndl_rt_heap_stack(
    struct wndl_rt_heap_thread *t, const struct wndl_regs *regs, uint32_t *node)
{
    struct wndl_resumed stack;
    struct wndl_rt_stack_hash hash;
    return wndl_rt_heap_walk(t, regs, &stack, &hash)
               ? wndl_rt_tree_add(&t->nodes.known, &stack, node)
               : WNDL_LOSS_NO_STACK;
}
