/* SPDX-License-Identifier: MIT */
/*
 * syscall_number_arm: the code before the system calls of a libc, as ARM or
 * Thumb code, consists of moves between registers and constants, mixed with
 * instructions that do not change r0. It is read forward, because Thumb code
 * cannot be read backwards. If the start is in the middle of an instruction,
 * the reading is right again a few instructions later.
 */
#include "rt/arch/syscall_number.h"

#include <string.h>

enum { ALL = 0xffff, IS_SP = 13, IS_PC = 15, IN_STEP = 6 };

/*
 * The effect of an instruction. `writes`: a mask of registers; ALL: not known.
 */
struct step {
    uint16_t writes;
    bool is_known; /* the new value is `value`, or register `from` */
    bool is_a_move;
    uint8_t from, size;
    uint32_t value;
};

static struct step writes(unsigned mask)
{
    return (struct step){.writes = (uint16_t)mask, .size = 4};
}

static struct step moves(unsigned to, unsigned from)
{
    struct step step = writes(1u << to);
    step.is_known = step.is_a_move = from != IS_SP && from != IS_PC;
    step.from = (uint8_t)from;
    return step;
}

static struct step sets(unsigned to, uint32_t value)
{
    struct step step = writes(1u << to);
    step.is_known = true;
    step.value = value;
    return step;
}

static bool is(uint32_t code, uint32_t mask, uint32_t wanted)
{
    return (code & mask) == wanted;
}

/* ---- ARM code */

static struct step step_of_arm(uint32_t code)
{
    const unsigned rd = code >> 12 & 15, count = code >> 7 & 30;
    const uint32_t byte = code & 0xff;
    const uint32_t value =
        count == 0 ? byte : byte >> count | byte << (32 - count);
    if (code >> 28 != 0xe)
        return writes(ALL);
    if (is(code, 0x0fef0ff0, 0x01a00000))
        return moves(rd, code & 15);
    if (is(code, 0x0fef0000, 0x03a00000))
        return sets(rd, value);
    if (is(code, 0x0fef0000, 0x03e00000))
        return sets(rd, ~value);
    if (is(code, 0x0ff00000, 0x03000000))
        return sets(rd, (code >> 4 & 0xf000) | (code & 0xfff));
    if (is(code, 0x0d900000, 0x01100000) && !is(code, 0x90, 0x90))
        return writes(0); /* tst to cmn */
    if (is(code, 0x0c000000, 0) && !is(code, 0x02000090, 0x90) && rd != IS_PC)
        return writes(1u << rd);
    if (is(code, 0x0d200000, 0x05000000) && !is(code, 0x02000010, 0x02000010))
        return writes(is(code, 0x00100000, 0) ? 0 : 1u << rd);
    return writes(ALL);
}

/* ---- Thumb code */

/* A 16-bit instruction. */
static struct step step_of_half(uint32_t h)
{
    const unsigned low = h & 7, mid = h >> 8 & 7;
    const bool loads = is(h, 0x800, 0x800);
    if (is(h, 0xffc0, 0)) /* lsls by 0: movs */
        return moves(low, h >> 3 & 7);
    if (is(h, 0xe000, 0) || is(h, 0xfc00, 0x4000))
        return writes(1u << low);
    if (is(h, 0xf800, 0x2000))
        return sets(mid, h & 0xff);
    if (is(h, 0xf800, 0x2800))
        return writes(0);
    if (is(h, 0xe000, 0x2000))
        return writes(1u << mid);
    if (is(h, 0xff00, 0x4600))
        return moves(low | (h >> 4 & 8), h >> 3 & 15);
    if (is(h, 0xff00, 0x4500) || h == 0xbf00)
        return writes(0);
    if (is(h, 0xf800, 0x4800) || is(h, 0xf000, 0xa000))
        return writes(1u << mid);
    if (is(h, 0xf000, 0x5000))
        return writes((h >> 9 & 7) < 3 ? 0 : 1u << low);
    if (is(h, 0xe000, 0x6000) || is(h, 0xf000, 0x8000))
        return writes(loads ? 1u << low : 0);
    if (is(h, 0xf000, 0x9000))
        return writes(loads ? 1u << mid : 0);
    if (is(h, 0xf500, 0xb100) || (is(h, 0xf000, 0xd000) && h < 0xde00))
        return writes(0); /* jumps whose condition was not met */
    return writes(ALL);
}

/* A 32-bit instruction; the first half is on top. */
static struct step step_of_word(uint32_t w)
{
    const unsigned rd = w >> 8 & 15, rt = w >> 12 & 15;
    if (is(w, 0xfffff0f0, 0xea4f0000))
        return moves(rd, w & 15);
    if (is(w, 0xfffff000, 0xf04f0000))
        return sets(rd, w & 0xff);
    if (is(w, 0xfffff000, 0xf06f0000))
        return sets(rd, ~(w & 0xff));
    if (is(w, 0xfbf08000, 0xf2400000))
        return sets(rd, (w >> 4 & 0xf000) | (w >> 15 & 0x800) |
                            (w >> 4 & 0x700) | (w & 0xff));
    if (is(w, 0xf8008000, 0xf0000000) || is(w, 0xfe000000, 0xea000000))
        return writes(rd == IS_PC ? 0 : 1u << rd);
    if (is(w, 0xfe500000, 0xe8400000) && is(w, 0x01000000, 0x01000000) &&
        is(w, 0x00200000, 0)) /* strd */
        return writes(0);
    if (is(w, 0xfe700000, 0xe8500000) && is(w, 0x01000000, 0x01000000))
        return writes(1u << rd | 1u << rt);
    if (is(w, 0xfe800000, 0xf8800000) && rt != IS_PC)
        return writes(is(w, 0x00100000, 0) ? 0 : 1u << rt);
    return writes(ALL);
}

static struct step step_of_thumb(const uint8_t *code, size_t left)
{
    uint16_t half[2] = {0};
    memcpy(half, code, left < sizeof half ? left : sizeof half);
    const bool is_wide = half[0] >= 0xe800;
    struct step step = is_wide ? step_of_word((uint32_t)half[0] << 16 | half[1])
                               : step_of_half(half[0]);
    step.size = is_wide ? 4 : 2;
    return step;
}

/* ---- the value of r0 */

static struct step next(const uint8_t *code, size_t left, bool thumb)
{
    uint32_t word = 0;
    if (thumb)
        return step_of_thumb(code, left);
    memcpy(&word, code, left < sizeof word ? left : sizeof word);
    return step_of_arm(word);
}

/* The last value put into r0, dropped when that changes. */
static void follow(struct step *first, const struct step *step)
{
    if ((step->writes & 1) != 0)
        *first = step->writes == 1 ? *step : (struct step){0};
    else if (first->is_a_move && (step->writes >> first->from & 1) != 0)
        first->is_known = false;
}

bool wndl_rt_first_argument(const uint8_t *code, size_t size,
    const ucontext_t *context, uint64_t *first)
{
    enum { WORD = 4, THUMB = 1 << 5 };
    struct step last = {0};
    bool thumb = true;
#ifdef __arm__
    thumb = (context->uc_mcontext.arm_cpsr & THUMB) != 0;
#else
    (void)context;
#endif
    const size_t skip = size % (thumb ? 2 : WORD);
    size_t at = skip, taken = 0;
    while (at < size) {
        const struct step step = next(code + at, size - at, thumb);
        follow(&last, &step);
        at += step.size;
        taken++;
    }
    if (at != size || !last.is_known || taken < IN_STEP)
        return false;
    *first = last.value;
#ifdef __arm__
    if (last.is_a_move)
        *first = (&context->uc_mcontext.arm_r0)[last.from];
#endif
    return true;
}
