/* SPDX-License-Identifier: MIT */
/*
 * epilogue: finds where an x64 Windows function frees its stack. Version 1 of
 * unwind information does not say that. But an epilogue pops what the prologue
 * pushed in the only possible order, after one instruction that frees the rest,
 * and right before a return or a jump out of the function. These bytes are
 * searched. It knows no files.
 */
#ifndef WNDL_CFI_IMPORT_PE_EPILOGUE_H
#define WNDL_CFI_IMPORT_PE_EPILOGUE_H

#include "cfi_import/pe/unwind.h"

enum {
    WNDL_PE_PUSHES = 16,
    WNDL_PE_EPILOGUE_MAX = 48, /* bytes: 8, 16 times 2 and 8 */
};

/* The form of a function's epilogues. */
struct wndl_pe_shape {
    uint8_t popped[WNDL_PE_PUSHES]; /* registers, in the order of pops */
    size_t pops;
    uint64_t allocated; /* bytes freed before the pops */
    bool framed;        /* SP may be restored from `frame` */
    uint8_t frame;
};

/* False if the function has no epilogue, or none of this form. */
bool wndl_pe_shape_of(
    const struct wndl_pe_unwind *unwind, struct wndl_pe_shape *shape);

/* An epilogue: in [pops, end) of the code only pops and the return remain. */
struct wndl_pe_epilogue {
    size_t pops, end;
};

/*
 * Finds the first epilogue that begins in code[from, code.size). `code` is the
 * whole function. False if there is none.
 */
bool wndl_pe_epilogue_find(const struct wndl_pe_shape *shape,
    struct wndl_bytes code, size_t from, struct wndl_pe_epilogue *epilogue);

/* The same, but right at `from`, before the pops or at one of them. */
bool wndl_pe_epilogue_at(const struct wndl_pe_shape *shape,
    struct wndl_bytes code, size_t from, struct wndl_pe_epilogue *epilogue);

/* The bytes of an instruction that pops `reg`. */
static inline size_t wndl_pe_pop_size(uint8_t reg)
{
    return reg < 8 ? 1 : 2;
}

#endif
