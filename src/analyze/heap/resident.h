/* SPDX-License-Identifier: MIT */
/* resident: all memory of several processes over time, not heaps alone. */
#ifndef WNDL_ANALYZE_HEAP_RESIDENT_H
#define WNDL_ANALYZE_HEAP_RESIDENT_H

#include "model/heap_report.h"

/*
 * Fills the `resident_` members from the heaps in r->rows, at the times of
 * r->parts. False when memory is out.
 */
bool wndl_heap_resident_fill(struct wndl_heap_report *r);

#endif
