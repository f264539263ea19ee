/* SPDX-License-Identifier: MIT */
#include "rt/arch/syscall_number.h"

#include "rt/arch/arch.h"

enum { ACCUMULATOR = 0, NO_REGISTER = -1, LONGEST = 15 };

/* The effect of an instruction that may precede a system call. */
struct step {
    size_t size;   /* 0: not one of them */
    int writes;    /* register, or NO_REGISTER */
    int from;      /* register that `writes` is a copy of, or NO_REGISTER */
    int64_t value; /* the value written; -1: not known */
};

/* A ModRM byte and the bytes after it. */
struct operands {
    int reg, rm; /* registers; rm is NO_REGISTER for memory */
    size_t size;
};

static struct operands operands_at(const uint8_t *code, unsigned rex)
{
    unsigned mod = code[0] >> 6;
    unsigned rm = code[0] & 7;
    struct operands o = {
        .reg = (int)((code[0] >> 3 & 7) | (rex & 4) << 1),
        .rm = mod == 3 ? (int)(rm | (rex & 1) << 3) : NO_REGISTER,
        .size = 1,
    };
    if (mod == 3)
        return o;
    if (rm == 4)
        o.size += 1 + (mod == 0 && (code[1] & 7) == 5 ? 4 : 0);
    else if (mod == 0 && rm == 5)
        o.size += 4;
    if (mod == 1)
        o.size += 1;
    else if (mod == 2)
        o.size += 4;
    return o;
}

/* Bytes of the constant that ends a two-operand instruction; -1: unknown. */
static int constant_of(uint8_t opcode)
{
    switch (opcode) {
    case 0x81: /* add, sub, and, cmp ... */
    case 0xc7: /* mov */
        return 4;
    case 0x80:
    case 0x83:
    case 0xc0: /* shifts */
    case 0xc1:
    case 0xc6:
        return 1;
    case 0x01: /* add */
    case 0x09: /* or */
    case 0x21: /* and */
    case 0x29: /* sub */
    case 0x31: /* xor */
    case 0x88: /* mov */
    case 0x89:
        return 0;
    default:
        return -1;
    }
}

/* For a two-operand instruction that writes its `reg`. */
static bool writes_reg(uint8_t opcode)
{
    return opcode == 0x8b || opcode == 0x8d || opcode == 0x33 ||
           opcode == 0x63 || opcode == 0x03 || opcode == 0x2b;
}

static bool only_compares(uint8_t opcode)
{
    return opcode == 0x84 || opcode == 0x85 || opcode == 0x39 || opcode == 0x3b;
}

static struct step unknown(void)
{
    return (struct step){0};
}

static struct step step_of_operands(
    uint8_t opcode, const uint8_t *code, unsigned rex)
{
    struct operands o = operands_at(code, rex);
    struct step step = {o.size, NO_REGISTER, NO_REGISTER, -1};
    if (only_compares(opcode))
        return step;
    int constant = writes_reg(opcode) ? 0 : constant_of(opcode);
    if (constant < 0)
        return unknown();
    step.size += (size_t)constant;
    step.writes = writes_reg(opcode) ? o.reg : o.rm;
    if (opcode == 0x89)
        step.from = o.reg;
    else if (opcode == 0x8b)
        step.from = o.rm;
    if ((opcode == 0x31 || opcode == 0x33) && o.reg == o.rm)
        step.value = 0;
    return step;
}

/* Instructions of two bytes: nop, cmov, setcc, movzx, movsx. */
static struct step step_of_two(const uint8_t *code, unsigned rex)
{
    struct operands o = operands_at(code + 1, rex);
    struct step step = {1 + o.size, NO_REGISTER, NO_REGISTER, -1};
    if (code[0] == 0x1f)
        return step;
    if ((code[0] & 0xf0) == 0x90)
        step.writes = o.rm;
    else if ((code[0] & 0xf0) == 0x40 || (code[0] & 0xf6) == 0xb6)
        step.writes = o.reg;
    else
        return unknown();
    return step;
}

static struct step step_of_constant(
    uint8_t opcode, const uint8_t *code, unsigned rex)
{
    uint32_t value = 0;
    memcpy(&value, code, sizeof value);
    return (struct step){
        .size = (rex & 8) != 0 ? 8 : 4,
        .writes = (int)((opcode & 7) | (rex & 1) << 3),
        .from = NO_REGISTER,
        .value = value,
    };
}

/* `code` has LONGEST bytes, some of which may be after the instruction. */
static struct step step_at(const uint8_t *code)
{
    unsigned rex = 0;
    size_t prefix = 0;
    if (WNDL_ARCH_HAS_REX && (code[0] & 0xf0) == 0x40)
        rex = code[prefix++];
    uint8_t opcode = code[prefix++];
    const uint8_t *rest = code + prefix;
    struct step step;
    if ((opcode & 0xf8) == 0xb8)
        step = step_of_constant(opcode, rest, rex);
    else if (opcode == 0x0f)
        step = step_of_two(rest, rex);
    else if (opcode == 0x90)
        return (struct step){prefix, NO_REGISTER, NO_REGISTER, -1};
    else
        step = step_of_operands(opcode, rest, rex);
    step.size += step.size == 0 ? 0 : prefix;
    return step;
}

/* Whether the code from `at` on leads to its end and changes neither. */
static bool leads_to_end(const uint8_t *code, size_t size, int kept)
{
    size_t at = 0;
    while (at < size) {
        uint8_t window[LONGEST] = {0};
        size_t left = size - at;
        memcpy(window, code + at, left < LONGEST ? left : LONGEST);
        struct step step = step_at(window);
        if (step.size == 0 || step.writes == ACCUMULATOR ||
            (kept != NO_REGISTER && step.writes == kept))
            return false;
        at += step.size;
    }
    return at == size;
}

static long number_by(const struct step *step, const ucontext_t *context)
{
    if (step->value >= 0)
        return (long)step->value;
    int reg = step->from == NO_REGISTER
                  ? -1
                  : wndl_arch_encoded((unsigned)step->from);
    return reg < 0 ? -1 : (long)(uint32_t)wndl_arch_get(context, reg);
}

/*
 * The last instruction that sets the register counts, unless what is read as an
 * instruction is the rest of one with a prefix.
 */
long wndl_rt_number(const uint8_t *code, size_t size, const ucontext_t *context)
{
    for (size_t at = size; at-- > 0;) {
        if (WNDL_ARCH_HAS_REX && at > 0 && (code[at - 1] & 0xf0) == 0x40)
            continue;
        uint8_t window[LONGEST] = {0};
        memcpy(window, code + at, size - at < LONGEST ? size - at : LONGEST);
        struct step step = step_at(window);
        if (step.size == 0 || step.size > size - at ||
            step.writes != ACCUMULATOR ||
            !leads_to_end(
                code + at + step.size, size - at - step.size, step.from))
            continue;
        return number_by(&step, context);
    }
    return -1;
}
