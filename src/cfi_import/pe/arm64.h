/* SPDX-License-Identifier: MIT */
/*
 * arm64: the effect of an ARM64 Windows function on the stack. Unwind codes
 * (.xdata), or the word for the usual ones (.pdata), become steps, and steps
 * become rows. It knows no files.
 *
 * Specification: "ARM64 exception handling" (Microsoft); where that is silent,
 * the printer in LLVM (ARMWinEHPrinter.cpp).
 */
#ifndef WNDL_CFI_IMPORT_PE_ARM64_H
#define WNDL_CFI_IMPORT_PE_ARM64_H

#include "base/bytes.h"
#include "base/status.h"
#include "cfi/cfi.h"

enum {
    WNDL_ARM64_INSTRUCTION = 4, /* bytes */
    WNDL_ARM64_STEPS = 1024,    /* codes have 255 words at most */
};

/* The effects of one instruction, in this order: */
struct wndl_arm64_step {
    bool signs;        /* signs the return address */
    uint32_t alloc;    /* bytes */
    uint8_t saved;     /* number of registers: one, a pair, or one and LR */
    uint8_t regs[2];   /* DWARF's numbers */
    uint32_t saved_at; /* of the first, from SP */
    bool sets_fp;
    uint32_t fp_at; /* from SP */
};

/*
 * Steps in the order of execution. Those before `own` belong to the functions
 * of which this is a part.
 */
struct wndl_arm64_steps {
    struct wndl_arm64_step list[WNDL_ARM64_STEPS];
    uint32_t count, own;
};

/*
 * Reads the steps of the codes from bytes[first] on. MALFORMED, UNSUPPORTED:
 * *why is the reason, a static string.
 */
enum wndl_status wndl_arm64_steps_read(struct wndl_arm64_steps *steps,
    struct wndl_bytes codes, uint32_t first, const char **why) WNDL_MUST_USE;

/*
 * Unpacks the steps of an entry's second word: those of the prologue, and those
 * of the epilogue, which undoes fewer.
 */
enum wndl_status wndl_arm64_steps_unpack(struct wndl_arm64_steps *prologue,
    struct wndl_arm64_steps *epilogue, uint32_t word,
    const char **why) WNDL_MUST_USE;

/* The rules in the course of steps. */
struct wndl_arm64_state {
    struct wndl_cfi_row row;
    int64_t depth; /* bytes from SP to the CFA */
    bool framed;   /* the CFA counts from the frame pointer */
};

/* The state at the start of a function that was called. */
struct wndl_arm64_state wndl_arm64_state_at_entry(void);

void wndl_arm64_state_step(
    struct wndl_arm64_state *state, const struct wndl_arm64_step *step);

#endif
