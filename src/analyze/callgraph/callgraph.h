/* SPDX-License-Identifier: MIT */
/*
 * callgraph: a recording's stacks as a struct wndl_callgraph, and the steps for
 * a complete one: cycles, and an order for writers. It costs one step for each
 * frame of each distinct stack, however many samples there are.
 */
#ifndef WNDL_ANALYZE_CALLGRAPH_CALLGRAPH_H
#define WNDL_ANALYZE_CALLGRAPH_CALLGRAPH_H

#include "analyze/heap/report.h"
#include "model/callgraph.h"
#include "model/costs.h"
#include "model/symbolized.h"

/*
 * Adds samples and blocks: an event for the time in ns of each kind that `time`
 * includes, and an event for their number. Stacks for which
 * wndl_cost_item_label has a label are below a function of that name. NOMEM,
 * LIMIT.
 */
enum wndl_status wndl_callgraph_add_time(struct wndl_callgraph *g,
    const struct wndl_symbolized *s, enum wndl_time time) WNDL_MUST_USE;

/*
 * Adds the blocks of heaps, by usable bytes and by number; `bytes` chooses
 * which of the two events comes first. Estimates are rounded so that sums stay
 * right. NOMEM, LIMIT.
 */
enum wndl_status wndl_callgraph_add_heap(struct wndl_callgraph *g,
    const struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    bool bytes) WNDL_MUST_USE;

/*
 * To be called once, after everything has been added. Gives the root the calls
 * that graphs from elsewhere leave out, finds cycles if `collapse`, and fills
 * in the orders. False when memory is out.
 */
bool wndl_callgraph_finish(struct wndl_callgraph *g, bool collapse);

#endif
