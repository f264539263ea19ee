/* SPDX-License-Identifier: MIT */
/*
 * report: the contents of a report, as plain data without layout. analyze fills
 * it in; out writes it as text or JSON.
 */
#ifndef WNDL_MODEL_REPORT_H
#define WNDL_MODEL_REPORT_H

#include "model/calltree.h"
#include "model/heap.h"
#include "model/symbolized.h"

/* The kind of a table's rows. */
enum wndl_view {
    WNDL_BY_FUNCTION,
    WNDL_BY_LINE,
    WNDL_BY_MODULE,
    WNDL_BY_THREAD,
    WNDL_BY_FILE,
    WNDL_BY_ADDRESS,
};

/*
 * A row. `key` is a function, a location, a module, a thread, a process, the id
 * of a source file (0: not known) or a frame, which stands for all with its
 * address. Self is the cost of stacks that end there; total is that of stacks
 * that pass through it, each sample once. Only samples and blocks of the
 * report's `time` count. Costs without a stack have a row of their own with a
 * label; `key` then means nothing.
 */
struct wndl_row {
    uint32_t key;
    uint8_t label; /* enum wndl_label */
    struct wndl_cost self, total;
    /* Samples and blocks of `total` in which it was found by a checked step,
     * and by a guess, in rows of functions, lines and modules. */
    uint64_t checked, guessed;
};

/* ns by their use, whichever time the report is about. */
struct wndl_times {
    uint64_t sampled_cpu; /* CPU time that samples stand for */
    /* CPU time of threads that none of their samples has */
    uint64_t unsampled_cpu;
    uint64_t blocked;
    uint64_t waiting; /* for a CPU */
    /* Parts of `unsampled_cpu`, of all processes: from exec() until our runtime
     * was loaded, and from then until the recording began */
    uint64_t loading_cpu, starting_cpu;
};

/*
 * The quality of the samples, or of the blocks. kept == complete + guessed +
 * truncated + lost.
 */
struct wndl_quality {
    uint64_t kept;     /* in the profile; waiting blocks are not counted */
    uint64_t complete; /* the stack reaches the thread's start */
    uint64_t guessed;  /* the stack seems to reach it, by a guess */
    uint64_t truncated;
    uint64_t lost;     /* the walk stopped before it, by reason in ends[] */
    uint64_t dropped;  /* not in the profile, by reason in lost[] */
    uint64_t overruns; /* ticks too fast to become samples; not in `dropped` */
};

/* The functions in which most of the lost stacks of samples end. */
enum { WNDL_LOST_PLACES = 3 };
struct wndl_lost_place {
    uint32_t function;
    uint64_t count;
};
struct wndl_lost_in {
    struct wndl_lost_place places[WNDL_LOST_PLACES];
    size_t count;
};

struct wndl_report {
    const struct wndl_symbolized *symbolized;
    enum wndl_view view;
    enum wndl_time time;
    enum wndl_heap_set set;             /* the blocks, if it is on bytes */
    struct wndl_quality quality;        /* of samples */
    struct wndl_lost_in lost_in;        /* none up to 1 % of lost ones */
    struct wndl_quality blocked;        /* of blocks; without overruns */
    struct wndl_cost all;               /* of `time` */
    struct wndl_times times;            /* over all threads */
    struct wndl_times *times_of_thread; /* by thread index */
    struct wndl_arena arena;
    struct wndl_vec rows;      /* struct wndl_row of `view`, by self */
    struct wndl_vec threads;   /* struct wndl_row of all, by self */
    struct wndl_vec processes; /* struct wndl_row, by self */
    /* struct wndl_row: modules, costs without a name */
    struct wndl_vec unnamed;
    struct wndl_cost own; /* the recorder's own, on the heap */
    /* uint32_t: indices in the profile's marks, by time */
    struct wndl_vec marks;
    struct wndl_calltree tree; /* without nodes unless requested */
};

#endif
