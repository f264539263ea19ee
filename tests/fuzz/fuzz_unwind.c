/* SPDX-License-Identifier: MIT */
/*
 * fuzz_unwind: remote walks over foreign CFI and a foreign stack, as of x86-64
 * and as of i386, with all registers and with none but RIP and RSP; and as of
 * 32-bit Arm by .debug_frame, .ARM.exidx and code. Byte 0 is the stack's size
 * in units of 16 bytes; four 16-bit numbers follow: RIP from CODE, RSP, RBP and
 * RBX from STACK; then the stack; the rest is the .eh_frame of the one module
 * (or each of Arm's sections), and its code as well.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#include <windlass/unwind.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CODE = 0x10000, CODE_END = 0x20000, STACK = 0x100000, FRAMES = 64 };

struct memory {
    struct wndl_bytes stack, code;
};

static bool read_memory(void *context, uint64_t address, void *to, size_t size)
{
    const struct memory *m = context;
    struct wndl_bytes read =
        address < STACK ? wndl_bytes_slice(m->code, address - CODE, size)
                        : wndl_bytes_slice(m->stack, address - STACK, size);
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

static void walk_by(const struct wndl_remote *remote,
    const struct wndl_regs *regs, enum wndl_walk_method method)
{
    struct wndl_frame frames[FRAMES + 1];
    memset(&frames[FRAMES], 0x5a, sizeof frames[FRAMES]);
    struct wndl_walk walk = {
        .frames = frames, .max_frames = FRAMES, .method = method};
    wndl_unwind_remote(remote, regs, &walk);
    require(walk.count >= 1 && walk.count <= FRAMES);
    require(walk.fp_frames < walk.count);
    require(*(const uint8_t *)&frames[FRAMES] == 0x5a);
}

static void walk_and_check(
    const struct wndl_remote *remote, const struct wndl_regs *regs)
{
    walk_by(remote, regs, WNDL_WALK_ANY);
    walk_by(remote, regs, WNDL_WALK_SCAN);
}

/* LR is wherever the frame pointer's place in the stack is in the code. */
static void walk_arm(struct wndl_remote remote, struct wndl_regs regs)
{
    uint32_t gregs[16];
    struct wndl_remote_module module = remote.modules[0];
    for (unsigned i = 0; i < 16; i++)
        gregs[i] = (uint32_t)regs.bx;
    gregs[14] = (uint32_t)(regs.fp - STACK + CODE);
    gregs[13] = (uint32_t)regs.sp;
    gregs[15] = (uint32_t)regs.ip;
    regs.gregs = gregs;
    remote.machine = EM_ARM;
    remote.modules = &module;
    module.exidx = module.extab = module.eh_frame;
    module.exidx_size = module.extab_size = module.eh_frame_size;
    module.exidx_svma = module.extab_svma = CODE;
    module.eh_frame = NULL;
    walk_and_check(&remote, &regs);
    module.debug_frame = module.exidx;
    module.debug_frame_size = module.exidx_size;
    walk_and_check(&remote, &regs);
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
    struct memory memory = {
        .stack = {wndl_cursor_take(&c, stack_size), (size_t)stack_size}};
    if (c.failed)
        return 0;
    memory.code = (struct wndl_bytes){c.next, wndl_cursor_left(&c)};
    const struct wndl_remote_module module = {
        .start = CODE,
        .end = CODE_END,
        .eh_frame = c.next,
        .eh_frame_size = wndl_cursor_left(&c),
        .eh_frame_svma = 0x2000,
    };
    struct wndl_remote remote = {.read = read_memory,
        .context = &memory,
        .modules = &module,
        .module_count = 1,
        .machine = EM_X86_64};
    walk_and_check(&remote, &regs);
    remote.machine = EM_386;
    walk_and_check(&remote, &regs);
    walk_arm(remote, regs);
    remote.find_fp = true;
    regs.valid = WNDL_REG_IP | WNDL_REG_SP;
    walk_and_check(&remote, &regs);
    remote.machine = EM_X86_64;
    walk_and_check(&remote, &regs);
    return 0;
}
