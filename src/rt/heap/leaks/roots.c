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

static void root(struct roots *r, uintptr_t start, uintptr_t end, bool is_stack)
{
    const struct wndl_rt_root_range range = {start, end, is_stack};
    r->visit(r->context, &range);
}

static void root_around_blocks(struct roots *r, const struct wndl_rt_area *a)
{
    uintptr_t from = a->start, start;
    const uintptr_t sp = r->areas->wanted->sp;
    const bool is_stack = sp >= a->start && sp < a->end;
    for (uintptr_t at = a->start;
         a->blocks != 0 && wndl_rt_block_bitmap_after(&a->bitmap, at, &start);
         at = start + WNDL_RT_BLOCK_ALIGNMENT) {
        root(r, from, start, is_stack);
        from = start + wndl_rt_areas_size_at(r->areas, start);
    }
    root(r, from, a->end, is_stack);
}

/* Memory after a module's data in the same mapping may be a heap. */
static void root_in_heap(struct roots *r, const struct wndl_rt_area *a)
{
    struct wndl_dlmodule module;
    uintptr_t tp = (uintptr_t)wndl_arch_thread_pointer();
    if (wndl_dlfind(a->start, &module))
        root(r, a->start, (uintptr_t)module.map_end, false);
    if (tp < a->start || tp >= a->end)
        return;
    bool whole = tp - a->start < BELOW;
    root(r, whole ? a->start : tp - BELOW,
        a->end - tp < ABOVE ? a->end : tp + ABOVE, false);
}

static void root_of_thread(void *context, const struct wndl_stack_range *stack)
{
    struct roots *r = context;
    const uintptr_t sp = r->areas->wanted->sp;
    if (sp < stack->low || sp >= stack->high)
        root(r, (uintptr_t)stack->low, (uintptr_t)stack->high + ABOVE, true);
}

void wndl_rt_roots_each(struct wndl_rt_areas *areas,
    const struct wndl_rt_root *early, size_t count,
    void (*visit)(void *context, const struct wndl_rt_root_range *range),
    void *context)
{
    struct roots r = {areas, visit, context};
    for (size_t i = 0; i < count; i++)
        root(&r, early[i].start, early[i].start + early[i].size, false);
    for (size_t i = 0; i < areas->count; i++) {
        const struct wndl_rt_area *a = &areas->all[i];
        if (a->is_read && a->is_heap)
            root_in_heap(&r, a);
        else if (a->is_read)
            root_around_blocks(&r, a);
    }
    wndl_rt_heap_threads_each(root_of_thread, &r);
}
