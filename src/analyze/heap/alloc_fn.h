/* SPDX-License-Identifier: MIT */
/* heap_alloc_fn: the functions that only allocate, by their names. */
#ifndef WNDL_ANALYZE_HEAP_ALLOC_FN_H
#define WNDL_ANALYZE_HEAP_ALLOC_FN_H

#include "base/bytes.h"

#include <stdbool.h>

/* Whether a frame's text, "function (file:line)", has such a function. */
bool wndl_heap_alloc_fn(struct wndl_bytes frame);

#endif
