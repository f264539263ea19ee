/* SPDX-License-Identifier: MIT */
#include "cli/record/text.h"

#include "cli/core/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <windlass/unwind.h>

static const char *const end_names[WNDL_WALK_END_COUNT] = {
    [WNDL_END_TRUNCATED] = "deeper than --max-frames",
    [WNDL_END_NO_RULE] = "no unwind information",
    [WNDL_END_BAD_READ] = "left the stack",
    [WNDL_END_NO_PROGRESS] = "the stack goes in circles",
    [WNDL_END_BAD_CFI] = "damaged unwind information",
    [WNDL_END_BAD_PC] = "the return address is not in code",
    [WNDL_END_FP_ROOT] = "guessed",
};

/* In the order in which they are printed. */
static const struct {
    unsigned how;
    const char *before, *name;
} frame_names[] = {
    {WNDL_HOW_CFI, ", ", "by CFI"},
    {WNDL_HOW_FP, ", ", "without rules"},
    {WNDL_HOW_CHECKED, ", ", "checked"},
    {WNDL_HOW_SCAN, ", ", "by scanning the stack"},
    {WNDL_HOW_CONTEXT, ", ", "innermost"},
    {WNDL_FRAMES_RESUMED, "; ", "reused from the previous sample"},
};

void wndl_record_list_reasons(
    char *text, size_t size, const uint64_t *counts, const char *const names[8])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < 8; i++) {
        if (names[i] == NULL || counts[i] == 0 || used >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s %" PRIu64,
            used == 0 ? "" : ", ", names[i], counts[i]);
    }
}

void wndl_record_list_frames(
    char *text, size_t size, const struct wndl_collector_totals *totals)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof frame_names / sizeof *frame_names; i++) {
        uint64_t count = totals->frames_by[frame_names[i].how];
        if (count == 0 || used >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s",
            used == 0 ? "" : frame_names[i].before, count, frame_names[i].name);
    }
}

void wndl_record_list_ends(
    char *text, size_t size, const struct wndl_collector_totals *totals)
{
    static const char *names[WNDL_WALK_END_COUNT];
    for (size_t i = 0; i < WNDL_WALK_END_COUNT; i++)
        names[i] = end_names[i];
    names[WNDL_END_COMPLETE] = "complete";
    wndl_record_list_reasons(text, size, totals->ends, names);
}

/*
 * Prints the share in hundredths of a percent, rounded down: 100.00 % means
 * all.
 */
void wndl_record_say_complete(
    const char *what, const uint64_t ends[WNDL_WALK_END_COUNT], uint64_t all)
{
    char reasons[400];
    if (all == 0)
        return;
    wndl_record_list_reasons(reasons, sizeof reasons, ends, end_names);
    uint64_t share =
        (uint64_t)((double)ends[WNDL_END_COMPLETE] * 10000 / (double)all);
    if (share >= 10000 && ends[WNDL_END_COMPLETE] < all)
        share = 9999;
    wndl_cli_note("%" PRIu64 ".%02" PRIu64 " %% of the %s complete%s%s%s",
        share / 100, share % 100, what,
        reasons[0] == '\0' ? "" : " (others: ", reasons,
        reasons[0] == '\0' ? "" : ")");
}
