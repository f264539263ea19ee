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
 * what ended there, total what passed through, each sample once. Of samples
 * and blocks, those of the report's `time` alone. What has no stack has a row
 * of its own with a label: `key` means nothing then.
 */
struct wndl_row {
    uint32_t key;
    uint8_t label; /* enum wndl_label */
    struct wndl_cost self, total;
};

/* ns by what they were used for, whichever time a report is about. */
struct wndl_times {
    uint64_t sampled_cpu;   /* CPU time that samples stand for */
    uint64_t unsampled_cpu; /* CPU time of threads in none of their samples */
    uint64_t blocked;
    uint64_t waiting; /* for a CPU */
};

/*
 * How good the samples, or the blocks, are.
 * kept == complete + guessed + truncated + lost.
 */
struct wndl_quality {
    uint64_t kept;     /* in the profile; of blocks, without waiting ones */
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
    enum wndl_time time;
    struct wndl_quality quality;        /* of samples */
    struct wndl_quality blocked;        /* of blocks: no overruns */
    struct wndl_cost all;               /* of `time` */
    struct wndl_times times;            /* of all threads */
    struct wndl_times *times_of_thread; /* by index */
    struct wndl_arena arena;
    struct wndl_vec rows;      /* struct wndl_row of `view`, by self */
    struct wndl_vec threads;   /* struct wndl_row of all, by self */
    struct wndl_vec processes; /* struct wndl_row, by self */
    struct wndl_vec unnamed;   /* struct wndl_row: modules, what had no name */
    struct wndl_cost own;      /* spent by the recorder, on the heap */
    struct wndl_vec marks;     /* uint32_t: the profile's, by time */
    struct wndl_calltree tree; /* without nodes unless asked for */
};

#endif
