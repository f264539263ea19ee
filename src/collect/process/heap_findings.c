/* SPDX-License-Identifier: MIT */
/*
 * What is told of a heap when its process has ended: leaks, buffers that
 * grew, wrong frees.
 */
#include "collect/process/heap_impl.h"

/* ---- HLEK */

static bool has_leaks(const struct wndl_heap_leaks *l)
{
    return (l->definite | l->indirect | l->possible) != 0;
}

static uint32_t count_leaks(const struct wndl_heap_part *part)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < part->count; i++)
        count += has_leaks(&part->leaks[i]);
    return count;
}

static void put_leaks(struct wndl_collector_process *p,
    const struct wndl_heap_part *part, uint32_t count)
{
    struct wndl_recording *r = p->recording;
    struct wndl_chunk_writer chunk;
    uint32_t previous = 0;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HLEK);
    wndl_buf_uleb(&r->out, p->index);
    wndl_buf_uleb(&r->out, count);
    for (uint32_t i = 0; i < part->count; i++) {
        const struct wndl_heap_leaks *l = &part->leaks[i];
        if (!has_leaks(l))
            continue;
        wndl_buf_uleb(&r->out, part->first + i - previous);
        wndl_buf_uleb(&r->out, l->definite);
        wndl_buf_uleb(&r->out, l->indirect);
        wndl_buf_uleb(&r->out, l->possible);
        previous = part->first + i;
    }
    wndl_recording_finish(r, &chunk);
}

/* One without any still says that they were looked for. */
static void tell_leaks(
    struct wndl_collector_process *p, struct wndl_heap_part *part)
{
    const struct wndl_collector_heap *heap = p->heap;
    bool told = false;
    if (atomic_load(&heap->head->leaks_known) == 0)
        return;
    for (uint32_t first = 0; wndl_heap_next_part(heap, first, part);
         first += part->count) {
        wndl_heap_read(heap,
            heap->layout.leaks + (size_t)first * sizeof part->leaks[0],
            part->leaks, (size_t)part->count * sizeof part->leaks[0]);
        uint32_t count = count_leaks(part);
        if (count != 0)
            put_leaks(p, part, count);
        told |= count != 0;
    }
    part->count = 0;
    if (!told)
        put_leaks(p, part, 0);
}

/* ---- HGRO */

static bool is_node(const struct wndl_collector_process *p, uint32_t node)
{
    return node != 0 && node <= p->nodes;
}

static void put_growth(
    struct wndl_recording *r, const struct wndl_heap_growth *g)
{
    wndl_buf_uleb(&r->out, g->node);
    wndl_buf_uleb(&r->out, g->by_copy != 0);
    wndl_buf_uleb(&r->out, g->chains);
    wndl_buf_uleb(&r->out, g->steps);
    wndl_buf_uleb(&r->out, g->allocated);
    wndl_buf_uleb(&r->out, g->final);
    wndl_buf_uleb(&r->out, g->doubling);
    wndl_buf_uleb(&r->out, g->least_step);
    wndl_buf_uleb(&r->out, g->most_step);
}

static void put_growths(struct wndl_collector_process *p,
    const struct wndl_heap_growth *growths, uint32_t count)
{
    struct wndl_recording *r = p->recording;
    struct wndl_chunk_writer chunk;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HGRO);
    wndl_buf_uleb(&r->out, p->index);
    wndl_buf_uleb(&r->out, count);
    for (uint32_t i = 0; i < WNDL_HEAP_GROWTHS; i++) {
        if (is_node(p, growths[i].node) && growths[i].chains != 0)
            put_growth(r, &growths[i]);
    }
    wndl_recording_finish(r, &chunk);
}

static void tell_growths(struct wndl_collector_process *p)
{
    struct wndl_mem *mem = wndl_mem_libc();
    size_t size = sizeof(struct wndl_heap_growth) * WNDL_HEAP_GROWTHS;
    struct wndl_heap_growth *growths = mem->resize(mem, NULL, size);
    uint32_t count = 0;
    if (growths == NULL)
        return;
    wndl_heap_read(p->heap, offsetof(struct wndl_heap, growths), growths, size);
    for (uint32_t i = 0; i < WNDL_HEAP_GROWTHS; i++)
        count += is_node(p, growths[i].node) && growths[i].chains != 0;
    if (count != 0)
        put_growths(p, growths, count);
    wndl_mem_free(mem, growths);
}

/* ---- HWRO */

static bool is_wrong(
    const struct wndl_collector_process *p, const struct wndl_heap_wrong *w)
{
    return is_node(p, w->node) && w->count != 0 &&
           w->kind >= WNDL_HEAP_WRONG_FOREIGN &&
           w->kind <= WNDL_HEAP_WRONG_OTHER;
}

static void tell_wrongs(struct wndl_collector_process *p)
{
    struct wndl_heap_wrong wrongs[WNDL_HEAP_WRONGS];
    struct wndl_recording *r = p->recording;
    struct wndl_chunk_writer chunk;
    uint32_t count = 0;
    wndl_heap_read(
        p->heap, offsetof(struct wndl_heap, wrongs), wrongs, sizeof wrongs);
    for (uint32_t i = 0; i < WNDL_HEAP_WRONGS; i++)
        count += is_wrong(p, &wrongs[i]);
    if (count == 0)
        return;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HWRO);
    wndl_buf_uleb(&r->out, p->index);
    wndl_buf_uleb(&r->out, count);
    for (uint32_t i = 0; i < WNDL_HEAP_WRONGS; i++) {
        if (!is_wrong(p, &wrongs[i]))
            continue;
        wndl_buf_uleb(&r->out, wrongs[i].node);
        wndl_buf_uleb(&r->out, wrongs[i].kind);
        wndl_buf_uleb(&r->out, wrongs[i].count);
        wndl_buf_uleb(&r->out, wrongs[i].address);
    }
    wndl_recording_finish(r, &chunk);
}

void wndl_heap_put_findings(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part)
{
    tell_leaks(p, part);
    tell_growths(p);
    tell_wrongs(p);
    if ((p->heap->request.flags & WNDL_HEAP_CUMULATIVE) != 0)
        wndl_heap_put_couples(p, sum, part);
}
