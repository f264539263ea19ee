/* SPDX-License-Identifier: MIT */
/* lost_places: the functions in which lost stacks end, most stacks first. */
#ifndef WNDL_ANALYZE_TIME_LOST_PLACES_H
#define WNDL_ANALYZE_TIME_LOST_PLACES_H

#include "model/report.h"

/*
 * Fills r->lost_in if more than 1 % of the samples are lost, once r->quality is
 * there. False when memory is out.
 */
bool wndl_lost_places_find(struct wndl_report *r);

#endif
