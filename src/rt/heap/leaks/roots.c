/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/roots.h"

#include "os/dlfind.h"
#include "rt/arch/arch.h"
#include "rt/heap/count/thread.h"

enum {
    /* maximum of bytes above the thread pointer, and below it */
    THREAD_STRUCT = 4096,
    STATIC_TLS = 256 * 1024,
    ABOVE = WNDL_ARCH_TLS_IS_ABOVE ? STATIC_TLS : THREAD_STRUCT,
    BELOW = WNDL_ARCH_TLS_IS_ABOVE ? THREAD_STRUCT : STATIC_TLS,
};

struct roots {
    struct wndl_rt_areas *areas;
    void (*visit)(void *context, const struct wndl_rt_root_range *range);
    void *context;
};

static void emit(const struct roots *r, uintptr_t start, uintptr_t end,
    enum wndl_rt_root_kind kind, int tid)
{
    const struct wndl_rt_root_range range = {start, end, kind, tid};
    if (start < end)
        r->visit(r->context, &range);
}

/* ---- stacks */

/* A thread's stack pointer, and its id; 0: it is not known. */
struct position {
    uintptr_t sp;
    int tid;
};

static bool is_in(uintptr_t sp, const struct wndl_stack_range *stack)
{
    return sp >= stack->low && sp < stack->high;
}

static struct position position_in(
    const struct wndl_rt_areas *s, const struct wndl_stack_range *stack)
{
    if (is_in(s->wanted->sp, stack))
        return (struct position){s->wanted->sp, s->wanted->tid};
    for (size_t i = 0; i < s->thread_count; i++) {
        const struct wndl_rt_registers *t = &s->threads[i];
        const uintptr_t sp = (uintptr_t)t->regs.sp;
        if (atomic_load(&t->answered) && is_in(sp, stack))
            return (struct position){sp - WNDL_ARCH_RED_ZONE, t->tid};
    }
    return (struct position){0, 0};
}

/* Memory below the stack pointer is left over from calls. */
static void root_of_stack(const struct roots *r,
    const struct wndl_stack_range *stack, uintptr_t start, uintptr_t end)
{
    const struct position at = position_in(r->areas, stack);
    emit(r, at.sp > start ? at.sp : start, end, WNDL_RT_ROOT_STACK, at.tid);
}

/* The stack with the lowest address that ends after `start`. */
struct nearest {
    uintptr_t start;
    struct wndl_stack_range stack; /* high == 0: none */
};

static void take_nearest(void *context, const struct wndl_stack_range *stack)
{
    struct nearest *n = context;
    if (stack->high > n->start &&
        (n->stack.high == 0 || stack->low < n->stack.low))
        n->stack = *stack;
}

/* Memory that may have stacks of threads in it. */
static void root(const struct roots *r, uintptr_t start, uintptr_t end)
{
    while (start < end) {
        struct nearest n = {.start = start};
        wndl_rt_heap_threads_each(take_nearest, &n);
        const uintptr_t low = (uintptr_t)n.stack.low;
        if (n.stack.high == 0 || low >= end) {
            emit(r, start, end, WNDL_RT_ROOT_MEMORY, 0);
            return;
        }
        emit(r, start, low, WNDL_RT_ROOT_MEMORY, 0);
        const uintptr_t from = low > start ? low : start;
        const uintptr_t to = n.stack.high < end ? (uintptr_t)n.stack.high : end;
        root_of_stack(r, &n.stack, from, to);
        start = to;
    }
}

/* ---- areas */

static void root_around_blocks(struct roots *r, const struct wndl_rt_area *a)
{
    uintptr_t from = a->start, start;
    for (uintptr_t at = a->start;
         a->blocks != 0 && wndl_rt_block_bitmap_after(&a->bitmap, at, &start);
         at = start + WNDL_RT_BLOCK_ALIGNMENT) {
        root(r, from, start);
        from = start + wndl_rt_areas_size_at(r->areas, start);
    }
    root(r, from, a->end);
}

/* Memory after a module's data in the same mapping may be a heap. */
static void root_in_heap(struct roots *r, const struct wndl_rt_area *a)
{
    struct wndl_dlmodule module;
    uintptr_t tp = (uintptr_t)wndl_arch_thread_pointer();
    if (wndl_dlfind(a->start, &module))
        root(r, a->start, (uintptr_t)module.map_end);
    if (tp < a->start || tp >= a->end)
        return;
    bool whole = tp - a->start < BELOW;
    root(r, whole ? a->start : tp - BELOW,
        a->end - tp < ABOVE ? a->end : tp + ABOVE);
}

/* Whether the roots of areas have all of a stack. */
static bool is_visited(
    const struct wndl_rt_areas *s, const struct wndl_stack_range *stack)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct wndl_rt_area *a = &s->all[i];
        if (stack->high > a->start && stack->high <= a->end)
            return a->is_read && !a->is_heap;
    }
    return false;
}

static void root_of_thread(void *context, const struct wndl_stack_range *stack)
{
    const struct roots *r = context;
    const uintptr_t high = (uintptr_t)stack->high;
    if (is_visited(r->areas, stack) || is_in(r->areas->wanted->sp, stack))
        return;
    root_of_stack(r, stack, (uintptr_t)stack->low, high);
    emit(r, high, high + ABOVE, WNDL_RT_ROOT_MEMORY, 0);
}

static void roots_of_registers(const struct roots *r)
{
    for (size_t i = 0; i < r->areas->thread_count; i++) {
        const struct wndl_rt_registers *t = &r->areas->threads[i];
        const uintptr_t start = (uintptr_t)t->words;
        if (atomic_load(&t->answered))
            emit(r, start, start + sizeof t->words, WNDL_RT_ROOT_REGISTERS,
                t->tid);
    }
}

void wndl_rt_roots_each(struct wndl_rt_areas *areas,
    const struct wndl_rt_root *early, size_t count,
    void (*visit)(void *context, const struct wndl_rt_root_range *range),
    void *context)
{
    struct roots r = {areas, visit, context};
    for (size_t i = 0; i < count; i++)
        root(&r, early[i].start, early[i].start + early[i].size);
    for (size_t i = 0; i < areas->count; i++) {
        const struct wndl_rt_area *a = &areas->all[i];
        if (a->is_read && a->is_heap)
            root_in_heap(&r, a);
        else if (a->is_read)
            root_around_blocks(&r, a);
    }
    wndl_rt_heap_threads_each(root_of_thread, &r);
    roots_of_registers(&r);
}
