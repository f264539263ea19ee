/* SPDX-License-Identifier: MIT */
/*
 * cfi_text: rows of call frame information as text: for people, and as the
 * STACK CFI records of Breakpad's symbol files.
 */
#ifndef WNDL_ANALYZE_BINARY_CFI_TEXT_H
#define WNDL_ANALYZE_BINARY_CFI_TEXT_H

#include "base/buf.h"
#include "cfi/cfi.h"

struct wndl_cfi_machine;

/* By ELF's EM_* number; NULL for a machine that is not known. Static. */
const struct wndl_cfi_machine *wndl_cfi_machine_of(uint16_t elf_machine);

/*
 * "let cfa=oldSP+16 in RA=*(cfa-8) SP=cfa BP=*(cfa-16) BX=oldBX": the caller's
 * registers, of those that walks follow, by the callee's ("old"). AArch64 has
 * FP (x29), and "RA=oldLR" where the return address is still in x30; behind
 * what is "(RA signed)" it has a signature in its upper bits. A register
 * that cannot be told is "unknown"; an expression that would be too long is
 * expr{bytes in hexadecimal}.
 */
void wndl_cfi_text_rule(struct wndl_buf *text,
    const struct wndl_cfi_machine *machine, const struct wndl_cfi_row *row);

/*
 * ".cfa: $rsp 8 + .ra: .cfa 8 - ^": every register's rule that is not the same
 * in `before` (NULL: every rule). Nothing if all are. What cannot be said, an
 * unknown register or an operator that Breakpad has not, is ".undef".
 */
void wndl_cfi_text_breakpad(struct wndl_buf *text,
    const struct wndl_cfi_machine *machine, const struct wndl_cfi_row *row,
    const struct wndl_cfi_row *before);

#endif
