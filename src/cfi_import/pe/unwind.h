/* SPDX-License-Identifier: MIT */
/*
 * unwind: the effect of an x64 Windows function on the stack, from its unwind
 * information (.xdata). Its prologue becomes steps in the order of execution,
 * and steps become rows.
 *
 * Specification: "x64 exception handling" (Microsoft); for version 2, the
 * writer in LLVM (MCWin64EH.cpp).
 */
#ifndef WNDL_CFI_IMPORT_PE_UNWIND_H
#define WNDL_CFI_IMPORT_PE_UNWIND_H

#include "cfi/cfi.h"
#include "obj/core/object.h"

enum {
    WNDL_PE_CHAIN = 32,  /* maximum of infos chained to each other */
    WNDL_PE_CODES = 255, /* of one */
    WNDL_PE_STEPS = WNDL_PE_CHAIN * WNDL_PE_CODES,
};

enum wndl_pe_step_kind {
    WNDL_PE_PUSH,
    WNDL_PE_ALLOC,   /* value: bytes */
    WNDL_PE_FRAME,   /* reg is SP + value */
    WNDL_PE_SAVE,    /* of reg, at the stack's base + value */
    WNDL_PE_MACHINE, /* an interrupt's frame; value: bytes pushed after it */
};

struct wndl_pe_step {
    uint8_t kind; /* enum wndl_pe_step_kind */
    uint8_t reg;  /* as instructions encode it, 0 to 15 */
    uint8_t at;   /* bytes from the function's start to its end */
    uint32_t value;
};

/*
 * Steps before `own` belong to the functions of which this is a part. Only
 * version 2 lists epilogues, by their distance from the end; the first one
 * comes first.
 */
struct wndl_pe_unwind {
    uint32_t slots; /* source size, in slots of 2 bytes */
    struct wndl_pe_step steps[WNDL_PE_STEPS];
    uint32_t count, own;
    uint32_t epilogues[WNDL_PE_CODES];
    uint32_t epilogue_count;
    int64_t base; /* from the base of saved registers to the CFA */
    uint8_t version, prologue;
    bool signal_frame;
};

/* An entry of .pdata; image-relative. */
struct wndl_pe_function {
    uint32_t start, end, unwind;
};

/*
 * Reads function->unwind. TRUNCATED, MALFORMED, UNSUPPORTED, LIMIT: *why is the
 * reason, a static string.
 */
enum wndl_status wndl_pe_unwind_read(const struct wndl_object *object,
    const struct wndl_pe_function *function, struct wndl_pe_unwind *unwind,
    const char **why) WNDL_MUST_USE;

/* The rules in the course of steps. */
struct wndl_pe_state {
    struct wndl_cfi_row row;
    int64_t depth; /* bytes from SP to the CFA */
    int64_t base;  /* as in struct wndl_pe_unwind */
    bool framed;   /* the CFA counts from another register than SP */
};

/* The state at the start of a function that was called. */
struct wndl_pe_state wndl_pe_state_at_entry(int64_t base);

void wndl_pe_state_step(
    struct wndl_pe_state *state, const struct wndl_pe_step *step);

#endif
