/* SPDX-License-Identifier: MIT */
/* heap_reported: which blocks the program's memory reporters reported. */
#include "collect/process/callers.h"
#include "collect/process/heap_impl.h"
#include "collect/process/reporters.h"

#include <string.h>

_Static_assert((int)WNDL_REPORTER_NAME == (int)WNDL_HEAP_REPORTER,
    "a name has the same room everywhere");

#define PATIENCE_NS UINT64_C(30000000000)

static bool is_dark(const struct wndl_collector_heap *heap)
{
    return (heap->request.flags & WNDL_HEAP_DARK) != 0;
}

static void note_failure(struct wndl_collector_process *p,
    enum wndl_reporter_failure how, const char reporter[WNDL_HEAP_REPORTER])
{
    struct wndl_collector_heap_totals *t = &p->totals->heap;
    char name[WNDL_HEAP_REPORTER];
    memcpy(name, reporter, sizeof name); /* the program may change it */
    const struct wndl_bytes text = {
        (const uint8_t *)name, strnlen(name, sizeof name - 1)};
    wndl_recording_reporter_failed(p->recording, p->index, how, text);
    if (t->reporter_failure != WNDL_REPORTER_NONE)
        return;
    t->reporter_failure = how;
    t->reporter_pid = p->pid;
    memcpy(t->reporter, name, text.size);
}

void wndl_heap_find_failed_reporter(struct wndl_collector_process *p)
{
    if (is_dark(p->heap) && !p->heap->reporters_hang &&
        p->heap->head->reporter[0] != '\0')
        note_failure(p, WNDL_REPORTER_ENDED, p->heap->head->reporter);
}

/* A process whose reporters do not return is not asked again. */
void wndl_collector_heap_run_reporters(struct wndl_collector_process *p)
{
    struct wndl_collector_heap *heap = p->heap;
    char missed[WNDL_HEAP_REPORTER] = "";
    if (!is_dark(heap) || heap->reporters_hang)
        return;
    heap->reporters_hang = !wndl_reporters_run(p->pid, PATIENCE_NS, missed);
    if (heap->reporters_hang)
        note_failure(p, WNDL_REPORTER_HANGS, heap->head->reporter);
    else if (missed[0] != '\0')
        note_failure(p, WNDL_REPORTER_MISSED, missed);
    wndl_collector_process_take_stacks(p, false); /* theirs */
}

static void settle(const struct wndl_collector_process *p,
    struct wndl_heap_reported *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < 2; k++) {
            if (rows[i].nodes[k] <= p->nodes)
                rows[i].ends[k] = (uint8_t)wndl_callers_end(
                    p, rows[i].nodes[k], rows[i].ends[k]);
        }
    }
}

static void put_rows(struct wndl_collector_process *p,
    const struct wndl_recording_reports *reports, uint32_t count,
    struct wndl_heap_part *part)
{
    const struct wndl_heap_process process = {p->index, p->nodes};
    const size_t at = p->heap->layout.reported;
    uint32_t first = 0;
    do {
        const uint32_t left = count - first;
        const uint32_t now =
            left < WNDL_HEAP_AT_ONCE ? left : WNDL_HEAP_AT_ONCE;
        wndl_heap_read(p->heap, at + (size_t)first * sizeof part->reported[0],
            part->reported, (size_t)now * sizeof part->reported[0]);
        settle(p, part->reported, now);
        wndl_recording_reported(
            p->recording, &process, reports, part->reported, now);
        first += now;
    } while (first < count);
}

/* An odd number: a run is under way, as when the process was killed in it. */
void wndl_heap_put_reported(
    struct wndl_collector_process *p, struct wndl_heap_part *part)
{
    struct wndl_collector_heap *heap = p->heap;
    const struct wndl_heap *head = heap->head;
    const uint32_t runs = atomic_load(&head->report_runs);
    if (!is_dark(heap) || runs == heap->reported_runs || runs % 2 != 0)
        return;
    const uint32_t count = head->reported_count;
    const struct wndl_recording_reports reports = {
        .snapshot = heap->snapshots - 1,
        .time = head->reported_time,
        .lost = head->reported_lost,
    };
    heap->reported_runs = runs;
    put_rows(p, &reports,
        count < heap->request.sites ? count : heap->request.sites, part);
}
