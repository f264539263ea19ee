/* SPDX-License-Identifier: MIT */
/*
 * binary: what flow.h needs to know of a binary: the contents of its sections,
 * the code that has call frame information, entries, and calls that do not
 * return.
 */
#ifndef WNDL_CFI_IMPORT_CODE_BINARY_H
#define WNDL_CFI_IMPORT_CODE_BINARY_H

#include "base/map.h"
#include "cfi_import/code/flow.h"
#include "obj/core/object.h"

struct wndl_code_binary {
    struct wndl_object *object;
    struct wndl_vec parts; /* struct wndl_code_part, contents in memory */
    struct wndl_vec texts; /* the same, those with code */
    /* struct wndl_code_range: the FDEs of a section; and joined */
    struct wndl_vec functions, covered;
    uint64_t got;         /* svma of _GLOBAL_OFFSET_TABLE_; 0: none */
    bool is_fixed;        /* whether it is mapped where it says */
    struct wndl_map ends; /* svma -> 1: returns, 2: does not */
};

/* The mode of the code of an x86-64, i386 or AArch64 object. */
enum wndl_insn_mode wndl_code_mode_of(const struct wndl_object *object);

/*
 * Reads the sections of an x86-64, i386 or AArch64 binary that is not a symbol
 * file, and the extents in `frame`, which may be empty. Memory is the arena's.
 * NOMEM.
 */
enum wndl_status wndl_code_binary_open(struct wndl_code_binary *binary,
    struct wndl_object *object, const struct wndl_cfi_section *frame,
    struct wndl_arena *arena) WNDL_MUST_USE;

/* Whether a call of `svma` does not return, by the function's name. */
bool wndl_code_binary_ends(void *binary, uint64_t svma);

/* Adds the entries that symbols name. */
void wndl_code_binary_enter(
    struct wndl_code_binary *binary, struct wndl_code_flow *flow);

#endif
