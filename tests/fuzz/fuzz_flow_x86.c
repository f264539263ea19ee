/* SPDX-License-Identifier: MIT */
/*
 * fuzz_flow_x86: any bytes as code of x86-64 or i386: each instruction is taken
 * apart, and the code is followed to its return. Byte 0 says in bit 0 that it
 * is i386's; byte 1 is the stack's size in words, byte 2 the word that SP leads
 * to, byte 3 the one that RBP leads to; a 16-bit number follows, the offset of
 * PC in the code; then the stack; then the code.
 */
#include "fuzz_code.h"
#include "unwind/slow/flow.h"
#include "unwind/slow/x86_code.h"

#include <elf.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_apart(struct wndl_bytes code, bool is_64)
{
    struct wndl_x86 x;
    while (wndl_x86_decode(code, is_64, &x)) {
        require(x.size > 0 && x.size <= WNDL_X86_LONGEST);
        require(x.size <= code.size);
        code = wndl_bytes_slice(code, x.size, code.size - x.size);
    }
}

static void follow(struct memory *memory, struct wndl_fp_state before)
{
    const struct wndl_remote_module module = {.start = CODE, .end = 2 * CODE};
    const struct wndl_remote remote = {
        .machine = memory->word == 8 ? EM_X86_64 : EM_386,
        .modules = &module,
        .module_count = 1,
        .read = read_memory,
        .context = memory};
    const struct wndl_space space = {.memory = {read_words, memory},
        .remote = &remote,
        .arch = wndl_arch_of(remote.machine)};
    struct wndl_fp_state state = before, again = before;
    struct wndl_rule rule;
    bool pops_fp, pops_again;
    uint64_t ra = 0;
    if (!wndl_flow_learn(&space, &state, &pops_fp, &rule)) {
        require(memcmp(&state, &before, sizeof state) == 0);
        require(
            rule.kind == WNDL_ENTRY_EMPTY || rule.kind == WNDL_ENTRY_NO_FLOW);
        return;
    }
    require(rule.kind == WNDL_ENTRY_EMPTY ||
            (wndl_flow_repeat(&space, &again, rule, &pops_again) &&
                pops_again == pops_fp && again.pc == state.pc &&
                again.sp == state.sp && again.fp == state.fp));
    require(state.sp > before.sp);
    require(read_words(memory, state.sp - memory->word, &ra, memory->word));
    require(state.pc == ra);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_fp_state state;
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){data, size}, 0, false);
    struct memory memory = {.word = (wndl_cursor_u8(&c) & 1) != 0 ? 4 : 8};
    const size_t stack_size = wndl_cursor_u8(&c) * memory.word;
    memset(&state, 0, sizeof state);
    state.sp = STACK + memory.word * wndl_cursor_u8(&c);
    state.fp = STACK + memory.word * wndl_cursor_u8(&c);
    state.pc = CODE + (uint64_t)wndl_cursor_u16(&c);
    memory.stack =
        (struct wndl_bytes){wndl_cursor_take(&c, stack_size), stack_size};
    if (c.failed)
        return 0;
    memory.code = (struct wndl_bytes){c.next, wndl_cursor_left(&c)};
    take_apart(memory.code, memory.word == 8);
    follow(&memory, state);
    return 0;
}
