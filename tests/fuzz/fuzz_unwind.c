/* SPDX-License-Identifier: MIT */
/*
 * fuzz_unwind: a remote walk over foreign CFI and a foreign stack. Byte 0 is
 * the stack's size in units of 16 bytes; four 16-bit numbers follow: RIP from
 * CODE, RSP, RBP and RBX from STACK; then the stack; the rest is the .eh_frame
 * of the one module.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#include <windlass/unwind.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CODE = 0x10000, CODE_END = 0x20000, STACK = 0x100000, FRAMES = 64 };

static bool read_stack(void *context, uint64_t address, void *to, size_t size)
{
    const struct wndl_bytes *stack = context;
    struct wndl_bytes read = wndl_bytes_slice(*stack, address - STACK, size);
    if (read.size != size)
        return false;
    memcpy(to, read.data, size);
    return true;
}

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){data, size}, 0, false);
    uint64_t stack_size = wndl_cursor_u8(&c) * UINT64_C(16);
    struct wndl_regs regs = {.valid = 15};
    regs.ip = CODE + (uint64_t)wndl_cursor_u16(&c);
    regs.sp = STACK + (uint64_t)wndl_cursor_u16(&c);
    regs.fp = STACK + (uint64_t)wndl_cursor_u16(&c);
    regs.bx = STACK + (uint64_t)wndl_cursor_u16(&c);
    struct wndl_bytes stack = {
        wndl_cursor_take(&c, stack_size), (size_t)stack_size};
    if (c.failed)
        return 0;
    const struct wndl_remote_module module = {
        .start = CODE,
        .end = CODE_END,
        .eh_frame = c.next,
        .eh_frame_size = wndl_cursor_left(&c),
        .eh_frame_svma = 0x2000,
    };
    const struct wndl_remote remote = {read_stack, &stack, &module, 1};
    struct wndl_frame frames[FRAMES + 1];
    memset(&frames[FRAMES], 0x5a, sizeof frames[FRAMES]);
    struct wndl_walk walk = {.frames = frames, .max_frames = FRAMES};
    wndl_unwind_remote(&remote, &regs, &walk);
    require(walk.count >= 1 && walk.count <= FRAMES);
    require(walk.fp_frames < walk.count);
    require(*(const uint8_t *)&frames[FRAMES] == 0x5a);
    return 0;
}
