/* SPDX-License-Identifier: MIT */
/*
 * fuzz_flow_arm: any bytes as 32-bit Arm code that is followed to its return.
 * The caller is further up, or nothing is changed. Byte 0 is the stack's size
 * in words, byte 1 the word that SP leads to, byte 2 the one that R0, R7, R11
 * and R12 lead to; byte 3 tells in bit 0 whether the code was interrupted;
 * 16-bit numbers follow, offsets of PC and LR in the code; then the stack; then
 * the code. An index tells of the code's first 256 bytes and of the others.
 */
#include "fuzz_code.h"
#include "unwind/arm/exidx.h"
#include "unwind/slow/flow_arm.h"

#include <elf.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORD = 4, INDEX = 0x8000 };

/* Of the first and of the second half of the code: sp + 8, {r7, lr}, and
 * sp = r7, {r7, lr}. */
static const uint8_t exidx[] = {0, 0x80, 0, 0, 0x08, 0x84, 0x01, 0x80, /* 0 */
    0xf8, 0x80, 0, 0, 0x08, 0x84, 0x97, 0x80};

static void set(struct wndl_full *full, unsigned reg, uint32_t value)
{
    full->regs.regs[reg] = value;
    full->regs.valid |= UINT64_C(1) << reg;
}

static void step(struct memory *memory, const struct wndl_full *before)
{
    const struct wndl_remote_module module = {.start = CODE,
        .end = 2 * CODE,
        .exidx = exidx,
        .exidx_size = sizeof exidx,
        .exidx_svma = INDEX};
    const struct wndl_remote remote = {.machine = EM_ARM,
        .modules = &module,
        .module_count = 1,
        .read = read_memory,
        .context = memory};
    const struct wndl_space space = {.memory = {read_words, memory},
        .remote = &remote,
        .arch = &wndl_arch_arm};
    struct wndl_full full = *before;
    if (!wndl_flow_arm_step_in(&space, memory->code, CODE, &full)) {
        require(memcmp(&full, before, sizeof full) == 0);
        return;
    }
    const uint64_t sp = full.regs.regs[WNDL_ARM_SP];
    const uint64_t sp_before = before->regs.regs[WNDL_ARM_SP];
    require(sp > sp_before || (sp == sp_before && before->interrupted));
    require(full.regs.regs[WNDL_ARM_PC] % 2 == 0);
    require(!full.interrupted || sp > sp_before); /* a landing pad */
    require((full.regs.valid >> WNDL_ARM_SP & 1) != 0 &&
            (full.regs.valid >> WNDL_ARM_PC & 1) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t others[] = {0, 11, 12};
    struct wndl_full full = {0};
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){data, size}, 0, false);
    const size_t stack_size = wndl_cursor_u8(&c) * (size_t)WORD;
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++)
        set(&full, reg, reg);
    set(&full, WNDL_ARM_SP, STACK + WORD * (uint32_t)wndl_cursor_u8(&c));
    set(&full, 7, STACK + WORD * (uint32_t)wndl_cursor_u8(&c));
    for (size_t i = 0; i < sizeof others; i++)
        set(&full, others[i], (uint32_t)full.regs.regs[7]);
    full.interrupted = (wndl_cursor_u8(&c) & 1) != 0;
    set(&full, WNDL_ARM_PC, CODE + (uint32_t)wndl_cursor_u16(&c));
    set(&full, WNDL_ARM_LR, CODE + (uint32_t)wndl_cursor_u16(&c));
    struct memory memory = {
        .word = WORD, .stack = {wndl_cursor_take(&c, stack_size), stack_size}};
    if (c.failed)
        return 0;
    memory.code = (struct wndl_bytes){c.next, wndl_cursor_left(&c)};
    step(&memory, &full);
    return 0;
}
