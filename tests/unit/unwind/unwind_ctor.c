/* SPDX-License-Identifier: MIT */
/*
 * A library whose constructor unwinds: ld.so calls it before the program has
 * a main, from code that has no CFI.
 */
#include <windlass/unwind.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN extern struct wndl_walk ctor_walk;
SHOWN struct wndl_walk ctor_walk;

static struct wndl_frame frames[64];
static _Alignas(64) unsigned char memory[1 << 19];

__attribute__((constructor)) static void unwind_in_constructor(void)
{
    /* The page of this frame and what is above it, as far as it matters. */
    uint64_t here = (uintptr_t)__builtin_frame_address(0);
    const struct wndl_stack_range stack = {here - 4096, here + 8192};
    ctor_walk.frames = frames;
    ctor_walk.max_frames = 64;
    if (wndl_unwinder_size() <= sizeof memory)
        wndl_unwind_self(wndl_unwinder_init(memory), &stack, &ctor_walk);
}
