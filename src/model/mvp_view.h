/* SPDX-License-Identifier: MIT */
/* mvp_view: a memory value profile with names, as writers take it. */
#ifndef WNDL_MODEL_MVP_VIEW_H
#define WNDL_MODEL_MVP_VIEW_H

#include "model/callgraph.h"
#include "model/mvp.h"

/* The graph's events, in this order. */
enum wndl_mvp_event {
    WNDL_MVP_WASTED,  /* constant bits of sectors */
    WNDL_MVP_SECTORS, /* of loads that are not wide */
    WNDL_MVP_LOADS,
    WNDL_MVP_WIDE, /* loads of vectors */
    WNDL_MVP_EVENTS,
};

struct wndl_mvp_view {
    const struct wndl_mvp *mvp;
    const struct wndl_callgraph *graph;
    const struct wndl_vec *rows; /* struct wndl_mvp_row: most wasted first,
                                  * then the wide ones, most sectors first */
    struct wndl_mvp_totals totals;
};

#endif
