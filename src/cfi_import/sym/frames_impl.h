/* SPDX-License-Identifier: MIT */
/*
 * sym_frames_impl: what the readers of Breakpad's STACK records share.
 *
 *   sym_frames.c  the records; STACK CFI
 *   sym_win.c     STACK WIN
 *   sym_expr.c    expressions of both
 */
#ifndef WNDL_CFI_IMPORT_SYM_FRAMES_IMPL_H
#define WNDL_CFI_IMPORT_SYM_FRAMES_IMPL_H

#include "cfi_import/core/frames_impl.h"
#include "cfi_import/sym/expr.h"
#include "dbg/breakpad/stack.h"

/* Code behind this is not believed in: images have less. */
#define WNDL_SYM_CODE_MAX (UINT64_C(1) << 32)

struct wndl_sym_machine {
    uint16_t machine; /* EM_* */
    uint8_t word, sp, ra, named;
    uint8_t family;
    const char *names[WNDL_CFI_REGS]; /* by DWARF number */
};

struct wndl_sym_reading {
    struct wndl_frames *frames;
    const struct wndl_sym_machine *machine;
    struct wndl_frame_writer writer;
    struct wndl_sym_terms *terms;
    struct wndl_arena *arena;
    uint64_t base; /* svma that addresses of records count from */
    bool failed;   /* memory is out */
};

/* The number of a register, with "$" or without; -1. */
int wndl_sym_register(
    const struct wndl_sym_machine *machine, struct wndl_bytes name);

/* Counts a record that is left out, with its line. */
void wndl_sym_lose(struct wndl_sym_reading *r,
    const struct wndl_breakpad_stack *record, enum wndl_status status,
    const char *why);

/* Writes the functions of `records` (struct wndl_breakpad_stack), all WIN. */
void wndl_sym_write_win(
    struct wndl_sym_reading *r, const struct wndl_vec *records);

#endif
