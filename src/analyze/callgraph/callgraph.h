/* SPDX-License-Identifier: MIT */
/*
 * callgraph: a recording's stacks as a struct wndl_callgraph, and what can be
 * told of one when it is complete: cycles, and an order to write it in. Costs
 * one step for each frame of each distinct stack, whatever the samples are.
 */
#ifndef WNDL_ANALYZE_CALLGRAPH_CALLGRAPH_H
#define WNDL_ANALYZE_CALLGRAPH_CALLGRAPH_H

#include "analyze/heap/report.h"
#include "model/callgraph.h"
#include "model/costs.h"
#include "model/symbolized.h"

/*
 * Adds samples and blocks by their time in ns, of each kind that `time` asks
 * for an event, and how many there were. What wndl_cost_item_label has a label
 * for is below a function of that name. NOMEM, LIMIT.
 */
enum wndl_status wndl_callgraph_add_time(struct wndl_callgraph *g,
    const struct wndl_symbolized *s, enum wndl_time time) WNDL_MUST_USE;

/*
 * Adds the blocks of heaps, by usable bytes and number; `bytes` says which of
 * the two events comes first. Estimates are rounded so that sums stay right.
 */
enum wndl_status wndl_callgraph_add_heap(struct wndl_callgraph *g,
    const struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    bool bytes) WNDL_MUST_USE;

/*
 * To be called once, when all has been added: gives the root those calls that
 * graphs from elsewhere leave out, finds cycles if they are to be collapsed,
 * and fills in the orders. False when memory is out.
 */
bool wndl_callgraph_finish(struct wndl_callgraph *g, bool collapse);

#endif
