/* SPDX-License-Identifier: MIT */
/*
 * shares_body: replaces wndl_arm_rows (--wrap) in a runtime for 32-bit Arm, so
 * that bench/shares can measure the use of following code. The body's rule
 * holds for all of a function, or with PROLOGUES for the part after its
 * prologue has made that rule.
 */
#include "unwind/arm/rows.h"

enum wndl_arm_prologue __real_wndl_arm_rows(
    const struct wndl_arm_function *function,
    bool (*visit)(void *context, const struct wndl_cfi_row *row),
    void *context);

enum wndl_arm_prologue __wrap_wndl_arm_rows(
    const struct wndl_arm_function *function,
    bool (*visit)(void *context, const struct wndl_cfi_row *row),
    void *context);

#ifdef PROLOGUES

struct prologue {
    const struct wndl_arm_function *function;
    bool (*visit)(void *context, const struct wndl_cfi_row *row);
    void *context;
};

static bool is_body(
    const struct wndl_cfi_row *row, const struct wndl_cfi_row *body)
{
    if (row->cfa.reg != body->cfa.reg || row->cfa.offset != body->cfa.offset)
        return false;
    for (unsigned i = 0; i < WNDL_ARM_REGS; i++)
        if (row->regs[i].kind != body->regs[i].kind ||
            row->regs[i].offset != body->regs[i].offset)
            return false;
    return true;
}

static bool visit_prologue(void *context, const struct wndl_cfi_row *row)
{
    const struct prologue *p = context;
    if (!is_body(row, p->function->body))
        return p->visit(p->context, row);
    struct wndl_cfi_row rest = *row;
    rest.end = p->function->end;
    (void)p->visit(p->context, &rest);
    return false;
}

enum wndl_arm_prologue __wrap_wndl_arm_rows(
    const struct wndl_arm_function *function,
    bool (*visit)(void *context, const struct wndl_cfi_row *row), void *context)
{
    struct prologue p = {function, visit, context};
    return __real_wndl_arm_rows(function, visit_prologue, &p);
}

#else

enum wndl_arm_prologue __wrap_wndl_arm_rows(
    const struct wndl_arm_function *function,
    bool (*visit)(void *context, const struct wndl_cfi_row *row), void *context)
{
    (void)visit(context, function->body);
    return WNDL_ARM_NOT_FOLLOWED;
}

#endif
