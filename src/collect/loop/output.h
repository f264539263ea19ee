/* SPDX-License-Identifier: MIT */
/* output: the file of the recording. */
#ifndef WNDL_COLLECT_LOOP_OUTPUT_H
#define WNDL_COLLECT_LOOP_OUTPUT_H

#include "collect/loop/processes.h"

/* Creates the recording's file; never overwrites another one. */
enum wndl_status wndl_output_open(
    struct wndl_run *run, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Writes all collected data. If that fails the recording is over, and the
 * program runs on undisturbed.
 */
void wndl_output_flush(const struct wndl_processes *processes);

#endif
