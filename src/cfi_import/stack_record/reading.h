/* SPDX-License-Identifier: MIT */
/*
 * reading: the common part of the readers of STACK CFI (frames.c) and STACK WIN
 * (win.c): the machine of the records, and their results.
 */
#ifndef WNDL_CFI_IMPORT_STACK_RECORD_READING_H
#define WNDL_CFI_IMPORT_STACK_RECORD_READING_H

#include "cfi_import/core/source_impl.h"
#include "cfi_import/stack_record/expr.h"
#include "dbg/breakpad/stack.h"

/* Code beyond this is not accepted: images are smaller. */
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
    uint64_t base; /* svma from which addresses in records count */
    bool failed;   /* memory is out */
};

/* By ELF machine number; NULL: its records are not supported. */
const struct wndl_stack_record_machine *wndl_stack_record_machine_of(
    uint16_t machine);

/* The number of a register, with "$" or without; -1 if unknown. */
int wndl_stack_record_register(
    const struct wndl_stack_record_machine *machine, struct wndl_bytes name);

/* Counts a record that is left out, with its line. */
void wndl_stack_record_lose(struct wndl_stack_record_reading *r,
    const struct wndl_breakpad_stack *record, enum wndl_status status,
    const char *why);

#endif
