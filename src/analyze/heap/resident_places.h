/* SPDX-License-Identifier: MIT */
/* resident_places: whose the resident memory of all processes is. */
#ifndef WNDL_ANALYZE_HEAP_RESIDENT_PLACES_H
#define WNDL_ANALYZE_HEAP_RESIDENT_PLACES_H

#include "model/heap_report.h"

/*
 * Fills r->places, for the moments that wndl_heap_resident_fill() found. False
 * when memory is out.
 */
bool wndl_heap_resident_places_fill(struct wndl_heap_report *r);

#endif
