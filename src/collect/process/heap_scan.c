/* SPDX-License-Identifier: MIT */
/* Scans of heaps: who points to whom, as the process writes it down. */
#include "collect/process/heap_impl.h"

#include "collect/proc/proc.h"

static bool has_scan(const struct wndl_collector_heap *heap)
{
    return wndl_heap_has_scan(heap->request.sites, heap->request.flags);
}

static enum wndl_scan_end end_of(const struct wndl_heap_scan *head)
{
    switch (head->state) {
    case WNDL_HEAP_SCAN_DONE:
        return head->bytes <= WNDL_HEAP_SCAN_MOST - 4096 ? WNDL_SCAN_DONE
                                                         : WNDL_SCAN_NOT_MADE;
    case WNDL_HEAP_SCAN_TOO_LARGE:
        return WNDL_SCAN_TOO_LARGE;
    case WNDL_HEAP_SCAN_GIVEN_UP:
        return WNDL_SCAN_GIVEN_UP;
    default:
        return WNDL_SCAN_NOT_MADE;
    }
}

/* A part at a time, because all of it may be a share of the heap. */
static void put_bytes(struct wndl_collector_process *p,
    const struct wndl_recording_scan *scan, uint64_t size)
{
    enum { PART = 256 * 1024 };
    const size_t from = p->heap->layout.size + 4096;
    uint8_t *part = wndl_mem_zalloc(wndl_mem_libc(), PART);
    for (uint64_t at = 0; part != NULL && at < size; at += PART) {
        const size_t count = size - at < PART ? (size_t)(size - at) : PART;
        wndl_heap_read(p->heap, from + (size_t)at, part, count);
        wndl_recording_scan(
            p->recording, scan, at, (struct wndl_bytes){part, count});
        wndl_recording_flush(p->recording);
    }
    wndl_mem_free(wndl_mem_libc(), part);
}

static void put_scan(struct wndl_collector_process *p, uint32_t snapshot,
    const struct wndl_heap_scan *head)
{
    const struct wndl_recording_scan scan = {
        .process = p->index,
        .snapshot = snapshot,
        .end = end_of(head),
        .written = p->heap->scan_written,
        .stopped = head->stopped,
        .contents = head->has_contents != 0 ? p->heap->contents : 0,
    };
    p->heap->contents = 0;
    if (scan.end == WNDL_SCAN_DONE)
        put_bytes(p, &scan, head->bytes);
    else
        wndl_recording_scan(p->recording, &scan, 0, (struct wndl_bytes){0});
}

static uint32_t read_head(
    const struct wndl_collector_heap *heap, struct wndl_heap_scan *head)
{
    wndl_heap_read(heap, heap->layout.size, head, sizeof *head);
    return atomic_load(&head->answers);
}

/* ---- contents */

/* Returns whether all of the window was written. */
static bool put_window(
    struct wndl_collector_process *p, const struct wndl_heap_scan *head)
{
    enum { PART = 256 * 1024 };
    const uint64_t most = WNDL_HEAP_SCAN_MOST - WNDL_HEAP_WINDOW;
    if (head->contents_bytes > WNDL_HEAP_WINDOW || head->contents_offset > most)
        return false;
    const uint64_t from = p->heap->layout.size + head->contents_offset;
    uint8_t *part = wndl_mem_zalloc(wndl_mem_libc(), PART);
    const uint64_t size = part == NULL ? 0 : head->contents_bytes;
    for (uint64_t at = 0; at < size; at += PART) {
        const size_t count = size - at < PART ? (size_t)(size - at) : PART;
        wndl_heap_read(p->heap, (size_t)(from + at), part, count);
        wndl_recording_contents(p->recording, p->index, p->heap->contents,
            (struct wndl_bytes){part, count});
        p->heap->contents += count;
        wndl_recording_flush(p->recording);
    }
    wndl_mem_free(wndl_mem_libc(), part);
    return part != NULL;
}

void wndl_heap_take_contents(struct wndl_collector_process *p)
{
    struct wndl_collector_heap *heap = p->heap;
    struct wndl_heap_scan head;
    if (!has_scan(heap) || (heap->request.flags & WNDL_HEAP_CONTENTS) == 0)
        return;
    (void)read_head(heap, &head);
    const uint32_t filled = atomic_load(&head.contents_filled);
    if (filled != atomic_load(&heap->head->contents_taken) &&
        put_window(p, &head))
        atomic_store(&heap->head->contents_taken, filled);
}

/* ---- scans */

void wndl_heap_ask_scan(struct wndl_collector_process *p)
{
    if (has_scan(p->heap))
        atomic_store(&p->heap->head->scan_asked, p->heap->snapshots);
}

/*
 * The kernel copies a page for the program at its first write: a minor fault,
 * as that for a new page is.
 */
static void watch_copy(
    struct wndl_collector_process *p, struct wndl_heap_scan *head)
{
    struct wndl_collector_heap *heap = p->heap;
    struct wndl_proc_stat stat;
    if (!wndl_proc_stat(p->pid, &stat) || stat.faults < head->faults)
        return;
    heap->scan_written = (stat.faults - head->faults) * 4096;
    if (heap->scan_written > heap->request.scan_memory)
        atomic_store(&heap->head->scan_given_up, atomic_load(&head->copied));
}

/* Nodes that the scan names are written before it. At the end all are. */
static bool waits_for_nodes(
    const struct wndl_collector_process *p, const struct wndl_heap_scan *head)
{
    return head->nodes > p->nodes && head->nodes <= p->tree.max_nodes;
}

void wndl_heap_take_scan(struct wndl_collector_process *p, bool last)
{
    struct wndl_collector_heap *heap = p->heap;
    struct wndl_heap_scan head;
    if (!has_scan(heap) || atomic_load(&heap->head->scan_asked) == heap->scan)
        return;
    const uint32_t answers = read_head(heap, &head);
    const uint32_t copied = atomic_load(&head.copied);
    if (copied != 0 && copied != heap->scan)
        watch_copy(p, &head);
    if (answers == heap->scan || answers > heap->snapshots ||
        (!last && waits_for_nodes(p, &head)))
        return;
    put_scan(p, answers - 1, &head);
    heap->scan = answers;
    heap->scan_written = 0;
}

void wndl_heap_end_scan(struct wndl_collector_process *p)
{
    struct wndl_collector_heap *heap = p->heap;
    struct wndl_heap_scan head = {0};
    if ((heap->request.flags & WNDL_HEAP_SCAN) == 0)
        return;
    wndl_heap_take_contents(p);
    wndl_heap_take_scan(p, true);
    const bool is_last =
        has_scan(heap) && read_head(heap, &head) == WNDL_HEAP_SCAN_AT_END;
    heap->scan_written = 0;
    if (is_last || heap->scan == 0)
        put_scan(p, heap->snapshots - 1, &head);
}
