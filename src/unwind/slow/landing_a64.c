/* SPDX-License-Identifier: MIT */
/*
 * landing_a64: libgcc before it enters the function that catches an exception,
 * or that has something to clean up. It writes that function's registers over
 * its own caller's in its frame. The return address then is that function's,
 * and signed if that one signs. But SP is that of the frame above libgcc's own,
 * until the last instruction. If the function has a frame record at SP, as
 * compilers make it, the frame pointer, which is also written, shows where SP
 * is.
 *
 * Such functions of libgcc are recognised by their saving of x0, in which
 * landing pads get their argument. Unwind tables do not have x0, so by them
 * they are not recognised.
 */
#include "unwind/slow/landing_a64.h"

#include "unwind/table/a64_rows.h"

enum { X0 = 0, WORD = 8, CFA_UNIT = 16 };

static bool lands(const struct wndl_code *code)
{
    return code->row.regs[X0].kind == WNDL_RULE_OFFSET &&
           code->row.ra_reg == WNDL_A64_LR && !code->row.signal_frame;
}

static __attribute__((noinline)) bool has_code(
    const struct wndl_space *space, uint64_t ra)
{
    struct wndl_code code;
    return wndl_code_find(space->remote, (ra & WNDL_A64_ADDRESS) - 1, &code) ==
           WNDL_CODE_ROW;
}

/* Whether code that returns to `ra` has its frame record at SP. */
static __attribute__((noinline)) bool has_record_at_sp(
    const struct wndl_space *space, uint64_t ra)
{
    struct wndl_code code;
    struct wndl_a64_plain plain;
    return wndl_code_find(space->remote, ra - 1, &code) == WNDL_CODE_ROW &&
           wndl_a64_of_row(&code.row, &plain) && !plain.by_fp && !plain.lone &&
           plain.slot != 0 && WORD * plain.slot == CFA_UNIT * plain.cfa;
}

bool wndl_landing_a64_right(const struct wndl_space *space,
    const struct wndl_code *code, struct wndl_cfi_regs *caller)
{
    uint64_t ra;
    if (!lands(code))
        return false;
    caller->regs[WNDL_A64_PC] &= WNDL_A64_ADDRESS;
    const uint64_t fp = caller->regs[WNDL_A64_FP];
    if ((caller->valid >> WNDL_A64_FP & 1) == 0 ||
        fp <= caller->regs[WNDL_A64_SP] || fp % CFA_UNIT != 0 ||
        !has_record_at_sp(space, caller->regs[WNDL_A64_PC]) ||
        !wndl_space_word(space, fp + WORD, &ra) || !has_code(space, ra))
        return false;
    caller->regs[WNDL_A64_SP] = fp;
    return true;
}
