/* SPDX-License-Identifier: MIT */
/*
 * rows: the rules at each instruction of a 32-bit Arm function of which
 * .ARM.exidx gives only the rule of its body. The prologue is followed from the
 * start until it has made that rule. An epilogue is code that undoes all of it
 * up to a return. Thumb or ARM is whichever fits, because stripped binaries do
 * not say.
 *
 * Signal-safe, as exidx.h.
 */
#ifndef WNDL_UNWIND_ARM_ROWS_H
#define WNDL_UNWIND_ARM_ROWS_H

#include "unwind/arm/code.h"
#include "unwind/arm/exidx.h"

struct wndl_arm_function {
    struct wndl_bytes code; /* of the section or segment that contains it */
    uint64_t code_addr;
    uint64_t start, end;             /* like code_addr: svma or avma */
    const struct wndl_cfi_row *body; /* from wndl_exidx_row */
};

/* The extent to which the code agrees with the rule. */
enum wndl_arm_prologue {
    WNDL_ARM_FOLLOWED,     /* the prologue makes the body's rule */
    WNDL_ARM_PARTLY,       /* up to an instruction; the body's rule holds
                            * after it */
    WNDL_ARM_NOT_FOLLOWED, /* the body's rule holds for all of it */
};

/*
 * Calls `visit` for each row in order, from start to end without gaps, until it
 * returns false. An address in a row has the row's rule even if it is not code
 * (data between functions).
 */
enum wndl_arm_prologue wndl_arm_rows(const struct wndl_arm_function *function,
    bool (*visit)(void *context, const struct wndl_cfi_row *row),
    void *context);

#endif
