/* SPDX-License-Identifier: MIT */
#include "unwind/space/call.h"

enum {
    CALL_BYTES = 7, /* the longest, without its prefixes */
    DIRECT_BYTES = 5,
};

/*
 * The size of an instruction ff /2 with `size` bytes available; 0 if it is
 * another, or longer.
 */
static size_t size_of_indirect(const uint8_t *code, size_t size)
{
    if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
        return 0;
    unsigned mod = code[1] >> 6, rm = code[1] & 7;
    if (mod == 3)
        return 2;
    size_t found = rm == 4 ? 3 : 2;
    if (found > size)
        return 0;
    if (mod == 1)
        return found + 1;
    bool is_wide = mod == 2 || rm == 5 || (rm == 4 && (code[2] & 7) == 5);
    return is_wide ? found + 4 : found;
}

static uint64_t distance_at(const uint8_t *bytes)
{
    int32_t value;
    __builtin_memcpy(&value, bytes, sizeof value);
    return (uint64_t)value;
}

static uint64_t narrow(const struct wndl_space *space, uint64_t address)
{
    return space->arch->word == 4 ? (uint32_t)address : address;
}

uint64_t wndl_call_operand(
    const struct wndl_space *space, const uint8_t *disp32, uint64_t next)
{
    uint64_t base = space->arch->word == 4 ? 0 : next;
    return narrow(space, base + distance_at(disp32));
}

bool wndl_call_before(
    const struct wndl_space *space, uint64_t ra, struct wndl_call *call)
{
    uint8_t before[CALL_BYTES];
    *call = (struct wndl_call){0};
    if (!wndl_code_is_possible(ra) ||
        !wndl_code_read(space, ra - CALL_BYTES, before, sizeof before))
        return false;
    const uint8_t *direct = before + CALL_BYTES - DIRECT_BYTES;
    if (direct[0] == 0xe8) {
        call->target = narrow(space, ra + distance_at(direct + 1));
        return true;
    }
    for (size_t size = 2; size <= CALL_BYTES; size++) {
        const uint8_t *b = before + CALL_BYTES - size;
        if (size_of_indirect(b, size) != size)
            continue;
        if (b[1] == 0x15) /* call *slot */
            call->slot = wndl_call_operand(space, b + 2, ra);
        return true;
    }
    return false;
}

/* The word in a slot of a module; 0: it cannot be read. */
static uint64_t slot_word(const struct wndl_space *space, uint64_t slot)
{
    uint64_t word = 0;
    return slot != 0 && wndl_code_read(space, slot, &word, space->arch->word)
               ? word
               : 0;
}

/* Where code that only jumps on leads to; else the code itself. 0: unknown. */
static uint64_t after_jump(const struct wndl_space *space, uint64_t target)
{
    enum { ENDBR = 4, JUMP = 6, ROOM = ENDBR + 1 + JUMP };
    uint8_t code[ROOM];
    size_t at = 0;
    if (!wndl_code_read(space, target, code, sizeof code))
        return target;
    if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e)
        at += ENDBR;
    at += code[at] == 0xf2; /* bnd */
    const uint64_t next = target + at;
    if (code[at] == 0xe9)
        return narrow(space, next + 5 + distance_at(code + at + 1));
    if (code[at] != 0xff || (code[at + 1] >> 3 & 7) != 4)
        return target;
    if (code[at + 1] != 0x25)
        return 0;
    return slot_word(space, wndl_call_operand(space, code + at + 2, next + 6));
}

uint64_t wndl_call_function(
    const struct wndl_space *space, const struct wndl_call *call)
{
    enum { JUMPS = 3 };
    uint64_t target =
        call->target != 0 ? call->target : slot_word(space, call->slot);
    for (int i = 0; i < JUMPS && target != 0; i++) {
        const uint64_t next = after_jump(space, target);
        if (next == target)
            break;
        target = next;
    }
    return target;
}

/* Functions without CFI are seldom longer. */
static bool is_near(uint64_t function, uint64_t pc)
{
    enum { LONGEST = 1 << 18 };
    return function <= pc && pc - function < LONGEST;
}

bool wndl_call_may_reach(
    const struct wndl_space *space, const struct wndl_call *call, uint64_t pc)
{
    struct wndl_code of_target, of_pc;
    const uint64_t target = wndl_call_function(space, call);
    if (target == 0)
        return true;
    const enum wndl_code_kind kind =
        wndl_code_find(space->remote, target, &of_target);
    if (kind == WNDL_CODE_NO_FDE)
        return is_near(target, pc);
    if (kind != WNDL_CODE_ROW)
        return true;
    if (wndl_code_find(space->remote, pc, &of_pc) != WNDL_CODE_ROW)
        return false;
    return of_target.start == of_pc.start &&
           (of_pc.start != 0 || is_near(target, pc));
}
