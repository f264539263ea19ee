/* SPDX-License-Identifier: MIT */
/*
 * The findings in a heap after its process has ended: leaks, buffers that grew,
 * wrong frees.
 */
#include "collect/process/heap_impl.h"

/* A chunk without any says that leaks were searched for. */
static void put_leaks(
    struct wndl_collector_process *p, struct wndl_heap_part *part)
{
    const struct wndl_collector_heap *heap = p->heap;
    bool any = false;
    if (atomic_load(&heap->head->leaks_known) == 0)
        return;
    for (uint32_t first = 0; wndl_heap_next_part(heap, first, part);
         first += part->count) {
        wndl_heap_read(heap,
            heap->layout.leaks + (size_t)first * sizeof part->leaks[0],
            part->leaks, (size_t)part->count * sizeof part->leaks[0]);
        any |= wndl_recording_leaks(
            p->recording, p->index, first, part->leaks, part->count);
    }
    if (!any)
        wndl_recording_no_leaks(p->recording, p->index);
}

static void put_growths(struct wndl_collector_process *p)
{
    const struct wndl_heap_process process = {p->index, p->nodes};
    struct wndl_mem *mem = wndl_mem_libc();
    const size_t offset = offsetof(struct wndl_heap, growths);
    size_t size = sizeof(struct wndl_heap_growth) * WNDL_HEAP_GROWTHS;
    if (wndl_heap_is_untouched(p->heap, offset, size))
        return;
    struct wndl_heap_growth *growths = mem->resize(mem, NULL, size);
    if (growths == NULL)
        return;
    wndl_heap_read(p->heap, offset, growths, size);
    wndl_recording_growths(p->recording, &process, growths);
    wndl_mem_free(mem, growths);
}

static void put_wrongs(struct wndl_collector_process *p)
{
    const struct wndl_heap_process process = {p->index, p->nodes};
    struct wndl_heap_wrong wrongs[WNDL_HEAP_WRONGS];
    wndl_heap_read(
        p->heap, offsetof(struct wndl_heap, wrongs), wrongs, sizeof wrongs);
    wndl_recording_wrongs(p->recording, &process, wrongs);
}

void wndl_heap_put_findings(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part)
{
    put_leaks(p, part);
    put_growths(p);
    put_wrongs(p);
    wndl_heap_end_scan(p);
    if ((p->heap->request.flags & WNDL_HEAP_CUMULATIVE) != 0)
        wndl_heap_put_paired(p, sum, part);
}
