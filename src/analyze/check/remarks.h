/* SPDX-License-Identifier: MIT */
/* remarks: what the stacks of an error tell about its cause. */
#ifndef WNDL_ANALYZE_CHECK_REMARKS_H
#define WNDL_ANALYZE_CHECK_REMARKS_H

#include "model/check.h"

/*
 * A remark on an error, or NULL: a hint, which says what is usual, not what is
 * proven. Static string.
 */
const char *wndl_check_remark(
    const struct wndl_check *check, const struct wndl_check_error *error);

/*
 * Of a block that another function freed than those of its allocator: the
 * callers of both, as indices of frames + 1; else 0.
 */
void wndl_check_allocators(const struct wndl_check *check,
    const struct wndl_check_error *error, uint32_t *allocated_by,
    uint32_t *freed_by);

#endif
