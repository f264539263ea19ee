/* SPDX-License-Identifier: MIT */
/* block_type: the type of the blocks that a line of code allocates. */
#ifndef WNDL_ANALYZE_NAMES_BLOCK_TYPE_H
#define WNDL_ANALYZE_NAMES_BLOCK_TYPE_H

#include "base/arena.h"
#include "dbg/dwarf/types.h"

/*
 * Sets *named to the struct of `size` bytes, above 0, that a pointer in the
 * function at `code` leads to: of a variable that `line` declares (0: not
 * known), else in the innermost inlined call that has one, else of a member of
 * what pointers there lead to. It lives as long as `types`; scratch memory is
 * of `arena`. NOT_FOUND: there is none, or more than one; NOMEM.
 */
enum wndl_status wndl_block_type_infer(struct wndl_types *types,
    struct wndl_arena *arena, wndl_svma code, uint32_t line, uint64_t size,
    const struct wndl_type **named) WNDL_MUST_USE;

#endif
