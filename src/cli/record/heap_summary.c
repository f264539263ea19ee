/* SPDX-License-Identifier: MIT */
#include "cli/record/summary.h"

#include "cli/core/command.h"
#include "cli/record/text.h"
#include "model/heap.h"

#include <inttypes.h>
#include <stdio.h>

enum { SIZE_TEXT = 32 };

static const char *size_text(uint64_t bytes, char text[SIZE_TEXT])
{
    static const char *const units[] = {"kB", "MB", "GB"};
    double value = (double)bytes / 1e3;
    size_t unit = 0;
    for (; unit < 2 && value >= 1e3; unit++)
        value /= 1e3;
    if (bytes < 1000)
        snprintf(text, SIZE_TEXT, "%" PRIu64 " bytes", bytes);
    else
        snprintf(text, SIZE_TEXT, "%.1f %s", value, units[unit]);
    return text;
}

static void list_live(char *text, size_t size,
    const struct wndl_collector_heap_totals *t, const char *when)
{
    char live[SIZE_TEXT];
    char peak[SIZE_TEXT];
    char all[SIZE_TEXT];
    snprintf(text, size,
        "%s live in %" PRIu64 " block%s%s, %s at the %s; %" PRIu64
        " allocation%s of %s",
        size_text(t->live_bytes, live), t->live_blocks,
        wndl_record_plural(t->live_blocks), when, size_text(t->peak, peak),
        t->heaps > 1 ? "highest peak of one" : "peak", t->allocs,
        wndl_record_plural(t->allocs), size_text(t->requested, all));
}

void wndl_heap_list_live(
    char *text, size_t size, const struct wndl_collector_heap_totals *totals)
{
    list_live(text, size, totals, "");
}

/* The number of recorded blocks; blocks left out by chance have no stack. */
static uint64_t with_a_stack(const struct wndl_collector_heap_totals *t)
{
    uint64_t sum = t->without;
    for (size_t i = 0; i < WNDL_WALK_END_COUNT; i++)
        sum += t->ends[i];
    for (size_t i = 0; i < WNDL_HEAP_MISSES; i++)
        sum += t->missed[i];
    return sum;
}

static void say_missed(const struct wndl_collector_heap_totals *t)
{
    char reasons[400];
    const char *names[WNDL_HEAP_MISSES];
    for (unsigned i = 0; i < WNDL_HEAP_MISSES; i++)
        names[i] = wndl_heap_missed_text(i);
    wndl_record_list_reasons(reasons, sizeof reasons, t->missed, names);
    if (reasons[0] != '\0')
        wndl_cli_note("blocks that are only counted: %s", reasons);
    if (t->without != 0)
        wndl_cli_note("allocations without any stack: %" PRIu64, t->without);
}

static void say_reporter(const struct wndl_collector_heap_totals *t)
{
    static const char *const texts[] = {
        [WNDL_REPORTER_HANGS] = "did not return within 30 s",
        [WNDL_REPORTER_ENDED] = "was running when the process ended",
        [WNDL_REPORTER_MISSED] = "did not run: the program did not poll",
        [WNDL_REPORTER_OTHER] = "failed",
    };
    if (t->reporter_failure == WNDL_REPORTER_NONE)
        return;
    wndl_cli_note("process %d: its memory reporter '%s' %s", t->reporter_pid,
        t->reporter, texts[t->reporter_failure]);
}

static void say_frames(const struct wndl_collector_heap_totals *t)
{
    if (t->frames != 0)
        wndl_cli_note("frames: %" PRIu64
                      " in the stacks of allocations, %.1f %% reused from the "
                      "previous allocation",
            t->frames, 100.0 * (double)t->frames_resumed / (double)t->frames);
}

static void say_sanitized(uint32_t count)
{
    if (count != 0)
        wndl_cli_note("%" PRIu32 " process%s with a sanitizer's runtime "
                      "(-fsanitize=address, thread, ...): %s not recorded",
            count, count == 1 ? "" : "es",
            count == 1 ? "its heap is" : "their heaps are");
}

void wndl_heap_say_summary(const struct wndl_collector_result *result)
{
    const struct wndl_collector_heap_totals *t = &result->totals.heap;
    char text[240];
    char when[64] = " at the end";
    say_sanitized(t->sanitized);
    if (t->heaps == 0) {
        wndl_cli_note("no process's heap was recorded");
        return;
    }
    if (t->heaps > 1)
        snprintf(when, sizeof when, " at the ends of %" PRIu32 " processes",
            t->heaps);
    list_live(text, sizeof text, t, when);
    wndl_cli_note("%s, in %.2f s; %" PRIu32 " process%s seen", text,
        (double)result->duration / 1e9, result->totals.processes,
        result->totals.processes == 1 ? "" : "es");
    wndl_record_say_complete(
        "allocations' stacks are", t->ends, with_a_stack(t));
    say_reporter(t);
    say_frames(t);
    say_missed(t);
    if (t->own_allocators != 0)
        wndl_cli_note("%" PRIu32
                      " heap%s with an allocator in the executable: calls that "
                      "the executable makes to it are not seen",
            t->own_allocators, wndl_record_plural(t->own_allocators));
}
