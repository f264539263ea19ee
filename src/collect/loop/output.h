/* SPDX-License-Identifier: MIT */
/* output: the file of a recording that is being made. */
#ifndef WNDL_COLLECT_LOOP_OUTPUT_H
#define WNDL_COLLECT_LOOP_OUTPUT_H

#include "collect/loop/processes.h"

/* Makes the recording's file; never over another one. */
enum wndl_status wndl_output_open(
    struct wndl_run *run, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Writes out what there is. When that fails the recording is over, without
 * troubling the program any more.
 */
void wndl_output_flush(const struct wndl_processes *processes);

#endif
