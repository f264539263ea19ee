/* SPDX-License-Identifier: MIT */
#include "cli/record/summary.h"

#include "cli/core/terminal.h"
#include "cli/record/text.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>

#define ON_TERMINAL_NS UINT64_C(200000000)
#define ELSEWHERE_NS UINT64_C(2000000000)

enum { LINE_MAX = 512 };

static void compose_heap(
    char line[LINE_MAX], const struct wndl_collector_result *so_far)
{
    char live[240];
    wndl_heap_list_live(live, sizeof live, &so_far->totals.heap);
    snprintf(line, LINE_MAX,
        "windlass: %.1f s, %" PRIu32 " of %" PRIu32 " processes run, %s",
        (double)so_far->duration / 1e9, so_far->left, so_far->totals.processes,
        live);
}

static void compose_line(
    char line[LINE_MAX], const struct wndl_collector_result *so_far)
{
    const struct wndl_collector_totals *t = &so_far->totals;
    char frames[160];
    char ends[240];
    wndl_record_list_frames(frames, sizeof frames, t);
    wndl_record_list_ends(ends, sizeof ends, t);
    snprintf(line, LINE_MAX,
        "windlass: %.1f s, %" PRIu32 " of %" PRIu32 " processes run, %" PRIu64
        " samples; frames: %s; stacks: %s",
        (double)so_far->duration / 1e9, so_far->left, t->processes, t->samples,
        frames, ends);
}

void wndl_record_say_progress(
    void *progress, const struct wndl_collector_result *so_far)
{
    struct wndl_record_progress *p = progress;
    uint64_t now = wndl_clock_monotonic_ns();
    char line[LINE_MAX];
    bool sampled = so_far->totals.samples != 0;
    if (now < p->next || (!sampled && so_far->totals.heap.heaps == 0))
        return;
    int columns = (int)wndl_terminal_error_width();
    p->next = now + (columns != 0 ? ON_TERMINAL_NS : ELSEWHERE_NS);
    p->said = columns != 0;
    if (sampled)
        compose_line(line, so_far);
    else
        compose_heap(line, so_far);
    if (columns != 0)
        fprintf(stderr, "\r%.*s\033[K", columns - 1, line);
    else
        fprintf(stderr, "%s\n", line);
}

void wndl_record_end_progress(struct wndl_record_progress *p)
{
    if (p->said)
        fputs("\r\033[K", stderr);
    p->said = false;
}
