/* SPDX-License-Identifier: MIT */
#include "unwind/full.h"

#include "unwind/rule.h"

/* glibc's note of where the kernel left the stack pointer. */
extern void *__libc_stack_end __attribute__((weak));

/* x86-64's ucontext_t gregs in DWARF numbering. */
static const uint8_t dwarf_of_greg[17] = {
    8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16 //
};

static void set(struct wndl_cfi_regs *regs, unsigned number, uint64_t value)
{
    regs->regs[number] = value;
    regs->valid |= UINT32_C(1) << number;
}

void wndl_full_init(struct wndl_full *full, const struct wndl_regs *regs)
{
    *full = (struct wndl_full){.interrupted = true};
    for (unsigned i = 0; regs->gregs != NULL && i < 17; i++) {
        uint64_t value; /* the words are the kernel's long longs */
        __builtin_memcpy(&value, &regs->gregs[i], sizeof value);
        set(&full->regs, dwarf_of_greg[i], value);
    }
    if (regs->valid & WNDL_REG_IP)
        set(&full->regs, WNDL_DWARF_RA, regs->ip);
    if (regs->valid & WNDL_REG_SP)
        set(&full->regs, WNDL_DWARF_RSP, regs->sp);
    if (regs->valid & WNDL_REG_FP)
        set(&full->regs, WNDL_DWARF_RBP, regs->fp);
    if (regs->valid & WNDL_REG_BX)
        set(&full->regs, WNDL_DWARF_RBX, regs->bx);
}

/*
 * Code that runs before the program's own start, ld.so's, has no CFI that
 * says so; but nothing called it when the stack is as the kernel left it, to
 * within the alignment that ld.so gives it.
 */
static bool at_program_start(const struct wndl_space *space, uint64_t sp)
{
    return space->remote == NULL && &__libc_stack_end != NULL &&
           sp + 15 >= (uintptr_t)__libc_stack_end;
}

enum wndl_walk_end wndl_root_end(const struct wndl_space *space, uint64_t sp)
{
    return at_program_start(space, sp) ? WNDL_END_COMPLETE : WNDL_END_FP_ROOT;
}

static struct wndl_step ended(enum wndl_walk_end end)
{
    return (struct wndl_step){.end = end};
}

static struct wndl_step stepped(enum wndl_frame_how how)
{
    return (struct wndl_step){.more = true, .how = how};
}

/* A call through a null pointer: the return address is the last push. */
static bool step_null_call(
    const struct wndl_space *space, struct wndl_fp_state *state)
{
    uint64_t ra;
    if (!state->interrupted || state->pc >= 4096 ||
        !wndl_space_u64(space, state->sp, &ra) ||
        !wndl_code_is_mapped(space->remote, ra))
        return false;
    state->pc = ra;
    state->sp += 8;
    state->interrupted = false;
    return true;
}

/* {caller's frame pointer, return address} are at the frame pointer. */
static bool read_link(const struct wndl_space *space, uint64_t sp, uint64_t fp,
    struct wndl_fp_state *caller)
{
    if (fp % 8 != 0 || fp < sp || fp > UINT64_MAX - 16)
        return false;
    *caller = (struct wndl_fp_state){.sp = fp + 16};
    return wndl_space_u64(space, fp, &caller->fp) &&
           wndl_space_u64(space, fp + 8, &caller->pc);
}

/*
 * A return address is believed when it is in a module, or when frame pointers
 * lead on from it to one that is: just-in-time compiled code is in none.
 */
static bool is_plausible(
    const struct wndl_space *space, struct wndl_fp_state state)
{
    enum { LOOK_AHEAD = 64 };
    for (int i = 0; i < LOOK_AHEAD; i++) {
        if (wndl_code_is_mapped(space->remote, state.pc))
            return true;
        if (!wndl_code_is_possible(state.pc) ||
            !read_link(space, state.sp, state.fp, &state))
            return false;
    }
    return false;
}

static struct wndl_step guess(
    const struct wndl_space *space, struct wndl_fp_state *state)
{
    struct wndl_fp_state caller;
    if (state->fp == 0)
        return ended(WNDL_END_FP_ROOT);
    if (!read_link(space, state->sp, state->fp, &caller))
        return ended(WNDL_END_NO_RULE);
    if (caller.pc == 0)
        return ended(wndl_root_end(space, caller.sp));
    if (!is_plausible(space, caller))
        return ended(WNDL_END_NO_RULE);
    *state = caller;
    return stepped(WNDL_HOW_FP);
}

/*
 * No call returns to the first instruction of a function that code without
 * CFI precedes: the address was put on the stack to be returned to first, as
 * makecontext does. It is the entry of a coroutine.
 */
static bool at_coroutine_entry(
    const struct wndl_space *space, const struct wndl_fp_state *state)
{
    struct wndl_code code;
    return !state->interrupted &&
           wndl_code_find(space->remote, state->pc, &code) == WNDL_CODE_ROW;
}

struct wndl_step wndl_fp_step(
    const struct wndl_space *space, struct wndl_fp_state *state, bool in_module)
{
    if (in_module && (at_program_start(space, state->sp) ||
                         at_coroutine_entry(space, state)))
        return ended(WNDL_END_COMPLETE);
    if (!in_module && step_null_call(space, state))
        return stepped(WNDL_HOW_FP);
    bool was_interrupted = state->interrupted;
    struct wndl_step step = guess(space, state);
    if (!step.more && !in_module)
        step.end = was_interrupted ? WNDL_END_NO_RULE : WNDL_END_BAD_PC;
    return step;
}

static struct wndl_step full_fp_step(
    const struct wndl_space *space, struct wndl_full *full, bool in_module)
{
    const struct wndl_cfi_regs *r = &full->regs;
    bool fp_valid = (r->valid >> WNDL_DWARF_RBP & 1) != 0;
    struct wndl_fp_state state = {
        .pc = r->regs[WNDL_DWARF_RA],
        .sp = r->regs[WNDL_DWARF_RSP],
        .fp = fp_valid ? r->regs[WNDL_DWARF_RBP] : 0,
        .interrupted = full->interrupted,
    };
    struct wndl_step step = wndl_fp_step(space, &state, in_module);
    if (!step.more)
        return step;
    *full = (struct wndl_full){0};
    set(&full->regs, WNDL_DWARF_RA, state.pc);
    set(&full->regs, WNDL_DWARF_RSP, state.sp);
    set(&full->regs, WNDL_DWARF_RBP, state.fp);
    return step;
}

static enum wndl_walk_end end_of_status(enum wndl_status status)
{
    if (status == WNDL_NOT_FOUND)
        return WNDL_END_COMPLETE;
    return status == WNDL_IO ? WNDL_END_BAD_READ : WNDL_END_BAD_CFI;
}

static struct wndl_step cfi_step(const struct wndl_space *space,
    const struct wndl_code *code, struct wndl_full *full)
{
    const uint32_t needed = 1u << WNDL_DWARF_RA | 1u << WNDL_DWARF_RSP;
    struct wndl_cfi_regs caller;
    enum wndl_status status = wndl_cfi_step(
        &code->frame, &code->row, &full->regs, &space->memory, &caller);
    if (status != WNDL_OK)
        return ended(end_of_status(status));
    if ((caller.valid & needed) != needed)
        return ended(WNDL_END_BAD_CFI);
    uint64_t sp = caller.regs[WNDL_DWARF_RSP];
    uint64_t callee_sp = full->regs.regs[WNDL_DWARF_RSP];
    /* vfork() keeps its return address in a register: it has no frame. */
    bool frameless = full->interrupted && sp == callee_sp &&
                     code->row.regs[WNDL_DWARF_RA].kind == WNDL_RULE_REGISTER;
    /* A signal handler may run on a stack of its own, anywhere. */
    if (sp <= callee_sp && !frameless && !code->row.signal_frame)
        return ended(WNDL_END_NO_PROGRESS);
    full->regs = caller;
    full->interrupted = code->row.signal_frame;
    if (caller.regs[WNDL_DWARF_RA] == 0 && !full->interrupted)
        return ended(wndl_root_end(space, sp));
    return stepped(WNDL_HOW_CFI);
}

struct wndl_step wndl_full_step(
    const struct wndl_space *space, struct wndl_full *full)
{
    struct wndl_code code;
    uint64_t pc = full->regs.regs[WNDL_DWARF_RA] - !full->interrupted;
    switch (wndl_code_find(space->remote, pc, &code)) {
    case WNDL_CODE_ROW:
        return cfi_step(space, &code, full);
    case WNDL_CODE_NO_FDE:
        return full_fp_step(space, full, true);
    case WNDL_CODE_NO_MODULE:
        return full_fp_step(space, full, false);
    case WNDL_CODE_BAD:
        break;
    }
    return ended(WNDL_END_BAD_CFI);
}
