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
