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

/* ---- the scan */

static enum wndl_scan_end scan_end(const struct wndl_heap_scan *head)
{
    switch (atomic_load(&head->state)) {
    case WNDL_HEAP_SCAN_DONE:
        return head->bytes <= WNDL_HEAP_SCAN_MOST - sizeof *head
                   ? WNDL_SCAN_DONE
                   : WNDL_SCAN_NOT_MADE;
    case WNDL_HEAP_SCAN_TOO_LARGE:
        return WNDL_SCAN_TOO_LARGE;
    default:
        return WNDL_SCAN_NOT_MADE;
    }
}

/* A part at a time, because all of it may be a share of the heap. */
static void put_scan_bytes(
    struct wndl_collector_process *p, uint64_t size, size_t from)
{
    enum { PART = 256 * 1024 };
    uint8_t *part = wndl_mem_zalloc(wndl_mem_libc(), PART);
    for (uint64_t at = 0; part != NULL && at < size; at += PART) {
        const size_t count = size - at < PART ? (size_t)(size - at) : PART;
        wndl_heap_read(p->heap, from + (size_t)at, part, count);
        wndl_recording_scan(p->recording, p->index, WNDL_SCAN_DONE, at,
            (struct wndl_bytes){part, count});
        wndl_recording_flush(p->recording);
    }
    wndl_mem_free(wndl_mem_libc(), part);
}

static void put_scan(struct wndl_collector_process *p)
{
    const struct wndl_collector_heap *heap = p->heap;
    const size_t from = heap->layout.size;
    struct wndl_heap_scan head = {0};
    if ((heap->request.flags & WNDL_HEAP_SCAN) == 0)
        return;
    if (wndl_heap_has_scan(heap->request.sites, heap->request.flags))
        wndl_heap_read(heap, from, &head, sizeof head);
    const enum wndl_scan_end end = scan_end(&head);
    if (end == WNDL_SCAN_DONE)
        put_scan_bytes(p, head.bytes, from + 4096);
    else
        wndl_recording_scan(
            p->recording, p->index, end, 0, (struct wndl_bytes){0});
}

void wndl_heap_put_findings(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part)
{
    put_leaks(p, part);
    put_growths(p);
    put_wrongs(p);
    put_scan(p);
    if ((p->heap->request.flags & WNDL_HEAP_CUMULATIVE) != 0)
        wndl_heap_put_paired(p, sum, part);
}
