/* SPDX-License-Identifier: MIT */
#include "unwind/slow/leaf.h"

#include "unwind/space/call.h"

enum { NEAR_BYTES = 16, RET = 0xc3 };

static void step_to(struct wndl_fp_state *state, uint64_t ra, uint64_t sp)
{
    state->pc = ra;
    state->sp = sp;
    state->interrupted = false;
}

bool wndl_leaf_called(
    const struct wndl_space *space, struct wndl_fp_state *state)
{
    struct wndl_call call;
    uint64_t ra;
    if (!wndl_space_word(space, state->sp, &ra) ||
        !wndl_call_before(space, ra, &call) || call.target > state->pc ||
        state->pc - call.target >= NEAR_BYTES)
        return false;
    step_to(state, ra, state->sp + space->arch->word);
    return true;
}

bool wndl_leaf_pushed(
    const struct wndl_space *space, struct wndl_fp_state *state, unsigned words)
{
    struct wndl_call call;
    uint64_t ra, sp = state->sp;
    for (unsigned i = 0; i < words; i++) {
        if (!wndl_space_word(space, sp, &ra))
            return false;
        sp += space->arch->word;
        if (wndl_call_before(space, ra, &call)) {
            step_to(state, ra, sp);
            return true;
        }
    }
    return false;
}

bool wndl_leaf_is_after_ret(const struct wndl_space *space, uint64_t ra)
{
    struct wndl_call call;
    uint8_t last;
    return wndl_code_read(space, ra - 1, &last, 1) && last == RET &&
           !wndl_call_before(space, ra, &call);
}

/* xor %edi,%edi or xor %rdi,%rdi; call; hlt. */
bool wndl_leaf_ends_there(const struct wndl_space *space, uint64_t ra)
{
    enum { REX_W = 0x48, CALL = 0xe8, CALL_SIZE = 5, HLT = 0xf4 };
    uint8_t code[3 + CALL_SIZE + 1];
    if (!wndl_code_read(space, ra, code, sizeof code))
        return false;
    const uint8_t *c = code;
    c += c[0] == REX_W;
    return c[0] == 0x31 && c[1] == 0xff && c[2] == CALL &&
           c[2 + CALL_SIZE] == HLT;
}
