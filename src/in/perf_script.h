/* SPDX-License-Identifier: MIT */
/*
 * perf_script: samples as `perf script` prints them: a line for each, then a
 * frame a line from the innermost out, then an empty one,
 *
 *   app  4711/4712  [001]  12.345678:     250000 cycles:u:
 *           55d0c8a2b1 f+0x1f (/usr/bin/app)
 *           7f21b4c0d0 main+0x20 (/usr/bin/app)
 *
 * or, of samples without stacks, the frame in the same line.
 */
#ifndef WNDL_IN_PERF_SCRIPT_H
#define WNDL_IN_PERF_SCRIPT_H

#include "model/graph_stack.h"

/* Whether a line of text begins a sample, by its time and event. */
bool wndl_perf_script_is(struct wndl_bytes line);

/*
 * Adds the samples to `g`, with the event "Samples", and by their period with
 * the event of each. Other lines are counted in `damage`. NOMEM, LIMIT.
 */
enum wndl_status wndl_perf_script_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
