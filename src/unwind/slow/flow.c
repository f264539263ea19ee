/* SPDX-License-Identifier: MIT */
#include "unwind/slow/flow.h"

#include "unwind/space/call.h"

enum {
    LONGEST = 11, /* bytes of the longest known instruction */
    AT_MOST = 48, /* instructions */
    SP = 4,       /* registers, as instructions encode them */
    FP = 5,
};

/* The place in the code, and SP and RBP there. */
struct flow {
    const struct wndl_space *space;
    uint64_t pc, sp, fp;
    uint64_t first_sp; /* words popped below it were pushed on the way */
    bool pops_fp;
    bool returns; /* the next step is the return */
};

/* The bytes of a ModRM byte and its operands. */
static size_t size_of_operands(const uint8_t *code)
{
    unsigned mod = code[0] >> 6, rm = code[0] & 7;
    size_t size = rm == 4 && mod != 3 ? 2 : 1;
    if (mod == 1)
        return size + 1;
    if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (code[1] & 7) == 5))))
        return size + 4;
    return size;
}

static bool is_sp(const uint8_t *operands)
{
    return operands[0] >> 6 == 3 && (operands[0] & 7) == SP;
}

/*
 * The bytes after the operands of an instruction that does not change SP, or
 * -1.
 */
static int constant_of(uint8_t opcode, const uint8_t *operands)
{
    switch (opcode) {
    case 0x38: /* cmp */
    case 0x39:
    case 0x3b:
    case 0x84: /* test */
    case 0x85:
        return 0;
    case 0x01: /* add */
    case 0x29: /* sub */
    case 0x31: /* xor */
    case 0x89: /* mov */
    case 0xd1: /* shift by 1 */
        return is_sp(operands) ? -1 : 0;
    case 0x8b: /* mov */
    case 0x8d: /* lea */
        return (operands[0] >> 3 & 7) == SP ? -1 : 0;
    case 0x80: /* cmp and others, of a byte */
    case 0xc1: /* shift */
    case 0xc6: /* mov */
        return is_sp(operands) ? -1 : 1;
    default:
        return -1;
    }
}

static int32_t distance_of(const uint8_t *bytes)
{
    int32_t value;
    __builtin_memcpy(&value, bytes, sizeof value);
    return value;
}

static bool go_on(struct flow *f, size_t size)
{
    f->pc += size;
    return true;
}

static bool jump(struct flow *f, size_t size, int32_t distance)
{
    f->pc += size + (uint64_t)(int64_t)distance;
    return true;
}

static bool pop(struct flow *f, size_t size, unsigned reg)
{
    if (reg == SP)
        return false;
    if (reg == FP && f->sp >= f->first_sp) {
        f->pops_fp = true;
        if (!wndl_space_word(f->space, f->sp, &f->fp))
            return false;
    }
    f->sp += 8;
    return go_on(f, size);
}

/* add and sub of a small constant. */
static bool move_sp(struct flow *f, const uint8_t *operands)
{
    int8_t by = (int8_t)operands[1];
    if (operands[0] == 0xc4)
        f->sp += (uint64_t)(int64_t)by;
    else if (operands[0] == 0xec)
        f->sp -= (uint64_t)(int64_t)by;
    else if (is_sp(operands))
        return false;
    return true;
}

/* Instructions of two bytes: endbr64, long nops, jumps. */
static bool follow_two(struct flow *f, const uint8_t *code, size_t prefix)
{
    if (code[0] == 0x1f || code[0] == 0x1e)
        return go_on(f, prefix + 2 + size_of_operands(code + 1));
    if ((code[0] & 0xf0) == 0x80)
        return go_on(f, prefix + 2 + 4);
    return false;
}

/* Calls return. A jump elsewhere ends in the same way as a return here. */
static bool follow_indirect(
    struct flow *f, const uint8_t *operands, size_t prefix)
{
    unsigned what = operands[0] >> 3 & 7;
    f->returns = what == 4;
    return (what == 2 || what == 4) &&
           go_on(f, prefix + 1 + size_of_operands(operands));
}

static bool follow_operands(struct flow *f, const uint8_t *code, size_t prefix)
{
    const uint8_t *operands = code + 1;
    size_t size = prefix + 1 + size_of_operands(operands);
    if (code[0] == 0x83)
        return move_sp(f, operands) && go_on(f, size + 1);
    int constant = constant_of(code[0], operands);
    return constant >= 0 && go_on(f, size + (size_t)constant);
}

static bool follow(struct flow *f, const uint8_t *code, size_t prefix)
{
    uint8_t opcode = code[0];
    bool extended = prefix != 0 && (code[-1] & 0xf1) == 0x41;
    if (opcode == 0xc3) {
        f->returns = true;
        return true;
    }
    if (opcode == 0x90)
        return go_on(f, prefix + 1);
    if ((opcode & 0xf8) == 0x58)
        return pop(f, prefix + 1, extended ? 8 : opcode & 7);
    if ((opcode & 0xf8) == 0x50) {
        f->sp -= 8;
        return go_on(f, prefix + 1);
    }
    if ((opcode & 0xf0) == 0x70)
        return go_on(f, prefix + 2);
    if (opcode == 0xeb)
        return jump(f, prefix + 2, (int8_t)code[1]);
    if (opcode == 0xe8)
        return go_on(f, prefix + 5);
    if (opcode == 0xe9)
        return jump(f, prefix + 5, distance_of(code + 1));
    if (opcode == 0x0f)
        return follow_two(f, code + 1, prefix);
    if (opcode == 0xff)
        return follow_indirect(f, code + 1, prefix);
    return follow_operands(f, code, prefix);
}

static bool step(struct flow *f)
{
    uint8_t code[2 + LONGEST + 4];
    size_t prefix = 0;
    if (!wndl_code_read(f->space, f->pc, code, sizeof code))
        return false;
    while (prefix < 2 && (code[prefix] == 0xf3 || code[prefix] == 0xf2 ||
                             code[prefix] == 0x66 || code[prefix] == 0x2e ||
                             (code[prefix] & 0xf0) == 0x40))
        prefix++;
    return follow(f, code + prefix, prefix);
}

bool wndl_flow_return(
    const struct wndl_space *space, struct wndl_fp_state *state, bool *pops_fp)
{
    struct flow f = {
        .space = space,
        .pc = state->pc,
        .sp = state->sp,
        .fp = state->fp,
        .first_sp = state->sp,
    };
    struct wndl_call call;
    uint64_t ra;
    for (int i = 0; i < AT_MOST && !f.returns; i++)
        if (!step(&f))
            return false;
    if (!f.returns || f.sp < state->sp || !wndl_space_word(space, f.sp, &ra) ||
        !wndl_call_before(space, ra, &call))
        return false;
    *state = (struct wndl_fp_state){.pc = ra, .sp = f.sp + 8, .fp = f.fp};
    *pops_fp = f.pops_fp;
    return true;
}
