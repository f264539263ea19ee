/* SPDX-License-Identifier: MIT */
/*
 * space: an address space as the slow paths see it: how memory is read, and
 * which CFI covers a pc. The hot loop goes around this.
 */
#ifndef WNDL_UNWIND_SPACE_H
#define WNDL_UNWIND_SPACE_H

#include "cfi/cfi_expr.h"

#include <windlass/unwind.h>

struct wndl_space {
    struct wndl_cfi_memory memory;
    const struct wndl_remote *remote; /* NULL: this process */
};

enum wndl_code_kind {
    WNDL_CODE_ROW,
    WNDL_CODE_NO_FDE,    /* in a module, but no FDE covers it */
    WNDL_CODE_NO_MODULE, /* in no module */
    WNDL_CODE_BAD,       /* damaged or unsupported CFI */
};

/* The CFI of one pc. Points into the module's sections. */
struct wndl_code {
    struct wndl_cfi_section frame;
    struct wndl_cfi_row row;
};

/* `code` is filled for WNDL_CODE_ROW. `remote` NULL: this process. */
enum wndl_code_kind wndl_code_find(
    const struct wndl_remote *remote, uint64_t pc, struct wndl_code *code);

/* Whether a module covers `pc`. */
bool wndl_code_is_mapped(const struct wndl_remote *remote, uint64_t pc);

/* User addresses are below 2^47; the first page is never mapped. */
static inline bool wndl_code_is_possible(uint64_t pc)
{
    return pc >= 4096 && pc < UINT64_C(1) << 47;
}

/* False when not all 8 bytes can be read. */
static inline bool wndl_space_u64(
    const struct wndl_space *space, uint64_t address, uint64_t *value)
{
    return space->memory.read(
        space->memory.context, address, value, sizeof *value);
}

#endif
