/* SPDX-License-Identifier: MIT */
/*
 * restorer: the code to which signal handlers return, and the registers of the
 * code that the signal interrupted. Those of Go, musl and other runtimes have
 * no call frame information for it.
 */
#ifndef WNDL_CFI_IMPORT_CODE_RESTORER_H
#define WNDL_CFI_IMPORT_CODE_RESTORER_H

#include "cfi/cfi.h"
#include "cfi_import/code/flow.h"

enum { WNDL_RESTORER_ROOM = 8 * WNDL_CFI_X86_REGS }; /* bytes of expressions */

/*
 * Finds the next restorer at or after *at, an offset in the code, that follows
 * padding, and whose byte before it has no rules. A return address is looked up
 * one byte lower: the rules hold from there on. False if there is none.
 */
bool wndl_restorer_next(const struct wndl_code_text *text, uint64_t *at);

/* The size of its code. */
unsigned wndl_restorer_size(void);

/* The rules in it, with expressions in `room`. */
void wndl_restorer_row(
    struct wndl_cfi_row *row, uint8_t room[WNDL_RESTORER_ROOM]);

#endif
