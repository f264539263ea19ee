/* SPDX-License-Identifier: MIT */
#include "analyze/heap/resident_places.h"

#include "analyze/heap/stack_texts.h"

#include <stdlib.h>
#include <windlass/unwind.h>

/* A file may have more distinct places than a process can have. */
enum { FRAMES = 3, MOST = 4096 };

struct filling {
    struct wndl_heap_report *r;
    struct wndl_stack_texts stacks;
};

/* The process's measurement that counts at that time; NULL: none. */
static const struct wndl_heap_memory *memory_at(const struct wndl_profile *p,
    const struct wndl_process_heap *heap, uint64_t time)
{
    const struct wndl_process *process =
        wndl_vec_at(&p->processes, heap->process);
    const struct wndl_heap_memory *memory = heap->memory.data, *found = NULL;
    for (size_t i = 0; i < heap->memory.len && memory[i].time <= time; i++)
        found = &memory[i];
    return process->end != UINT64_MAX && process->end + 1 <= time ? NULL
                                                                  : found;
}

static bool are_same_callers(
    const struct wndl_heap_list *list, uint32_t a, uint32_t b)
{
    for (unsigned i = 0; i < FRAMES && a != b; i++) {
        if (a == 0 || b == 0)
            return false;
        const struct wndl_heap_frame *x = wndl_heap_frame_at(list, a);
        const struct wndl_heap_frame *y = wndl_heap_frame_at(list, b);
        if (x->text != y->text)
            return false;
        a = x->caller;
        b = y->caller;
    }
    return true;
}

static bool is_same(const struct wndl_heap_report *r,
    const struct wndl_resident_place *a, const struct wndl_resident_place *b)
{
    if (a->kind != b->kind || a->is_caller != b->is_caller)
        return false;
    if (a->is_caller)
        return are_same_callers(&r->peak_list, a->leaf, b->leaf);
    return wndl_bytes_equal(a->name, b->name) &&
           (a->name.size != 0 || a->start == b->start);
}

static bool add_place(
    struct filling *f, const struct wndl_heap_place *place, bool is_last)
{
    struct wndl_vec *places = &f->r->places;
    struct wndl_resident_place more = {
        .kind = (enum wndl_memory_kind)place->kind,
        .most = is_last ? 0 : place->bytes,
        .last = is_last ? place->bytes : 0,
        .is_caller = place->node != 0,
        .name = place->name,
        .start = place->start,
        .last_live = is_last ? place->live : 0,
    };
    if (more.is_caller && !wndl_stack_texts_of(&f->stacks, place->node,
                              WNDL_END_COMPLETE, &more.leaf))
        return false;
    for (size_t i = 0; i < places->len; i++) {
        struct wndl_resident_place *known = wndl_vec_at(places, i);
        if (!is_same(f->r, known, &more))
            continue;
        known->most += more.most;
        known->last += more.last;
        known->last_live += more.last_live;
        return true;
    }
    if (places->len == MOST)
        return true;
    struct wndl_resident_place *added = wndl_vec_push(places);
    if (added == NULL)
        return false;
    *added = more;
    return true;
}

static bool add_moment(struct filling *f, uint64_t time, bool is_last)
{
    const struct wndl_profile *p = f->r->symbolized->profile;
    const struct wndl_heap_row *rows = f->r->rows.data;
    for (size_t i = 0; i < f->r->rows.len; i++) {
        const struct wndl_process_heap *heap =
            wndl_vec_at(&p->heaps, rows[i].heap);
        const struct wndl_heap_memory *memory = memory_at(p, heap, time);
        for (uint32_t k = 0; memory != NULL && k < memory->place_count; k++) {
            if (!add_place(f,
                    wndl_vec_at(&heap->places, memory->first_place + k),
                    is_last))
                return false;
        }
    }
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    const struct wndl_resident_place *x = a, *y = b;
    if (x->most != y->most)
        return x->most > y->most ? -1 : 1;
    return (x->last < y->last) - (x->last > y->last);
}

bool wndl_heap_resident_places_fill(struct wndl_heap_report *r)
{
    struct filling f = {.r = r};
    if (!r->resident_known)
        return true;
    const bool filled =
        wndl_stack_texts_init(&f.stacks, &r->peak_list, r->symbolized) &&
        add_moment(&f, r->resident_most.time, false) &&
        add_moment(&f, r->resident_last.time, true);
    wndl_stack_texts_free(&f.stacks);
    if (r->places.len != 0)
        qsort(r->places.data, r->places.len, sizeof(struct wndl_resident_place),
            by_bytes);
    return filled;
}
