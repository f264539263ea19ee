/* SPDX-License-Identifier: MIT */
/*
 * cfi_text: rows of call frame information as text: for people, and as STACK
 * CFI records of Breakpad symbol files.
 */
#ifndef WNDL_ANALYZE_BINARY_CFI_TEXT_H
#define WNDL_ANALYZE_BINARY_CFI_TEXT_H

#include "base/buf.h"
#include "cfi/cfi.h"

struct wndl_cfi_machine;

/* The machine of ELF's EM_* number; NULL if it is not known. Static. */
const struct wndl_cfi_machine *wndl_cfi_machine_of(uint16_t elf_machine);

/*
 * Appends "let cfa=oldSP+16 in RA=*(cfa-8) SP=cfa BP=*(cfa-16) BX=oldBX": the
 * caller's registers, of those that walks follow, in terms of the callee's
 * ("old"). AArch64 has FP (x29), and "RA=oldLR" where the return address is
 * still in x30; "(RA signed)" means that its upper bits have a signature. A
 * register that cannot be recovered is "unknown"; an expression that would be
 * too long is expr{bytes in hexadecimal}.
 */
void wndl_cfi_text_rule(struct wndl_buf *text,
    const struct wndl_cfi_machine *machine, const struct wndl_cfi_row *row);

/*
 * Appends ".cfa: $rsp 8 + .ra: .cfa 8 - ^": the rules of all registers whose
 * rule differs in `before` (NULL: of all registers). Nothing if none differs. A
 * rule that Breakpad cannot express, for an unknown register or operator, is
 * ".undef".
 */
void wndl_cfi_text_breakpad(struct wndl_buf *text,
    const struct wndl_cfi_machine *machine, const struct wndl_cfi_row *row,
    const struct wndl_cfi_row *before);

#endif
