/* SPDX-License-Identifier: MIT */
/*
 * heap_suggest: the functions whose blocks a program's memory reports should
 * know, as plain data. analyze fills it in; out writes it.
 */
#ifndef WNDL_MODEL_HEAP_SUGGEST_H
#define WNDL_MODEL_HEAP_SUGGEST_H

#include "model/symbolized.h"

/* Usable bytes and blocks; estimates if the heap is sampled. */
struct wndl_suggestion {
    uint32_t function;
    double unreported_blocks;
    double unreported; /* bytes that were allocated under it */
    double allocated;  /* the same, reported or not */
};

struct wndl_suggestions {
    const struct wndl_symbolized *symbolized;
    struct wndl_arena arena;
    struct wndl_vec rows; /* struct wndl_suggestion, the largest first */
    double allocated;     /* bytes of all live blocks with a stack */
    double unreported;
    double covered; /* of the unreported bytes, under one of the rows */
    bool is_sampled;
};

#endif
