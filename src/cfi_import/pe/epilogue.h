/* SPDX-License-Identifier: MIT */
/*
 * epilogue: where a function of x64 Windows gives its stack back. Version 1
 * of unwind information does not say; but what a prologue pushed, an epilogue
 * pops in the order that it must, behind one instruction that frees the rest
 * and right before a return or a jump out of the function. These bytes are
 * looked for. Knows nothing of files.
 */
#ifndef WNDL_CFI_IMPORT_PE_EPILOGUE_H
#define WNDL_CFI_IMPORT_PE_EPILOGUE_H

#include "cfi_import/pe/unwind.h"

enum {
    WNDL_PE_PUSHES = 16,
    WNDL_PE_EPILOGUE_MAX = 48, /* bytes: 8, 16 times 2 and 8 */
};

/* What an epilogue of a function looks like. */
struct wndl_pe_shape {
    uint8_t popped[WNDL_PE_PUSHES]; /* registers, in the order of pops */
    size_t pops;
    uint64_t allocated; /* bytes that are freed before the pops */
    bool framed;        /* the stack may be found by `frame` */
    uint8_t frame;
};

/* False when the function has none, or no such one. */
bool wndl_pe_shape_of(
    const struct wndl_pe_unwind *unwind, struct wndl_pe_shape *shape);

/* [pops, end) of a function's code: all is freed but what is to be popped. */
struct wndl_pe_epilogue {
    size_t pops, end;
};

/*
 * Finds the first epilogue that begins in code[from, code.size); `code` is the
 * whole function. False when there is none.
 */
bool wndl_pe_epilogue_find(const struct wndl_pe_shape *shape,
    struct wndl_bytes code, size_t from, struct wndl_pe_epilogue *epilogue);

/* The same, if one begins right at `from`, before the pops or with them. */
bool wndl_pe_epilogue_at(const struct wndl_pe_shape *shape,
    struct wndl_bytes code, size_t from, struct wndl_pe_epilogue *epilogue);

/* Bytes of the instruction that pops it. */
static inline size_t wndl_pe_pop_size(uint8_t reg)
{
    return reg < 8 ? 1 : 2;
}

#endif
