/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/a64.h"

enum {
    SIZE = 4, /* of an instruction, bytes */
    WORD = 8,
    SP = 31, /* or no register, as an instruction has it */
    NOP = 0xd503201f,
    PAGE_BITS = 12,
};

static unsigned bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((UINT32_C(1) << count) - 1);
}

static bool bit(uint32_t word, unsigned number)
{
    return (word >> number & 1) != 0;
}

static int64_t signed_bits(uint32_t word, unsigned low, unsigned count)
{
    const int64_t sign = INT64_C(1) << (count - 1);
    return ((int64_t)bits(word, low, count) ^ sign) - sign;
}

/* Where 31 is no register, but reads as 0. */
static uint8_t no_sp(unsigned reg)
{
    return reg == SP ? WNDL_INSN_NO_REG : (uint8_t)reg;
}

static void write_reg(struct wndl_insn *insn, unsigned reg)
{
    if (reg < WNDL_INSN_REGS)
        insn->writes |= UINT32_C(1) << reg;
}

/* The operation that sets a register; nothing if that is none. */
static bool set_reg(struct wndl_insn *insn, enum wndl_insn_op op, unsigned reg)
{
    if (reg == WNDL_INSN_NO_REG)
        return false;
    insn->op = (uint8_t)op;
    insn->reg = (uint8_t)reg;
    write_reg(insn, reg);
    return true;
}

/* ---- constants in instructions (C4.1.92) */

static uint64_t relative_address(uint32_t word, uint64_t svma)
{
    const int64_t by =
        signed_bits(word, 5, 19) * 4 + (int64_t)bits(word, 29, 2);
    return bit(word, 31) ? (svma & ~(uint64_t)((1u << PAGE_BITS) - 1)) +
                               ((uint64_t)by << PAGE_BITS)
                         : svma + (uint64_t)by;
}

static bool is_relative(uint32_t word)
{
    return (word & 0x1f000000) == 0x10000000;
}

static void read_relative(uint32_t word, uint64_t svma, struct wndl_insn *insn)
{
    if (!set_reg(insn, WNDL_INSN_ADDRESS, no_sp(word & 31)))
        return;
    insn->mem.fixed = true;
    insn->mem.offset = (int64_t)relative_address(word, svma);
}

static int64_t sum_of(uint32_t word)
{
    const int64_t amount = (int64_t)bits(word, 10, 12)
                           << (bit(word, 22) ? 12 : 0);
    return bit(word, 30) ? -amount : amount;
}

static void read_sum(uint32_t word, struct wndl_insn *insn)
{
    const bool sets_flags = bit(word, 29);
    const unsigned to = word & 31, from = bits(word, 5, 5);
    const int64_t by = sum_of(word);
    if (sets_flags && to == SP) {
        insn->op = WNDL_INSN_COMPARE;
        insn->reg = (uint8_t)from;
        insn->width = bit(word, 31) ? 64 : 32;
        insn->value = -by;
        return;
    }
    if (!bit(word, 31)) {
        write_reg(insn, to);
        return;
    }
    (void)set_reg(insn, by == 0 ? WNDL_INSN_MOVE : WNDL_INSN_ADDRESS, to);
    insn->from = by == 0 ? (uint8_t)from : WNDL_INSN_NO_REG;
    insn->mem.base = (uint8_t)from;
    insn->mem.offset = by;
}

/* "and" with a mask of 64 bits that clears some at the end, but not the sign */
static bool clears_end(uint32_t word)
{
    const unsigned ones = bits(word, 10, 6) + 1, turn = bits(word, 16, 6);
    return bit(word, 31) && bits(word, 29, 2) == 0 && bit(word, 22) &&
           ones < 64 && turn == ones;
}

static void read_logical(uint32_t word, struct wndl_insn *insn)
{
    const unsigned to = word & 31;
    if (to == SP && bits(word, 29, 2) == 3)
        return;
    write_reg(insn, to);
    if (to != SP || !clears_end(word))
        return;
    insn->op = WNDL_INSN_ALIGN;
    insn->reg = SP;
    insn->value = -(INT64_C(1) << (64 - bits(word, 16, 6)));
}

/* Compilers build the size of a large frame in one of the scratch registers. */
static void read_wide(uint32_t word, struct wndl_insn *insn)
{
    enum { ZEROED = 2, INSERTED = 3, FIRST = 9, LAST = 17 };
    const unsigned to = word & 31, how = bits(word, 29, 2);
    const unsigned shift = 16 * bits(word, 21, 2);
    const uint64_t part = (uint64_t)bits(word, 5, 16) << shift;
    if (to == SP)
        return;
    write_reg(insn, to);
    if (how == ZEROED && part == 0)
        insn->zeroes = (uint8_t)to;
    if (to < FIRST || to > LAST || (how != ZEROED && how != INSERTED))
        return;
    insn->op = how == ZEROED ? WNDL_INSN_NUMBER : WNDL_INSN_INSERT;
    insn->reg = (uint8_t)to;
    insn->value = (int64_t)part;
    insn->width = (uint8_t)shift;
}

static void read_constant(uint32_t word, uint64_t svma, struct wndl_insn *insn)
{
    if (is_relative(word))
        read_relative(word, svma, insn);
    else if ((word & 0x1f800000) == 0x11000000)
        read_sum(word, insn);
    else if ((word & 0x1f800000) == 0x12000000)
        read_logical(word, insn);
    else if ((word & 0x1f800000) == 0x12800000)
        read_wide(word, insn);
    else
        write_reg(insn, no_sp(word & 31));
}

/* ---- registers (C4.1.95) */

/* mov */
static void read_copy(uint32_t word, struct wndl_insn *insn)
{
    const unsigned to = no_sp(word & 31), from = no_sp(bits(word, 16, 5));
    const bool is_whole = bit(word, 31);
    write_reg(insn, to);
    if (to == WNDL_INSN_NO_REG)
        return;
    if (from == WNDL_INSN_NO_REG) {
        insn->zeroes = (uint8_t)to;
        return;
    }
    insn->op = is_whole ? WNDL_INSN_MOVE : WNDL_INSN_OTHER;
    insn->reg = (uint8_t)to;
    insn->from = (uint8_t)from;
    insn->width = is_whole ? 64 : 32;
}

/* add, sub, cmp: of registers that are shifted, or else extended */
static void read_sums(uint32_t word, struct wndl_insn *insn)
{
    enum { NO_EXTENSION = 3, MOST_SHIFT = 6 };
    const bool extends = bit(word, 21), sets_flags = bit(word, 29);
    const unsigned to = word & 31, by = no_sp(bits(word, 16, 5));
    const unsigned shift = extends ? bits(word, 10, 3) : bits(word, 10, 6);
    const unsigned from = extends ? bits(word, 5, 5) : no_sp(bits(word, 5, 5));
    const unsigned extend = extends ? bits(word, 13, 3) : NO_EXTENSION;
    const bool is_plain = bit(word, 31) && from != WNDL_INSN_NO_REG &&
                          by != WNDL_INSN_NO_REG && shift <= MOST_SHIFT &&
                          (extends || bits(word, 22, 2) == 0);
    if (sets_flags && to == SP) {
        if (!is_plain || shift != 0 || !bit(word, 30))
            return;
        insn->op = WNDL_INSN_COMPARE_REG;
        insn->reg = (uint8_t)from;
        insn->from = (uint8_t)by;
        return;
    }
    write_reg(insn, extends ? to : no_sp(to));
    if (!is_plain || (!extends && to == SP))
        return;
    (void)set_reg(insn, WNDL_INSN_ADDRESS, to);
    insn->mem.base = (uint8_t)from;
    insn->mem.index = (uint8_t)by;
    insn->mem.scale = (uint8_t)(1u << shift);
    insn->mem.extend = (uint8_t)extend;
    insn->mem.subtracts = bit(word, 30);
}

static void read_registers(uint32_t word, struct wndl_insn *insn)
{
    if ((word & 0x7fe0ffe0) == 0x2a0003e0)
        read_copy(word, insn);
    else if ((word & 0x1f000000) == 0x0b000000)
        read_sums(word, insn);
    else if ((word & 0x1fe00000) != 0x1a400000) /* not ccmp */
        write_reg(insn, no_sp(word & 31));
}

/* ---- loads and stores (C4.1.94) */

/* An access to one or two registers by an address. */
struct access {
    bool is_load, is_vector;
    bool is_pair;
    bool is_signed;
    bool has_result; /* not a prefetch */
    unsigned size;   /* bytes of a register */
};

static void put_access(
    uint32_t word, const struct access *a, struct wndl_insn *insn)
{
    const uint8_t first = no_sp(word & 31);
    const uint8_t second =
        a->is_pair ? no_sp(bits(word, 10, 5)) : WNDL_INSN_NO_REG;
    if (!a->is_load)
        insn->stores = (uint16_t)(a->size << (a->is_pair ? 1 : 0));
    if (a->is_vector || !a->has_result)
        return;
    if (a->is_load) {
        insn->reg = first;
        write_reg(insn, first);
        write_reg(insn, second);
    } else {
        insn->from = first;
    }
    insn->width = (uint8_t)(8 * a->size);
    if (a->size == WORD) {
        insn->op = a->is_load ? WNDL_INSN_LOAD : WNDL_INSN_STORE;
        insn->second = second;
        insn->is_pair = a->is_pair;
    } else if (a->is_load && !a->is_pair && first != WNDL_INSN_NO_REG) {
        insn->op = a->is_signed ? WNDL_INSN_LOAD_SIGNED : WNDL_INSN_LOAD_PART;
    }
}

/* Where the access is, and what it adds to the base. */
static void put_place(uint32_t word, int64_t by, bool is_after, bool moves,
    struct wndl_insn *insn)
{
    insn->mem.base = (uint8_t)bits(word, 5, 5);
    insn->mem.offset = is_after ? 0 : by;
    insn->moves = moves ? (int32_t)by : 0;
}

static void read_pair(uint32_t word, struct wndl_insn *insn)
{
    enum { AFTER = 1, BEFORE = 3 };
    const unsigned how = bits(word, 23, 2), kind = bits(word, 30, 2);
    struct access a = {.is_load = bit(word, 22),
        .is_vector = bit(word, 26),
        .is_pair = true,
        .has_result = true};
    a.size = a.is_vector ? 4u << kind : kind == 2 ? WORD : 4;
    /* (stgp stores 16 bytes, by which it also counts.) */
    const unsigned unit = !a.is_vector && kind == 1 && !a.is_load ? 16 : a.size;
    put_access(word, &a, insn);
    put_place(word, signed_bits(word, 15, 7) * (int64_t)unit, how == AFTER,
        how == AFTER || how == BEFORE, insn);
}

static struct access single_of(uint32_t word)
{
    enum { PREFETCHES = 2 };
    const unsigned size = bits(word, 30, 2), how = bits(word, 22, 2);
    struct access a = {.is_vector = bit(word, 26), .has_result = true};
    a.is_load = a.is_vector ? (how & 1) != 0 : how != 0;
    a.is_signed = how >= 2;
    a.size = 1u << (a.is_vector ? (size | (how & 2) << 1) : size);
    if (!a.is_vector && size == 3 && how == PREFETCHES)
        a.has_result = false;
    return a;
}

static void read_single(uint32_t word, struct wndl_insn *insn)
{
    enum { AFTER = 1, BEFORE = 3 };
    const struct access a = single_of(word);
    const unsigned how = bits(word, 10, 2);
    put_access(word, &a, insn);
    if (bit(word, 24))
        put_place(word, (int64_t)bits(word, 10, 12) * (int64_t)a.size, false,
            false, insn);
    else
        put_place(word, signed_bits(word, 12, 9), how == AFTER,
            how == AFTER || how == BEFORE, insn);
}

static void read_indexed(uint32_t word, struct wndl_insn *insn)
{
    const struct access a = single_of(word);
    put_access(word, &a, insn);
    put_place(word, 0, false, false, insn);
    insn->mem.index = no_sp(bits(word, 16, 5));
    insn->mem.scale = (uint8_t)(bit(word, 12) ? a.size : 1);
    insn->mem.extend = (uint8_t)bits(word, 13, 3);
}

/* Exclusive ones, those of one copy, and atomic ones. */
static void read_atomic(uint32_t word, struct wndl_insn *insn)
{
    enum { MOST = 16 };
    write_reg(insn, no_sp(word & 31));
    write_reg(insn, no_sp(bits(word, 10, 5)));
    write_reg(insn, no_sp(bits(word, 16, 5)));
    insn->stores = MOST;
    put_place(word, 0, false, false, insn);
}

/* Bytes of the structures that ld1 to ld4 load. */
static unsigned structures_size(uint32_t word)
{
    static const uint8_t regs[16] = {
        [0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
    const unsigned whole = bit(word, 30) ? 16 : 8;
    if (!bit(word, 24))
        return regs[bits(word, 12, 4)] * whole;
    const unsigned kind = bits(word, 14, 2), size = bits(word, 10, 2);
    const unsigned count = (bit(word, 13) ? 2 : 0) + (bit(word, 21) ? 2u : 1u);
    const unsigned each = kind == 0   ? 1
                          : kind == 1 ? 2
                          : kind == 2 ? ((size & 1) != 0 ? 8 : 4)
                                      : 1u << size;
    return count * each;
}

static void read_structures(uint32_t word, struct wndl_insn *insn)
{
    const unsigned size = structures_size(word);
    const bool moves = bit(word, 23), is_constant = bits(word, 16, 5) == 31;
    if (!bit(word, 22))
        insn->stores = (uint16_t)size;
    put_place(word, size, true, moves && is_constant, insn);
    if (moves && !is_constant)
        write_reg(insn, bits(word, 5, 5));
}

/* ldraa, ldrab; and those of memory tags */
static void read_rare(uint32_t word, struct wndl_insn *insn)
{
    write_reg(insn, no_sp(word & 31));
    if (bit(word, 11) || bit(word, 10))
        write_reg(insn, bits(word, 5, 5));
}

static void read_memory(uint32_t word, struct wndl_insn *insn)
{
    if ((word & 0xbe000000) == 0x0c000000)
        read_structures(word, insn);
    else if ((word & 0x3a000000) == 0x28000000)
        read_pair(word, insn);
    else if ((word & 0x3b000000) == 0x39000000 ||
             (word & 0x3b200000) == 0x38000000)
        read_single(word, insn);
    else if ((word & 0x3b200c00) == 0x38200800)
        read_indexed(word, insn);
    else if ((word & 0x3f000000) == 0x08000000 ||
             (word & 0x3b200c00) == 0x38200000)
        read_atomic(word, insn);
    else if ((word & 0x3b000000) != 0x18000000)
        read_rare(word, insn);
    else if (!bit(word, 26) && bits(word, 30, 2) != 3) /* of a near address */
        write_reg(insn, no_sp(word & 31));
}

/* ---- vectors: those that write general registers (C4.1.96, C4.1.35) */

static bool writes_general(uint32_t word)
{
    const unsigned how = bits(word, 16, 3);
    if ((word & 0x5f20fc00) == 0x1e200000)
        return how <= 1 || (how >= 4 && how <= 6);
    if ((word & 0x5f200000) == 0x1e000000)
        return how <= 1;
    if ((word & 0xbfe0fc00) == 0x0e003c00 || (word & 0xbfe0fc00) == 0x0e002c00)
        return true;
    /* Of SVE: those that count, and the last element. */
    return (word & 0xff20c000) == 0x0420c000 ||
           (word & 0xff20c000) == 0x25208000 ||
           (word & 0xff3ee000) == 0x0520a000;
}

static void read_vector(uint32_t word, struct wndl_insn *insn)
{
    /* addvl, addpl: of SP, too */
    if ((word & 0xffa0f000) == 0x04205000)
        write_reg(insn, word & 31);
    else if (writes_general(word))
        write_reg(insn, no_sp(word & 31));
}

/* ---- branches, hints, system (C4.1.93) */

/* The operation of an instruction with a target; else OTHER. */
static enum wndl_insn_op way_of(uint32_t word, uint64_t svma, uint64_t *target)
{
    if ((word & 0x7c000000) == 0x14000000) {
        *target = svma + (uint64_t)(signed_bits(word, 0, 26) * SIZE);
        return bit(word, 31) ? WNDL_INSN_CALL : WNDL_INSN_JUMP;
    }
    if ((word & 0xff000000) == 0x54000000 ||
        (word & 0x7e000000) == 0x34000000) {
        *target = svma + (uint64_t)(signed_bits(word, 5, 19) * SIZE);
        return WNDL_INSN_BRANCH;
    }
    if ((word & 0x7e000000) == 0x36000000) {
        *target = svma + (uint64_t)(signed_bits(word, 5, 14) * SIZE);
        return WNDL_INSN_BRANCH;
    }
    return WNDL_INSN_OTHER;
}

static void read_way(
    uint32_t word, enum wndl_insn_op op, struct wndl_insn *insn)
{
    enum { NOT_EQUAL = 1, HIGHER_OR_SAME = 2, HIGHER = 8 };
    insn->op = (uint8_t)op;
    if ((word & 0xff000000) != 0x54000000)
        return;
    const unsigned condition = word & 15;
    insn->unequal = condition == NOT_EQUAL;
    insn->above_same = condition == HIGHER_OR_SAME;
    insn->above = condition == HIGHER;
}

/* br, blr, ret, and those that check the address first */
static bool read_far(uint32_t word, struct wndl_insn *insn)
{
    static const uint8_t ops[] = {
        WNDL_INSN_JUMP_OTHER, WNDL_INSN_CALL_OTHER, WNDL_INSN_RETURN};
    const unsigned kind = bits(word, 21, 3), reg = bits(word, 5, 5);
    const bool checks = bits(word, 10, 6) != 0;
    if (bits(word, 16, 5) != 31)
        return false;
    if (kind >= sizeof ops) {
        insn->op = WNDL_INSN_STOP; /* eret, drps */
        return true;
    }
    insn->op = ops[kind];
    insn->from =
        insn->op == WNDL_INSN_RETURN && checks ? WNDL_INSN_X30 : no_sp(reg);
    return true;
}

static void read_hint(uint32_t word, struct wndl_insn *insn)
{
    enum { STRIP = 7, FIRST = 24, LAST = 31, CHECKS = 4 };
    const unsigned hint = bits(word, 5, 7);
    insn->op = WNDL_INSN_NOP;
    if (hint == STRIP)
        insn->sign = WNDL_INSN_UNSIGNS;
    else if (hint >= FIRST && hint <= LAST)
        insn->sign = (hint & CHECKS) != 0 ? WNDL_INSN_UNSIGNS : WNDL_INSN_SIGNS;
}

static bool read_system(uint32_t word, struct wndl_insn *insn)
{
    if ((word & 0xfe000000) == 0xd6000000)
        return read_far(word, insn);
    if ((word & 0xff000000) == 0xd4000000) {
        insn->is_syscall = (word & 0xffe0001f) == 0xd4000001;
        if ((word & 0xffe0001f) == 0xd4200000 ||
            (word & 0xffe0001f) == 0xd4400000)
            insn->op = WNDL_INSN_STOP;
        return true;
    }
    if ((word & 0xfffff01f) == 0xd503201f)
        read_hint(word, insn);
    else if ((word & 0xfff00000) == 0xd5300000) /* mrs */
        write_reg(insn, no_sp(word & 31));
    return (word & 0xff000000) == 0xd5000000;
}

/* ---- public */

static bool read_word(struct wndl_bytes code, uint64_t svma, uint32_t *word)
{
    if (code.size < SIZE || svma % SIZE != 0)
        return false;
    *word = wndl_load_u32(code.data);
    return true;
}

static bool is_padding(uint32_t word)
{
    return word == NOP || word == 0;
}

/* By bits 25 to 28 (C4.1). False if it is no instruction. */
static bool read_any(uint32_t word, uint64_t svma, struct wndl_insn *insn)
{
    switch (bits(word, 25, 4)) {
    case 0x8:
    case 0x9:
        read_constant(word, svma, insn);
        return true;
    case 0xa:
    case 0xb:
        return read_system(word, insn);
    case 0x4:
    case 0x6:
    case 0xc:
    case 0xe:
        read_memory(word, insn);
        return true;
    case 0x5:
    case 0xd:
        read_registers(word, insn);
        return true;
    case 0x2:
    case 0x7:
    case 0xf:
        read_vector(word, insn);
        return true;
    case 0x0:
        insn->op = WNDL_INSN_STOP; /* udf */
        return word >> 16 == 0;
    default:
        return false;
    }
}

bool wndl_insn_a64_decode(
    struct wndl_bytes code, uint64_t svma, struct wndl_insn *insn)
{
    uint32_t word;
    if (!read_word(code, svma, &word))
        return false;
    *insn = (struct wndl_insn){.size = SIZE,
        .reg = WNDL_INSN_NO_REG,
        .from = WNDL_INSN_NO_REG,
        .second = WNDL_INSN_NO_REG,
        .zeroes = WNDL_INSN_NO_REG,
        .is_padding = is_padding(word),
        .mem = {.base = WNDL_INSN_NO_REG, .index = WNDL_INSN_NO_REG}};
    const enum wndl_insn_op op = way_of(word, svma, &insn->target);
    if (op == WNDL_INSN_OTHER)
        return read_any(word, svma, insn);
    read_way(word, op, insn);
    return true;
}

bool wndl_insn_a64_glance(
    struct wndl_bytes code, uint64_t svma, struct wndl_insn_glance *glance)
{
    uint32_t word;
    if (!read_word(code, svma, &word))
        return false;
    *glance =
        (struct wndl_insn_glance){.size = SIZE, .is_padding = is_padding(word)};
    glance->op = (uint8_t)way_of(word, svma, &glance->target);
    if (is_relative(word) && !bit(word, 31)) {
        glance->op = WNDL_INSN_ADDRESS;
        glance->target = relative_address(word, svma);
    }
    return true;
}

static void forget_pages(struct wndl_insn_pages *p, const struct wndl_insn *i)
{
    enum { CALLEES_KEEP = 0x7ff << 19 };
    p->known &= ~i->writes;
    if (i->op == WNDL_INSN_CALL || i->op == WNDL_INSN_CALL_OTHER)
        p->known &= CALLEES_KEEP;
}

bool wndl_insn_a64_sum(struct wndl_insn_pages *pages, struct wndl_bytes code,
    uint64_t svma, uint64_t *address)
{
    struct wndl_insn insn;
    if (!wndl_insn_a64_decode(code, svma, &insn))
        return false;
    const uint8_t base = insn.mem.base;
    const bool is_sum = insn.op == WNDL_INSN_ADDRESS && !insn.mem.fixed &&
                        insn.mem.index == WNDL_INSN_NO_REG &&
                        (pages->known >> base & 1) != 0;
    if (is_sum)
        *address = pages->of[base] + (uint64_t)insn.mem.offset;
    forget_pages(pages, &insn);
    if (insn.op == WNDL_INSN_ADDRESS && insn.mem.fixed) {
        pages->of[insn.reg] = (uint64_t)insn.mem.offset;
        pages->known |= UINT32_C(1) << insn.reg;
    }
    return is_sum;
}

unsigned wndl_insn_a64_padding(struct wndl_bytes code)
{
    return code.size >= SIZE && is_padding(wndl_load_u32(code.data)) ? SIZE : 0;
}
