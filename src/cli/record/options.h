/* SPDX-License-Identifier: MIT */
/*
 * record_options: the options of `windlass record` and `windlass heap`, and the
 * request to the collector that they make.
 */
#ifndef WNDL_CLI_RECORD_OPTIONS_H
#define WNDL_CLI_RECORD_OPTIONS_H

#include "cli/core/options.h"
#include "collect/loop/collector.h"

struct wndl_record_options {
    uint64_t rate;   /* Hz */
    unsigned engine; /* enum wndl_engine, NONE: the best; or of the choices */
    unsigned unwind; /* enum wndl_unwind_policy */
    uint64_t max_frames;
    struct wndl_option_list threads;
    struct wndl_option_list pids, trees; /* PID[,PID...] each */
    uint64_t stack_size;                 /* bytes that a sample copies */
    struct wndl_option_list tables;      /* MODULE=FILE each */
    const char *output;
    double duration, delay; /* seconds, 0: not given */
    uint64_t buffer;        /* bytes, 0: not given */
    bool no_off_cpu;
    bool no_children;
    bool quiet, verbose;
    bool heap, no_samples;            /* of `heap`, both are set */
    struct wndl_option_choice mode;   /* 0 live, 1 cumulative, 2 dark */
    struct wndl_option_choice stacks; /* 0 full, 1 partial */
    uint64_t sample_below;            /* bytes, 0: not given */
    double snapshot_every;            /* seconds, 0: not given */
    bool at_peaks, no_leaks, scan;
    bool keep_contents;
    uint64_t scan_memory;             /* bytes, 0: not given */
    const char *pointer_mask;         /* in hex, NULL: not given */
    struct wndl_option_list tag_libs; /* PATTERN=TAG each */
    struct wndl_option_list own;      /* patterns */
};

extern const struct wndl_option wndl_record_option_rows[];
extern const struct wndl_option wndl_heap_option_rows[];

/*
 * Fills in `request`, which borrows the texts of the options. False if the
 * options contradict each other; `problem` is then one line.
 */
bool wndl_record_options_apply(const struct wndl_record_options *options,
    struct wndl_collector_request *request, char problem[WNDL_PROBLEM_SIZE]);

#endif
