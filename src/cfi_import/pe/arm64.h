/* SPDX-License-Identifier: MIT */
/*
 * arm64: what a function of ARM64 Windows does to the stack: unwind codes
 * (.xdata), or the word that stands for the usual ones (.pdata), as steps, and
 * what rows come of them. Knows nothing of files.
 *
 * Specification: "ARM64 exception handling" (Microsoft); for what that leaves
 * open, the printer in LLVM (ARMWinEHPrinter.cpp).
 */
#ifndef WNDL_CFI_IMPORT_PE_ARM64_H
#define WNDL_CFI_IMPORT_PE_ARM64_H

#include "base/bytes.h"
#include "base/status.h"
#include "cfi/cfi.h"

enum {
    WNDL_ARM64_INSTRUCTION = 4, /* bytes */
    WNDL_ARM64_STEPS = 1024,    /* codes are of 255 words at most */
};

/* What one instruction does. In this order: */
struct wndl_arm64_step {
    bool signs;        /* the return address gets a signature */
    uint32_t alloc;    /* bytes */
    uint8_t saved;     /* how many registers: the first and its next, or LR */
    uint8_t regs[2];   /* DWARF's numbers */
    uint32_t saved_at; /* of the first, from SP */
    bool sets_fp;
    uint32_t fp_at; /* from SP */
};

/*
 * In the order in which they are taken. Those before `own` were taken in the
 * functions that this is a part of.
 */
struct wndl_arm64_steps {
    struct wndl_arm64_step list[WNDL_ARM64_STEPS];
    uint32_t count, own;
};

/*
 * Those of the codes from bytes[first] on. MALFORMED, UNSUPPORTED: *why says of
 * what, and is static.
 */
enum wndl_status wndl_arm64_steps_read(struct wndl_arm64_steps *steps,
    struct wndl_bytes codes, uint32_t first, const char **why) WNDL_MUST_USE;

/* Those that the second word of an entry stands for: of the prologue, and of
 * the epilogue, which undoes less. */
enum wndl_status wndl_arm64_steps_unpack(struct wndl_arm64_steps *prologue,
    struct wndl_arm64_steps *epilogue, uint32_t word,
    const char **why) WNDL_MUST_USE;

/* Rules while steps are taken. */
struct wndl_arm64_state {
    struct wndl_cfi_row row;
    int64_t depth; /* bytes from SP to the CFA */
    bool framed;   /* the CFA is known by the frame pointer */
};

/* Where a function starts that is called. */
struct wndl_arm64_state wndl_arm64_state_at_entry(void);

void wndl_arm64_state_step(
    struct wndl_arm64_state *state, const struct wndl_arm64_step *step);

#endif
