/* SPDX-License-Identifier: MIT */
/*
 * reading: what the readers of STACK CFI (frames.c) and STACK WIN (win.c)
 * share: the machine that the records are of, and what becomes of them.
 */
#ifndef WNDL_CFI_IMPORT_STACK_RECORD_READING_H
#define WNDL_CFI_IMPORT_STACK_RECORD_READING_H

#include "cfi_import/core/source_impl.h"
#include "cfi_import/stack_record/expr.h"
#include "dbg/breakpad/stack.h"

/* Code behind this is not believed in: images have less. */
#define WNDL_STACK_RECORD_CODE_MAX (UINT64_C(1) << 32)

struct wndl_stack_record_machine {
    uint16_t machine; /* EM_* */
    uint8_t word, sp, ra, named;
    uint8_t family;
    const char *names[WNDL_CFI_REGS]; /* by DWARF number */
};

struct wndl_stack_record_reading {
    struct wndl_cfi_source *cfi;
    const struct wndl_stack_record_machine *machine;
    struct wndl_frame_writer writer;
    struct wndl_stack_record_terms *terms;
    struct wndl_arena *arena;
    uint64_t base; /* svma that addresses of records count from */
    bool failed;   /* memory is out */
};

/* Of an ELF machine number; NULL: no records of it are read. */
const struct wndl_stack_record_machine *wndl_stack_record_machine_of(
    uint16_t machine);

/* The number of a register, with "$" or without; -1. */
int wndl_stack_record_register(
    const struct wndl_stack_record_machine *machine, struct wndl_bytes name);

/* Counts a record that is left out, with its line. */
void wndl_stack_record_lose(struct wndl_stack_record_reading *r,
    const struct wndl_breakpad_stack *record, enum wndl_status status,
    const char *why);

#endif
