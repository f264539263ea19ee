/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/growth.h"

/*
 * Rows of realloc are at even places, those of copies at odd ones. NULL if
 * there is no room.
 */
static struct wndl_heap_growth *find(
    struct wndl_heap *heap, uint32_t node, bool by_copy)
{
    uint32_t first = node * UINT32_C(0x9e3779b1) >> 16;
    for (uint32_t i = 0; i < WNDL_HEAP_GROWTHS / 2; i++) {
        uint32_t at = 2 * (first + i) % WNDL_HEAP_GROWTHS + by_copy;
        struct wndl_heap_growth *g = &heap->growths[at];
        uint32_t here = atomic_load_explicit(&g->node, memory_order_relaxed);
        if (here == 0 &&
            atomic_compare_exchange_strong(&g->node, &here, node)) {
            g->by_copy = by_copy;
            return g;
        }
        if (here == node)
            return g;
    }
    return NULL;
}

static void add(_Atomic uint64_t *to, uint64_t what)
{
    atomic_fetch_add_explicit(to, what, memory_order_relaxed);
}

static uint64_t power_of_two(uint64_t size)
{
    uint64_t power = 16;
    while (power < size && power != 0)
        power *= 2;
    return power;
}

static void note_step(struct wndl_heap_growth *g, uint64_t step)
{
    uint64_t least = atomic_load(&g->least_step);
    while ((least == 0 || step < least) &&
           !atomic_compare_exchange_weak(&g->least_step, &least, step))
        ;
    uint64_t most = atomic_load(&g->most_step);
    while (step > most &&
           !atomic_compare_exchange_weak(&g->most_step, &most, step))
        ;
}

/*
 * Doubling goes from one power of two to the next. The sum of those above
 * `from`'s, up to `to`'s, is twice the difference of the two.
 */
void wndl_rt_heap_grown(
    struct wndl_heap *heap, const struct wndl_rt_growth *growth)
{
    struct wndl_heap_growth *g = find(heap, growth->node, growth->by_copy);
    if (g == NULL)
        return;
    uint64_t from = power_of_two(growth->from);
    add(&g->steps, 1);
    add(&g->allocated, growth->to);
    add(&g->final, growth->to - growth->from);
    add(&g->doubling, 2 * (power_of_two(growth->to) - from));
    note_step(g, growth->to - growth->from);
    if (!growth->is_first)
        return;
    add(&g->chains, 1);
    add(&g->allocated, growth->from);
    add(&g->final, growth->from);
    add(&g->doubling, from);
}

static bool is_same(
    const struct wndl_heap_wrong *w, const struct wndl_rt_wrong *wrong)
{
    return w->kind == wrong->kind && w->taken_at == wrong->taken_at &&
           w->taken_by == wrong->taken_by && w->freed_by == wrong->freed_by;
}

void wndl_rt_heap_wrong(
    struct wndl_heap *heap, const struct wndl_rt_wrong *wrong)
{
    for (uint32_t i = 0; i < WNDL_HEAP_WRONGS; i++) {
        struct wndl_heap_wrong *w = &heap->wrongs[i];
        uint32_t here = atomic_load_explicit(&w->node, memory_order_relaxed);
        if (here == wrong->node && is_same(w, wrong)) {
            add(&w->count, 1);
            return;
        }
        if (here == 0 &&
            atomic_compare_exchange_strong(&w->node, &here, wrong->node)) {
            w->kind = wrong->kind;
            w->address = wrong->address;
            w->taken_at = wrong->taken_at;
            w->taken_by = (uint8_t)wrong->taken_by;
            w->freed_by = (uint8_t)wrong->freed_by;
            add(&w->count, 1);
            return;
        }
    }
}
