/* SPDX-License-Identifier: MIT */
#include "unwind_harness.h"

#include <stdlib.h>
#include <sys/mman.h>

static struct wndl_unwinder *own_unwinder(void)
{
    static struct wndl_unwinder *unwinder;
    if (unwinder != NULL)
        return unwinder;
    void *memory = mmap(NULL, wndl_unwinder_size(), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return unwinder = wndl_unwinder_init(memory);
}

static size_t walk_regs(const struct bench_leaf *leaf)
{
    struct wndl_regs regs;
    struct wndl_walk walk = {
        .frames = (struct wndl_frame *)(void *)bench_addresses,
        .max_frames = BENCH_FRAMES,
    };
    wndl_regs_from_context(&regs, leaf->ucontext);
    wndl_unwind_regs(own_unwinder(), &regs, &leaf->stack, 1, &walk);
    if (walk.end != WNDL_END_COMPLETE)
        abort();
    return walk.count;
}

const struct bench_method bench_methods[] = {
    {"wndl_unwind_regs", walk_regs},
    {0},
};
