/* SPDX-License-Identifier: MIT */
/*
 * cfi_expr: DWARF expressions in CFI (DWARF 5, 2.5 and 6.4.2), and the
 * full-register step built on them: all callee-saved registers, any rule. This
 * is the slow path of the unwinder and the oracle of its tests. Signal-safe if
 * the reader is.
 */
#ifndef WNDL_CFI_CFI_EXPR_H
#define WNDL_CFI_CFI_EXPR_H

#include "cfi/cfi.h"

/* Register values by DWARF number; bit n of `valid` says regs[n] is known. */
struct wndl_cfi_regs {
    uint64_t regs[WNDL_CFI_REGS];
    uint64_t valid;
};

/* AArch64: the bits of a code address. Its signature and tag are above. */
#define WNDL_A64_ADDRESS ((UINT64_C(1) << 48) - 1)

struct wndl_cfi_memory {
    /* Copies `size` bytes at `address` to `to`; false if not readable. */
    bool (*read)(void *context, uint64_t address, void *to, size_t size);
    void *context;
};

/* The context of an expression. `frame` gives width and byte order. */
struct wndl_expr_view {
    const struct wndl_cfi_section *frame;
    const struct wndl_cfi_regs *regs;
    const struct wndl_cfi_memory *memory;
};

/*
 * Evaluates `expr` with `initial` (NULL: none) pushed first. At most 1,024
 * operations and 64 stack entries (LIMIT). UNSUPPORTED for operators that CFI
 * must not have. MALFORMED on stack underflow. IO if memory cannot be read, or
 * a named register has no known value.
 */
enum wndl_status wndl_expr_eval(struct wndl_bytes expr,
    const struct wndl_expr_view *view, const uint64_t *initial,
    uint64_t *result) WNDL_MUST_USE;

/*
 * Computes the caller's registers by `row`; `caller` must not be `callee`.
 * NOT_FOUND if the row has no caller (RA undefined), and in no other case. IO
 * if the CFA, the return address or the stack pointer is not available, because
 * memory is not readable or a register not known. Any other register that
 * cannot be recovered is just not valid.
 *
 * caller->regs[ra_reg] is the return address. caller->regs[7] (x86-64 RSP; in a
 * 4-byte section regs[4], i386 ESP) is the CFA, unless the row has a rule for
 * it (signal frames do).
 *
 * AArch64: caller->regs[32] is the return address, without its signature, and
 * regs[31] the CFA as above. A caller has its x19 to x29. Of x0 to x18 and x30,
 * which calls change, it has those that the row has rules for or, below a
 * signal frame, all.
 *
 * 32-bit Arm: caller->regs[15] is the return address, without the bit of Thumb
 * code, and regs[13] the CFA as above. Calls change r0 to r3, r12 and r14.
 */
enum wndl_status wndl_cfi_step(const struct wndl_cfi_section *frame,
    const struct wndl_cfi_row *row, const struct wndl_cfi_regs *callee,
    const struct wndl_cfi_memory *memory,
    struct wndl_cfi_regs *caller) WNDL_MUST_USE;

#endif
