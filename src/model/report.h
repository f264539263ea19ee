/* SPDX-License-Identifier: MIT */
/*
 * report: what a report says, as plain data, before anyone lays it out.
 * analyze fills it in; out writes it as text or JSON.
 */
#ifndef WNDL_MODEL_REPORT_H
#define WNDL_MODEL_REPORT_H

#include "model/calltree.h"
#include "model/symbolized.h"

/* What the rows of a table are. */
enum wndl_view {
    WNDL_BY_FUNCTION,
    WNDL_BY_LINE,
    WNDL_BY_MODULE,
    WNDL_BY_THREAD,
};

/*
 * `key` is a function, a location, a module, a thread or a process. Self is
 * what ended there, total what passed through, each sample once.
 */
struct wndl_row {
    uint32_t key;
    struct wndl_cost self, total;
};

/*
 * How good the samples are.
 * kept == complete + guessed + truncated + lost.
 */
struct wndl_quality {
    uint64_t kept;     /* samples in the profile */
    uint64_t complete; /* their stack reaches the thread's start */
    uint64_t guessed;  /* it seems to, by frame pointers */
    uint64_t truncated;
    uint64_t lost;     /* the walk stopped on the way, by reason in ends[] */
    uint64_t dropped;  /* not in the profile, by reason in lost[] */
    uint64_t overruns; /* ticks too fast to be samples: not dropped ones */
};

struct wndl_report {
    const struct wndl_symbolized *symbolized;
    enum wndl_view view;
    struct wndl_quality quality;
    struct wndl_cost all;
    struct wndl_arena arena;
    struct wndl_vec rows;      /* struct wndl_row of `view`, by self */
    struct wndl_vec threads;   /* struct wndl_row, by self */
    struct wndl_vec processes; /* struct wndl_row, by self */
    struct wndl_vec unnamed;   /* struct wndl_row: modules, what had no name */
    struct wndl_calltree tree; /* without nodes unless asked for */
};

#endif
