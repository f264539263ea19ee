/* SPDX-License-Identifier: MIT */
/*
 * mvp_layout: the fields of some blocks by what was done with them: which bits
 * of each vary, which bytes nothing reads or writes, and what a smaller layout
 * would take.
 */
#ifndef WNDL_ANALYZE_VM_MVP_LAYOUT_H
#define WNDL_ANALYZE_VM_MVP_LAYOUT_H

#include "base/status.h"
#include "model/mvp_view.h"

/* Larger elements have no layout. */
enum { WNDL_MVP_LARGEST_ELEMENT = 4096 };

/* Accesses to the blocks, and comparisons of their contents. */
struct wndl_mvp_layout {
    struct wndl_arena *arena; /* of what is found */
    const struct wndl_mvp_use *const *uses;
    size_t use_count;
    const struct wndl_mvp_equal *const *equals; /* of all their sites */
    size_t equal_count;
    uint64_t element; /* as calloc was told; 0: not known */
};

/*
 * Fills in what follows from `layout`, from `size` to `gap_count`. `data` has
 * blocks and bytes, and `size` is that of a block, 0 if they differ. NOMEM.
 */
enum wndl_status wndl_mvp_layout_find(struct wndl_mvp_data *data,
    const struct wndl_mvp_layout *layout) WNDL_MUST_USE;

#endif
