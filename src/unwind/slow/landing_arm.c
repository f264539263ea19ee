/* SPDX-License-Identifier: MIT */
/*
 * landing_arm: libgcc's unwinder, which works in a block of all core registers
 * that it gets. It carries out the rules of PC's function one after the other.
 * Each of them moves the block's SP; a pop writes the registers first, SP then.
 * Last of all PC becomes LR. So between two of these steps SP is that of the
 * function, or its CFA, or between them. Its original value is found by the
 * return address of the function that it had called, which is right below and
 * equals the block's PC.
 */
#include "unwind/slow/landing_arm.h"

#include "unwind/arm/exidx.h"
#include "unwind/space/arm_find.h"

enum { WORD = 4, MOST = 4096 };

/* ---- registers that are being written over */

struct landing {
    const struct wndl_space *space;
    const struct wndl_cfi_row *row; /* of the code of the block's PC */
    struct wndl_cfi_regs *block;
    uint64_t saved; /* bytes of the row's saved registers */
    uint64_t most;  /* maximum distance of the search below the block's SP */
};

static bool is_word(
    const struct wndl_space *space, uint64_t at, uint64_t expected)
{
    uint64_t value;
    return wndl_space_word(space, at, &value) && value == expected;
}

/* Whether, with that CFA, a return address is where the row has it. */
static bool is_cfa(const struct landing *l, uint64_t cfa)
{
    uint64_t ra;
    const struct wndl_cfi_rule *rule = &l->row->regs[l->row->ra_reg];
    return wndl_space_word(l->space, cfa + (uint64_t)rule->offset, &ra) &&
           wndl_code_is_mapped(l->space->remote, ra - 1) &&
           wndl_arm_is_after_call(l->space->remote, ra);
}

/* Whether the callee with this SP returned to the block's PC. */
static bool has_called(const struct landing *l, uint64_t sp)
{
    return is_word(l->space, sp - WORD, l->block->regs[WNDL_ARM_PC]);
}

/* The function's SP, at or below the block's. */
static void right_sp(const struct landing *l)
{
    uint64_t *sp = &l->block->regs[WNDL_ARM_SP];
    const uint64_t size = (uint64_t)l->row->cfa.offset;
    for (uint64_t by = 0; by <= size && by <= l->most; by += WORD) {
        if (has_called(l, *sp - by) && is_cfa(l, *sp - by + size)) {
            *sp -= by;
            return;
        }
    }
}

/* Whether SP is above the function's. */
static bool has_moved(const struct landing *l)
{
    const uint64_t sp = l->block->regs[WNDL_ARM_SP];
    uint64_t by = 0;
    while (by <= l->most && !has_called(l, sp - by))
        by += WORD;
    return by != 0 && by <= l->most;
}

/* Whether, with that CFA, the register in the block was popped. */
static bool is_popped(const struct landing *l, unsigned reg, uint64_t cfa)
{
    const struct wndl_cfi_rule *rule = &l->row->regs[reg];
    return is_cfa(l, cfa) && rule->kind == WNDL_RULE_OFFSET &&
           is_word(l->space, cfa + (uint64_t)rule->offset, l->block->regs[reg]);
}

/* The function's frame pointer, if it was overwritten. */
static void right_base(const struct landing *l)
{
    const unsigned base = l->row->cfa.reg;
    uint64_t *sp = &l->block->regs[WNDL_ARM_SP];
    const uint64_t saved_up_to = *sp + l->saved;
    uint64_t cfa;
    if (!has_moved(l))
        return;
    if (is_popped(l, base, *sp))
        cfa = *sp;
    else if (is_popped(l, base, saved_up_to))
        cfa = saved_up_to;
    else
        return;
    if (cfa - l->saved < *sp - l->most)
        return;
    l->block->regs[base] = cfa - (uint64_t)l->row->cfa.offset;
    *sp = cfa - l->saved;
}

__attribute__((noinline)) void wndl_landing_arm_right(
    const struct wndl_space *space, uint64_t floor, struct wndl_cfi_regs *block)
{
    struct wndl_code code;
    const struct wndl_cfi_row *row = &code.row;
    const uint64_t pc = block->regs[WNDL_ARM_PC] & ~UINT64_C(1);
    if (wndl_code_find(space->remote, pc - 1, &code) != WNDL_CODE_ROW ||
        row->cfa.kind != WNDL_RULE_REGISTER || row->cfa.reg > WNDL_ARM_SP ||
        row->ra_reg > WNDL_ARM_PC ||
        row->regs[row->ra_reg].kind != WNDL_RULE_OFFSET)
        return;
    const uint64_t above = block->regs[WNDL_ARM_SP] - floor;
    struct landing l = {.space = space,
        .row = row,
        .block = block,
        .most = above < MOST ? above : MOST};
    if (block->regs[WNDL_ARM_SP] < floor)
        return;
    for (unsigned reg = 0; reg <= WNDL_ARM_PC; reg++)
        l.saved += row->regs[reg].kind == WNDL_RULE_OFFSET ? (unsigned)WORD : 0;
    if (row->cfa.reg != WNDL_ARM_SP)
        right_base(&l);
    else if (row->cfa.offset >= 0)
        right_sp(&l);
}

/* ---- the last instructions */

/* The code that loads all registers from a block at r0. */
static const uint8_t last[] = {
    0x00, 0xf1, 0x34, 0x01, /*  0 add.w r1, r0, #52 */
    0x91, 0xe8, 0x38, 0x00, /*  4 ldmia.w r1, {r3, r4, r5} */
    0x9c, 0x46,             /*  8 mov ip, r3 */
    0xa6, 0x46,             /* 10 mov lr, r4 */
    0x4c, 0xf8, 0x04, 0x5d, /* 12 str.w r5, [ip, #-4]! */
    0x90, 0xe8, 0xff, 0x0f, /* 16 ldmia.w r0, {r0-r11} */
    0xe5, 0x46,             /* 20 mov sp, ip */
    0x00, 0xbd,             /* 22 pop {pc} */
};
enum { LOADS = 16, POPS_PC = 22, IP = 12, LAST_SAVED = 11 };

/* The instruction's offset in it; sizeof last: it is another. */
static size_t find_last(struct wndl_bytes bytes, uint64_t at)
{
    for (size_t i = 0; i < sizeof last; i += 2) {
        const struct wndl_bytes here =
            at < i ? (struct wndl_bytes){0}
                   : wndl_bytes_slice(bytes, at - i, sizeof last);
        if (here.data != NULL &&
            __builtin_memcmp(here.data, last, sizeof last) == 0)
            return i;
    }
    return sizeof last;
}

static bool load(const struct wndl_space *space, uint64_t block, unsigned reg,
    struct wndl_cfi_regs *regs)
{
    uint64_t value;
    if (!wndl_space_word(space, block + (uint64_t)WORD * reg, &value))
        return false;
    regs->regs[reg] = value;
    regs->valid |= UINT64_C(1) << reg;
    return true;
}

static bool load_all(
    const struct wndl_space *space, uint64_t block, struct wndl_cfi_regs *regs)
{
    for (unsigned reg = WNDL_ARM_R4; reg <= LAST_SAVED; reg++) {
        if (!load(space, block, reg, regs))
            return false;
    }
    return load(space, block, WNDL_ARM_SP, regs) &&
           load(space, block, WNDL_ARM_PC, regs);
}

/* PC is at SP, or at ip. */
static bool load_pc(
    const struct wndl_space *space, unsigned by, struct wndl_cfi_regs *regs)
{
    uint64_t pc;
    const uint64_t at = regs->regs[by];
    if ((regs->valid >> by & 1) == 0 || !wndl_space_word(space, at, &pc))
        return false;
    regs->regs[WNDL_ARM_PC] = pc;
    regs->regs[WNDL_ARM_SP] = (uint32_t)(at + WORD);
    return true;
}

bool wndl_landing_arm_step(const struct wndl_space *space,
    struct wndl_bytes bytes, uint64_t addr, struct wndl_full *full)
{
    struct wndl_cfi_regs regs = full->regs;
    const uint64_t sp = regs.regs[WNDL_ARM_SP];
    const size_t at = find_last(bytes, regs.regs[WNDL_ARM_PC] - addr);
    if (at == sizeof last || !full->interrupted)
        return false;
    const bool is_loaded =
        at <= LOADS
            ? (regs.valid & 1) != 0 && load_all(space, regs.regs[0], &regs)
            : load_pc(space, at == POPS_PC ? WNDL_ARM_SP : IP, &regs);
    if (!is_loaded || regs.regs[WNDL_ARM_SP] <= sp ||
        !wndl_code_is_mapped(space->remote, regs.regs[WNDL_ARM_PC]))
        return false;
    regs.regs[WNDL_ARM_PC] &= ~UINT64_C(1);
    full->regs = regs;
    return true;
}
