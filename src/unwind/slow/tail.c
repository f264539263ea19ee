/* SPDX-License-Identifier: MIT */
#include "unwind/slow/tail.h"

#include "unwind/slow/x86_code.h"

enum {
    LONGEST = 1 << 14, /* bytes of a function that are decoded */
    AT_MOST = 2048,    /* instructions, of all functions together */
    FUNCTIONS = 8,     /* the first, and those that jumps lead to */
    WINDOW = 128,      /* bytes of code that are read at once */
};

struct search {
    const struct wndl_space *space;
    uint64_t pc;
    uint64_t functions[FUNCTIONS];
    unsigned count, left; /* functions; instructions */
    uint64_t window_at;
    size_t window_size;
    uint8_t window[WINDOW];
};

/* The effect of an instruction on the flow. */
enum flow { FLOW_ON, FLOW_BRANCH, FLOW_JUMP, FLOW_ANYWHERE, FLOW_END };

static enum flow flow_of_one(const struct wndl_x86 *x)
{
    enum { JMP = 4 };
    switch (x->opcode) {
    case 0xe0: /* loop, jcxz */
    case 0xe1:
    case 0xe2:
    case 0xe3:
        return FLOW_BRANCH;
    case 0xe9:
    case 0xeb:
        return FLOW_JUMP;
    case 0xff:
        return (x->reg & 7) == JMP ? FLOW_ANYWHERE : FLOW_ON;
    case 0xc2: /* ret */
    case 0xc3:
    case 0xcc: /* int3 */
    case 0xf4: /* hlt */
        return FLOW_END;
    default:
        return x->opcode >> 4 == 7 ? FLOW_BRANCH : FLOW_ON;
    }
}

static enum flow flow_of(const struct wndl_x86 *x)
{
    if (x->is_vector)
        return FLOW_ON;
    if (x->map == WNDL_X86_ONE)
        return flow_of_one(x);
    if (x->map != WNDL_X86_0F)
        return FLOW_ON;
    if (x->opcode == 0x0b) /* ud2 */
        return FLOW_END;
    return x->opcode >> 4 == 8 ? FLOW_BRANCH : FLOW_ON;
}

static bool has_cfi(const struct wndl_space *space, uint64_t address)
{
    struct wndl_code code;
    return wndl_code_find(space->remote, address, &code) != WNDL_CODE_NO_FDE;
}

/* Whether code without CFI at `to` may be of the function of `pc`. */
static bool leads_to(const struct search *s, uint64_t to)
{
    return to <= s->pc && s->pc - to < LONGEST && !has_cfi(s->space, to);
}

static void add_function(struct search *s, uint64_t start)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->functions[i] == start)
            return;
    }
    if (s->count < FUNCTIONS)
        s->functions[s->count++] = start;
}

static bool decode(struct search *s, uint64_t at, struct wndl_x86 *x)
{
    uint64_t offset = at - s->window_at;
    if (offset >= s->window_size ||
        s->window_size - offset < WNDL_X86_LONGEST) {
        offset = 0;
        s->window_at = at;
        for (s->window_size = WINDOW; s->window_size != 0;
             s->window_size /= 2) {
            if (wndl_code_read(s->space, at, s->window, s->window_size))
                break;
        }
    }
    const struct wndl_bytes code = {
        s->window + offset, s->window_size - (size_t)offset};
    return wndl_x86_decode(code, s->space->arch->word == 8, x);
}

/*
 * Takes a branch of the function at `start`. *end is the farthest that its
 * branches lead to. True if it may lead to pc.
 */
static bool take(struct search *s, uint64_t start, uint64_t to, uint64_t *end)
{
    if (leads_to(s, to))
        return true;
    if (to - start >= LONGEST)
        add_function(s, to);
    else if (to > *end)
        *end = to;
    return false;
}

/*
 * Decodes the code from `start` on, as far as its branches show that it goes.
 * True if a jump may lead to pc. A jump through a register or a slot may be a
 * call in the end of a function. In code with CFI it is mostly a switch.
 */
static bool leaves_for_pc(struct search *s, uint64_t start)
{
    struct wndl_x86 x;
    const bool is_covered = has_cfi(s->space, start);
    uint64_t end = start;
    for (uint64_t at = start; at - start < LONGEST && s->left > 0;) {
        s->left--;
        if (!decode(s, at, &x))
            return false;
        at += x.size;
        const enum flow flow = flow_of(&x);
        if (flow == FLOW_ANYWHERE && !is_covered)
            return true;
        if ((flow == FLOW_BRANCH || flow == FLOW_JUMP) &&
            take(s, start, at + (uint64_t)x.immediate, &end))
            return true;
        if (flow >= FLOW_JUMP && at > end)
            return false;
    }
    return false;
}

bool wndl_tail_may_reach(
    const struct wndl_space *space, uint64_t function, uint64_t pc)
{
    struct search s = {.space = space,
        .pc = pc,
        .functions = {function},
        .count = 1,
        .left = AT_MOST};
    if (function == 0 || has_cfi(space, pc))
        return false;
    for (unsigned i = 0; i < s.count; i++) {
        if (leaves_for_pc(&s, s.functions[i]))
            return true;
    }
    return false;
}
