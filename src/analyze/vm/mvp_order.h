/* SPDX-License-Identifier: MIT */
/* mvp_order: what another order of a struct's members saves. */
#ifndef WNDL_ANALYZE_VM_MVP_ORDER_H
#define WNDL_ANALYZE_VM_MVP_ORDER_H

#include "base/buf.h"
#include "dbg/dwarf/types.h"

/*
 * Sets *size to the bytes that the struct `type` takes with its members ordered
 * by alignment, the largest first, and appends their names in that order to
 * `out`: padding then is at its end alone. 0, and no names: that is not known,
 * as of base classes, bit fields and structs whose layout is not the usual one
 * (packed, or aligned by hand), or no order takes less. Inner structs stay as
 * they are. `out` may fail, which is to be seen in it. NOMEM.
 */
enum wndl_status wndl_mvp_order_find(struct wndl_types *types,
    const struct wndl_type *type, uint64_t *size,
    struct wndl_buf *out) WNDL_MUST_USE;

#endif
