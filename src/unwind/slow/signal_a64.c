/* SPDX-License-Identifier: MIT */
#include "unwind/slow/signal_a64.h"

#include "os/own_memory.h"
#include "unwind/table/a64_rows.h"

/*
 * At SP is a siginfo_t of 128 bytes, then a ucontext_t: 40 bytes, room for a
 * signal set of 1,024 bits, and at the next multiple of 16 the sigcontext,
 * which begins with the fault's address.
 */
enum { WORD = 8, REGISTERS = 312, CODE = 2 };

/* mov x8, #139; svc #0: rt_sigreturn. */
static const uint32_t trampoline[CODE] = {0xd2801168, 0xd4000001};

static bool read_code(
    const struct wndl_space *space, uint64_t pc, uint32_t code[CODE])
{
    const size_t size = CODE * sizeof *code;
    struct wndl_own_memory memory = {0};
    if (space->remote != NULL)
        return space->memory.read(space->memory.context, pc, code, size);
    return wndl_own_memory_read(&memory, pc, code, size);
}

bool wndl_signal_a64_step(
    const struct wndl_space *space, struct wndl_full *full)
{
    uint32_t code[CODE];
    struct wndl_cfi_regs *regs = &full->regs;
    struct wndl_cfi_regs before = {0};
    const uint64_t at = regs->regs[WNDL_A64_SP] + REGISTERS;
    if (regs->regs[WNDL_A64_PC] % sizeof *code != 0 ||
        !read_code(space, regs->regs[WNDL_A64_PC], code) ||
        code[0] != trampoline[0] || code[1] != trampoline[1])
        return false;
    for (unsigned i = 0; i <= WNDL_A64_PC; i++) {
        if (!wndl_space_word(space, at + (uint64_t)WORD * i, &before.regs[i]))
            return false;
        before.valid |= UINT64_C(1) << i;
    }
    *regs = before;
    full->interrupted = true;
    return true;
}
