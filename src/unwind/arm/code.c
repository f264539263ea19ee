/* SPDX-License-Identifier: MIT */
#include "unwind/arm/code.h"

enum { IP = 12, SP = 13, LR = 14, PC = 15, WORD = 4 };

static uint32_t bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((1u << count) - 1);
}

static uint32_t rotated(uint32_t value, unsigned by)
{
    return by == 0 ? value : value >> by | value << (32 - by);
}

static int64_t sign_extend(uint32_t value, unsigned width)
{
    const uint32_t sign = 1u << (width - 1);
    return (int64_t)(value ^ sign) - (int64_t)sign;
}

static int64_t signed_by(bool up, uint32_t value)
{
    return up ? (int64_t)value : -(int64_t)value;
}

static void is(struct wndl_arm_insn *i, enum wndl_arm_kind kind)
{
    i->kind = (uint8_t)kind;
}

static void push_or_pop(struct wndl_arm_insn *i, bool pops, uint32_t mask)
{
    const int64_t size = __builtin_popcount(mask) * WORD;
    is(i, pops ? WNDL_ARM_POP : WNDL_ARM_PUSH);
    i->mask = (uint16_t)mask;
    i->amount = pops ? size : -size;
}

static void add(
    struct wndl_arm_insn *i, unsigned reg, unsigned base, int64_t amount)
{
    if (reg == PC) {
        is(i, base == LR && amount == 0 ? WNDL_ARM_RETURN : WNDL_ARM_JUMP);
        return;
    }
    is(i, WNDL_ARM_ADD);
    i->reg = (uint8_t)reg;
    i->base = (uint8_t)base;
    i->amount = amount;
}

static void add_register(struct wndl_arm_insn *i, unsigned base, int64_t sign)
{
    is(i, WNDL_ARM_ADDREG);
    i->base = (uint8_t)base;
    i->amount = sign;
}

static void sets(struct wndl_arm_insn *i, enum wndl_arm_kind kind, unsigned reg,
    uint32_t value)
{
    is(i, reg == SP ? WNDL_ARM_MOVES_SP : kind);
    i->reg = (uint8_t)reg;
    i->amount = value;
}

static void jumps(
    struct wndl_arm_insn *i, enum wndl_arm_kind kind, uint64_t target)
{
    is(i, kind);
    i->target = (uint32_t)target;
}

/* The exit of a stub of a procedure linkage table. */
static void leaves_stub(struct wndl_arm_insn *i)
{
    is(i, WNDL_ARM_JUMP);
    i->base = IP;
}

/*
 * A load or store of one register or two at sp, before or after sp changes by
 * `amount`, or at sp + `amount` without a change. `form` has the bits P, U and
 * W.
 */
struct transfer {
    uint32_t mask;
    uint32_t form;
    uint32_t amount;
    bool loads;
};

static void transfer(struct wndl_arm_insn *i, const struct transfer *t)
{
    const int64_t amount = signed_by((t->form & 2) != 0, t->amount);
    const bool before = (t->form & 4) != 0, writes = (t->form & 1) != 0;
    i->mask = (uint16_t)t->mask;
    i->amount = amount;
    if (before && !writes)
        is(i, t->loads ? WNDL_ARM_LOAD : WNDL_ARM_STORE);
    else if (before && !t->loads && amount < 0)
        is(i, WNDL_ARM_PUSH);
    else if (!before && t->loads && amount > 0)
        is(i, WNDL_ARM_POP);
    else
        is(i, WNDL_ARM_MOVES_SP);
}

/* VPUSH and VPOP have the same bits in both instruction sets. */
static bool decode_vfp(struct wndl_arm_insn *i, uint32_t word)
{
    const bool pushes = (word & 0x0fbf0e00) == 0x0d2d0a00;
    if (!pushes && (word & 0x0fbf0e00) != 0x0cbd0a00)
        return false;
    is(i, pushes ? WNDL_ARM_PUSH : WNDL_ARM_POP);
    i->amount = signed_by(!pushes, bits(word, 0, 8) * WORD);
    return true;
}

/* ---- Thumb, 16 bits */

static void decode_16_misc(struct wndl_arm_insn *i, uint32_t h, uint64_t pc)
{
    if ((h & 0xff00) == 0xb000)
        add(i, SP, SP, signed_by((h & 0x80) == 0, bits(h, 0, 7) * WORD));
    else if ((h & 0xfe00) == 0xb400)
        push_or_pop(i, false, bits(h, 0, 8) | bits(h, 8, 1) << LR);
    else if ((h & 0xfe00) == 0xbc00)
        push_or_pop(i, true, bits(h, 0, 8) | bits(h, 8, 1) << PC);
    else if ((h & 0xf500) == 0xb100)
        jumps(i, WNDL_ARM_BRANCH, pc + bits(h, 3, 5) * 2 + bits(h, 9, 1) * 64);
    else if ((h & 0xff00) == 0xbf00 && (h & 0xf) != 0) {
        is(i, WNDL_ARM_IT);
        i->amount = WORD - __builtin_ctz(h & 0xf);
    }
}

/* Instructions of high registers: add, mov, bx, blx. */
static void decode_16_high(struct wndl_arm_insn *i, uint32_t h)
{
    const unsigned rd = bits(h, 0, 3) | bits(h, 7, 1) << 3;
    const unsigned rm = bits(h, 3, 4);
    if (h == 0x4778) { /* bx pc: to a stub in ARM code */
        leaves_stub(i);
    } else if ((h & 0xff00) == 0x4700) {
        if ((h & 0x80) != 0)
            is(i, WNDL_ARM_CALL);
        else
            is(i, rm == LR ? WNDL_ARM_RETURN : WNDL_ARM_JUMP);
    } else if ((h & 0xff00) == 0x4600) {
        add(i, rd, rm, 0);
    } else if (rd == PC && (h & 0xff00) == 0x4400) {
        is(i, WNDL_ARM_JUMP);
    } else if ((h & 0xff00) == 0x4400 && rd == SP) {
        add_register(i, rm, 1);
    }
}

static void decode_16(struct wndl_arm_insn *i, uint32_t h, uint64_t pc)
{
    const uint32_t slot = bits(h, 0, 8) * WORD;
    const unsigned reg = bits(h, 8, 3);
    if ((h & 0xf000) == 0xb000)
        decode_16_misc(i, h, pc);
    else if ((h & 0xfc00) == 0x4400)
        decode_16_high(i, h);
    else if ((h & 0xf800) == 0xa800)
        add(i, reg, SP, slot);
    else if ((h & 0xf000) == 0x3000)
        add(i, reg, reg, signed_by((h & 0x800) == 0, bits(h, 0, 8)));
    else if ((h & 0xf000) == 0x9000)
        transfer(i, &(struct transfer){1u << reg, 6, slot, (h & 0x800) != 0});
    else if ((h & 0xf800) == 0xe000)
        jumps(i, WNDL_ARM_JUMP, pc + (uint64_t)sign_extend(h << 1 & 0xfff, 12));
    else if ((h & 0xf000) == 0xd000 && bits(h, 8, 4) < 0xe)
        jumps(
            i, WNDL_ARM_BRANCH, pc + (uint64_t)sign_extend(h << 1 & 0x1ff, 9));
    else if ((h & 0xff00) == 0xdf00 || (h & 0xff00) == 0xde00)
        is(i, (h & 0xff00) == 0xde00 ? WNDL_ARM_JUMP : WNDL_ARM_OTHER);
}

/* ---- Thumb, 32 bits: both halfwords in one word, the first one on top */

/* ThumbExpandImm of i:imm3:imm8. */
static uint32_t expanded(uint32_t w)
{
    const uint32_t imm12 =
        bits(w, 26, 1) << 11 | bits(w, 12, 3) << 8 | bits(w, 0, 8);
    const uint32_t byte = imm12 & 0xff;
    switch (imm12 >> 8) {
    case 0:
        return byte;
    case 1:
        return byte << 16 | byte;
    case 2:
        return byte << 24 | byte << 8;
    case 3:
        return byte * 0x01010101u;
    default:
        return rotated(0x80 | (byte & 0x7f), imm12 >> 7);
    }
}

static uint32_t plain12(uint32_t w)
{
    return bits(w, 26, 1) << 11 | bits(w, 12, 3) << 8 | bits(w, 0, 8);
}

static uint32_t plain16(uint32_t w)
{
    return bits(w, 16, 4) << 12 | plain12(w);
}

/* Data processing with an immediate. */
static void decode_t32_immediate(struct wndl_arm_insn *i, uint32_t w)
{
    const unsigned rd = bits(w, 8, 4), rn = bits(w, 16, 4);
    switch (w & 0xfbe08000) {
    case 0xf1000000: /* add; with rd = 15 and flags it is cmn */
    case 0xf1a00000:
        if (rd != PC)
            add(i, rd, rn, signed_by((w & 0x00a00000) == 0, expanded(w)));
        return;
    case 0xf2000000: /* addw */
    case 0xf2a00000: /* subw */
        add(i, rd, rn, signed_by((w & 0x00a00000) == 0, plain12(w)));
        return;
    case 0xf0400000: /* orr; of pc: mov */
        if (rn == PC)
            sets(i, WNDL_ARM_CONST, rd, expanded(w));
        else if (rd == SP)
            is(i, WNDL_ARM_MOVES_SP);
        return;
    case 0xf2400000:
        sets(i, WNDL_ARM_CONST, rd, plain16(w));
        return;
    case 0xf2c00000:
        sets(i, WNDL_ARM_TOP, rd, plain16(w));
        return;
    default:
        if (rd == SP)
            is(i, WNDL_ARM_MOVES_SP);
    }
}

static int64_t branch_offset(uint32_t w, bool conditional)
{
    const uint32_t s = bits(w, 26, 1), j1 = bits(w, 13, 1), j2 = bits(w, 11, 1);
    const uint32_t low = bits(w, 0, 11) << 1;
    if (conditional)
        return sign_extend(
            s << 20 | j2 << 19 | j1 << 18 | bits(w, 16, 6) << 12 | low, 21);
    return sign_extend(s << 24 | (j1 == s) << 23 | (j2 == s) << 22 |
                           bits(w, 16, 10) << 12 | low,
        25);
}

static void decode_t32_branch(struct wndl_arm_insn *i, uint32_t w, uint64_t pc)
{
    const bool always = (w & 0x1000) != 0;
    if ((w & 0x4000) != 0)
        is(i, WNDL_ARM_CALL);
    else if (always)
        jumps(i, WNDL_ARM_JUMP, pc + (uint64_t)branch_offset(w, false));
    else if (bits(w, 23, 3) != 7)
        jumps(i, WNDL_ARM_BRANCH, pc + (uint64_t)branch_offset(w, true));
}

/* Several registers: stm, ldm. */
static void decode_t32_multiple(struct wndl_arm_insn *i, uint32_t w)
{
    const bool of_sp = bits(w, 16, 4) == SP;
    if ((w & 0xffff0000) == 0xe92d0000 || (w & 0xffff0000) == 0xe8bd0000)
        push_or_pop(i, (w & 0xffff0000) == 0xe8bd0000, w & 0xffff);
    else if (of_sp && (w & 0x00200000) != 0)
        is(i, WNDL_ARM_MOVES_SP);
    else if ((w & 0x00108000) == 0x00108000)
        is(i, WNDL_ARM_JUMP);
}

/* Two registers (strd, ldrd), and table branches. */
static void decode_t32_dual(struct wndl_arm_insn *i, uint32_t w)
{
    const uint32_t form = bits(w, 23, 2) << 1 | bits(w, 21, 1);
    if ((w & 0xfff0ffe0) == 0xe8d0f000)
        is(i, WNDL_ARM_JUMP);
    else if (bits(w, 16, 4) == SP && (form & 5) != 0)
        transfer(
            i, &(struct transfer){1u << bits(w, 12, 4) | 1u << bits(w, 8, 4),
                   form, bits(w, 0, 8) * WORD, (w & 0x00100000) != 0});
}

/* Loads and stores of one word. */
static void decode_t32_single(struct wndl_arm_insn *i, uint32_t w)
{
    const uint32_t mask = 1u << bits(w, 12, 4);
    const bool loads = (w & 0x00100000) != 0;
    const bool of_word = (w & 0x00600000) == 0x00400000;
    if (bits(w, 16, 4) == SP && of_word && (w & 0x00800000) != 0)
        transfer(i, &(struct transfer){mask, 6, w & 0xfff, loads});
    else if (bits(w, 16, 4) == SP && of_word && (w & 0x800) != 0)
        transfer(i, &(struct transfer){mask, bits(w, 8, 3), w & 0xff, loads});
    else if (bits(w, 16, 4) == SP && (w & 0x00800900) == 0x900)
        is(i, WNDL_ARM_MOVES_SP);
    else if (loads && of_word && mask == 1u << PC)
        is(i, WNDL_ARM_JUMP);
    /* Loading pc from sp is a return, except for the memory at sp + amount. */
    if (i->kind == WNDL_ARM_LOAD && mask == 1u << PC)
        is(i, WNDL_ARM_JUMP);
}

/* Data processing with a shifted register. */
static void decode_t32_register(struct wndl_arm_insn *i, uint32_t w)
{
    const unsigned rd = bits(w, 8, 4), rn = bits(w, 16, 4);
    const bool plain = (w & 0x70f0) == 0;
    const uint32_t op = w & 0xffe00000;
    if (rd == SP && rn == SP && plain && (op == 0xeba00000 || op == 0xeb000000))
        add_register(i, bits(w, 0, 4), op == 0xeb000000 ? 1 : -1);
    else if (op == 0xea400000 && rn == PC && plain)
        add(i, rd, bits(w, 0, 4), 0);
    else if (rd == SP)
        is(i, WNDL_ARM_MOVES_SP);
}

static void decode_t32(struct wndl_arm_insn *i, uint32_t w, uint64_t pc)
{
    if (decode_vfp(i, w) && w >> 28 == 0xe)
        return;
    is(i, WNDL_ARM_OTHER);
    if ((w & 0xf8008000) == 0xf0008000)
        decode_t32_branch(i, w, pc);
    else if ((w & 0xf8008000) == 0xf0000000)
        decode_t32_immediate(i, w);
    else if ((w & 0xfe400000) == 0xe8000000)
        decode_t32_multiple(i, w);
    else if ((w & 0xfe400000) == 0xe8400000)
        decode_t32_dual(i, w);
    else if ((w & 0xfe000000) == 0xf8000000)
        decode_t32_single(i, w);
    else if ((w & 0xfe000000) == 0xea000000)
        decode_t32_register(i, w);
}

/* ---- ARM */

static void decode_a32_immediate(struct wndl_arm_insn *i, uint32_t w)
{
    const unsigned rd = bits(w, 12, 4), rn = bits(w, 16, 4);
    const uint32_t value = rotated(bits(w, 0, 8), bits(w, 8, 4) * 2);
    const uint32_t wide = bits(w, 16, 4) << 12 | bits(w, 0, 12);
    switch (w & 0x0ff00000) {
    case 0x02800000:
    case 0x02400000:
        add(i, rd, rn, signed_by((w & 0x00800000) != 0, value));
        return;
    case 0x03a00000:
        sets(i, WNDL_ARM_CONST, rd, value);
        return;
    case 0x03000000:
        sets(i, WNDL_ARM_CONST, rd, wide);
        return;
    case 0x03400000:
        sets(i, WNDL_ARM_TOP, rd, wide);
        return;
    default: /* comparisons and writes to the status have no rd */
        if (rd == SP && (w & 0x01800000) != 0x01000000)
            is(i, WNDL_ARM_MOVES_SP);
    }
}

static void decode_a32_register(
    struct wndl_arm_insn *i, uint32_t w, uint64_t pc)
{
    const unsigned rd = bits(w, 12, 4), rn = bits(w, 16, 4), rm = bits(w, 0, 4);
    const uint32_t op = w & 0x0ff00ff0;
    if ((w & 0x0fffffd0) == 0x012fff10) {
        if ((w & 0x20) != 0)
            is(i, WNDL_ARM_CALL);
        else
            is(i, rm == LR ? WNDL_ARM_RETURN : WNDL_ARM_JUMP);
    } else if (op == 0x01a00000) {
        add(i, rd, rm, 0);
    } else if (rd == PC && rn == PC && op == 0x00800000) {
        jumps(i, WNDL_ARM_JUMP, pc);
    } else if (rd == SP && rn == SP && (op == 0x00800000 || op == 0x00400000)) {
        add_register(i, rm, op == 0x00800000 ? 1 : -1);
    } else if ((w & 0x0e5000d0) == 0x004000d0 && rn == SP) { /* ldrd, strd */
        transfer(i, &(struct transfer){3u << rd & 0xffff,
                        bits(w, 23, 2) << 1 | bits(w, 21, 1),
                        bits(w, 8, 4) << 4 | bits(w, 0, 4), (w & 0x20) == 0});
    } else if (rd == SP && (w & 0x01800000) != 0x01000000 &&
               (w & 0x90) != 0x90) {
        is(i, WNDL_ARM_MOVES_SP);
    }
}

static void decode_a32_single(struct wndl_arm_insn *i, uint32_t w)
{
    const uint32_t mask = 1u << bits(w, 12, 4);
    const uint32_t form = bits(w, 23, 2) << 1 | bits(w, 21, 1);
    const bool loads = (w & 0x00100000) != 0;
    const bool writes = (form & 5) != 4;
    const bool of_word = (w & 0x00400000) == 0;
    if (bits(w, 16, 4) == SP && of_word && (w & 0x02000000) == 0)
        /* A post-indexed form has no W bit: sp is always written. */
        transfer(i, &(struct transfer){
                        mask, writes ? form | 1 : form, w & 0xfff, loads});
    else if (bits(w, 16, 4) == SP && writes)
        is(i, WNDL_ARM_MOVES_SP);
    else if ((w & 0x0ffff000) == 0x05bcf000) /* ldr pc, [ip, #...]! */
        leaves_stub(i);
    else if (loads && of_word && mask == 1u << PC)
        is(i, WNDL_ARM_JUMP);
    if (i->kind == WNDL_ARM_LOAD && mask == 1u << PC)
        is(i, WNDL_ARM_JUMP);
}

static void decode_a32(struct wndl_arm_insn *i, uint32_t w, uint64_t pc)
{
    i->conditional = w >> 28 < 0xe;
    if (w >> 28 == 0xf || decode_vfp(i, w)) {
        if ((w & 0xfe000000) == 0xfa000000)
            is(i, WNDL_ARM_CALL);
        return;
    }
    switch (bits(w, 25, 3)) {
    case 0:
        decode_a32_register(i, w, pc);
        return;
    case 1:
        decode_a32_immediate(i, w);
        return;
    case 2:
    case 3:
        if ((w & 0x02000010) != 0x02000010) /* else media instructions */
            decode_a32_single(i, w);
        return;
    case 4:
        if (bits(w, 16, 12) == (0xe92d & 0xfff) || bits(w, 16, 12) == 0x8bd)
            push_or_pop(i, bits(w, 16, 12) == 0x8bd, w & 0xffff);
        else if (bits(w, 16, 4) == SP && (w & 0x00200000) != 0)
            is(i, WNDL_ARM_MOVES_SP);
        else if ((w & 0x00108000) == 0x00108000)
            is(i, WNDL_ARM_JUMP);
        return;
    case 5:
        if ((w & 0x01000000) != 0)
            is(i, WNDL_ARM_CALL);
        else
            jumps(i, i->conditional ? WNDL_ARM_BRANCH : WNDL_ARM_JUMP,
                pc + (uint64_t)sign_extend(bits(w, 0, 24) << 2, 26));
        return;
    default:
        return;
    }
}

/*
 * The target of a table branch by the first entry of its table, which is after
 * it; 0 if it is not relative to pc.
 */
static uint64_t first_of_table(uint32_t w, uint64_t pc, struct wndl_cursor *c)
{
    const bool of_halfwords = (w & 0x10) != 0;
    if ((w & 0xffffffe0) != 0xe8dff000)
        return 0;
    const uint64_t entry =
        of_halfwords ? wndl_cursor_u16(c) : wndl_cursor_u8(c);
    return c->failed ? 0 : pc + 2 * entry;
}

bool wndl_arm_decode(
    const struct wndl_arm_code *code, uint64_t at, struct wndl_arm_insn *i)
{
    *i = (struct wndl_arm_insn){.kind = WNDL_ARM_OTHER, .size = WORD};
    struct wndl_cursor c = wndl_cursor_at(code->bytes, at - code->addr, false);
    if (!code->thumb) {
        const uint32_t word = wndl_cursor_u32(&c);
        if (!c.failed)
            decode_a32(i, word, at + 8);
        return !c.failed;
    }
    const uint32_t first = wndl_cursor_u16(&c);
    if (first < 0xe800) {
        i->size = 2;
        if (!c.failed)
            decode_16(i, first, at + 4);
        return !c.failed;
    }
    const uint32_t both = first << 16 | wndl_cursor_u16(&c);
    if (c.failed)
        return false;
    decode_t32(i, both, at + 4);
    if (i->kind == WNDL_ARM_JUMP && i->target == 0)
        i->target = first_of_table(both, at + 4, &c);
    return true;
}
