/* SPDX-License-Identifier: MIT */
/* block_type: the type of the blocks that a line of code allocates. */
#ifndef WNDL_ANALYZE_NAMES_BLOCK_TYPE_H
#define WNDL_ANALYZE_NAMES_BLOCK_TYPE_H

#include "base/arena.h"
#include "dbg/dwarf/types.h"

/* The code that allocates blocks. */
struct wndl_block_code {
    wndl_svma address; /* in the function */
    uint32_t line;     /* 0: not known */
    uint64_t size;     /* of a block, above 0 */
};

/*
 * Sets *named to the struct of code->size bytes that a pointer in the function
 * leads to: of a variable that the line declares, else in the innermost inlined
 * call that has one, else of a member of what pointers there lead to. It lives
 * as long as `types`; scratch memory is of `arena`. NOT_FOUND: there is none,
 * or more than one; NOMEM.
 */
enum wndl_status wndl_block_type_infer(struct wndl_types *types,
    struct wndl_arena *arena, const struct wndl_block_code *code,
    const struct wndl_type **named) WNDL_MUST_USE;

#endif
