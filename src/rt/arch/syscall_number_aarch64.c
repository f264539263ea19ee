/* SPDX-License-Identifier: MIT */
/*
 * syscall_number_aarch64: the code before the system calls of a libc consists
 * of moves between registers, constants, sums of a register and a constant, and
 * loads. The last one that sets X0 counts, if its source is unchanged since.
 */
#include "rt/arch/syscall_number.h"

#include <string.h>

enum { SIZE = 4, SP = 31, ZERO = 31, NONE = -1 };

/* The effect of an instruction. */
struct step {
    bool is_known;
    int writes, too; /* registers, or NONE */
    bool is_first;   /* the new value of `writes` is known: `from` + `value` */
    int from;        /* register, or NONE; as SP, if `of_sp` */
    bool of_sp, of_32_bits;
    uint64_t value;
};

static bool is(uint32_t code, uint32_t mask, uint32_t wanted)
{
    return (code & mask) == wanted;
}

static struct step writes(uint32_t code)
{
    return (struct step){
        .is_known = true, .writes = (int)(code & 31), .too = NONE};
}

static struct step known(uint32_t code, int from, uint64_t value)
{
    struct step step = writes(code);
    step.is_first = true;
    step.from = from;
    step.value = value;
    return step;
}

/* movz, movn: 16 bits, shifted by a multiple of 16. */
static struct step constant(uint32_t code)
{
    uint64_t value = (uint64_t)(code >> 5 & 0xffff) << (code >> 21 & 3) * 16;
    if (is(code, 0x40000000, 0))
        value = ~value;
    if (is(code, 0x80000000, 0))
        value = (uint32_t)value;
    return known(code, NONE, value);
}

/* add, sub, with 12 bits. */
static struct step sum(uint32_t code)
{
    uint64_t value = code >> 10 & 0xfff;
    if (is(code, 0x00400000, 0x00400000))
        value <<= 12;
    if (is(code, 0x40000000, 0x40000000))
        value = -value;
    struct step step = known(code, (int)(code >> 5 & 31), value);
    step.of_sp = step.from == SP;
    step.is_first = step.writes != SP;
    return step;
}

/*
 * Loads and stores of one register or two that do not change the address
 * register.
 */
static struct step memory(uint32_t code)
{
    struct step step = {.is_known = true, .writes = NONE, .too = NONE};
    if (is(code, 0x3f000000, 0x39000000)) { /* ldr, str; unsigned offset */
        if (!is(code, 0x00c00000, 0))
            step.writes = (int)(code & 31);
    } else if (is(code, 0x3f800000, 0x29000000)) { /* ldp, stp; signed offset */
        if (is(code, 0x00400000, 0x00400000)) {
            step.writes = (int)(code & 31);
            step.too = (int)(code >> 10 & 31);
        }
    } else {
        step.is_known = false;
    }
    return step;
}

static struct step step_of(uint32_t code)
{
    if (is(code, 0x7fe0ffe0, 0x2a0003e0)) { /* mov */
        int from = (int)(code >> 16 & 31);
        struct step step = known(code, from == ZERO ? NONE : from, 0);
        step.of_32_bits = is(code, 0x80000000, 0);
        return step;
    }
    if (is(code, 0xfffffc00, 0x93407c00)) { /* sxtw: as the kernel reads it */
        struct step step = known(code, (int)(code >> 5 & 31), 0);
        step.of_32_bits = true;
        return step;
    }
    if (is(code, 0x1f800000, 0x12800000) && !is(code, 0x60000000, 0x60000000))
        return constant(code);
    if (is(code, 0xbf800000, 0x91000000)) /* add, sub */
        return sum(code);
    if (is(code, 0x1f000000, 0x10000000) || /* adr, adrp */
        is(code, 0x1f000000, 0x0a000000) || /* and, orr, eor */
        is(code, 0x1f800000, 0x12000000) || /* those of a constant */
        is(code, 0x1f800000, 0x12800000) || /* movk */
        is(code, 0x1fe00000, 0x1a800000))   /* csel */
        return writes(code);
    if (code == 0xd503201f) /* nop */
        return (struct step){.is_known = true, .writes = NONE, .too = NONE};
    return memory(code);
}

static uint32_t load(const uint8_t *code)
{
    uint32_t word;
    memcpy(&word, code, sizeof word);
    return word;
}

/* Whether the code from `at` on does not change the register. */
static bool is_kept(const uint8_t *code, size_t at, size_t size, int kept)
{
    for (; at < size; at += SIZE) {
        struct step step = step_of(load(code + at));
        if (step.writes == kept || step.too == kept)
            return false;
    }
    return true;
}

static uint64_t value_of(const struct step *step, const ucontext_t *context)
{
    uint64_t value = 0;
#ifdef __aarch64__
    if (step->of_sp)
        value = context->uc_mcontext.sp;
    else if (step->from != NONE)
        value = context->uc_mcontext.regs[step->from];
#else
    (void)context;
#endif
    if (step->of_32_bits)
        value = (uint32_t)value;
    return value + step->value;
}

bool wndl_rt_first_argument(const uint8_t *code, size_t size,
    const ucontext_t *context, uint64_t *first)
{
    code += size % SIZE;
    size -= size % SIZE;
    for (size_t at = size; at >= SIZE; at -= SIZE) {
        struct step step = step_of(load(code + at - SIZE));
        if (!step.is_known)
            return false;
        if (step.writes != 0 && step.too != 0)
            continue;
        if (!step.is_first || step.writes != 0 ||
            (step.from != NONE && !step.of_sp &&
                (step.from == 0 || !is_kept(code, at, size, step.from))))
            return false;
        *first = value_of(&step, context);
        return true;
    }
    return false;
}
