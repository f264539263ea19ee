/* SPDX-License-Identifier: MIT */
/*
 * heap_together: the live bytes of several processes over time, as their sum at
 * one moment, not a sum over the moments at which each was alone.
 */
#ifndef WNDL_ANALYZE_HEAP_TOGETHER_H
#define WNDL_ANALYZE_HEAP_TOGETHER_H

#include "model/heap_report.h"

/* Fills r->together from the heaps in r->rows. False when memory is out. */
bool wndl_heap_together_fill(struct wndl_heap_report *r);

#endif
