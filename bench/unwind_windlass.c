/* SPDX-License-Identifier: MIT */
#include "unwind_harness.h"

#include <stdlib.h>
#include <sys/mman.h>

static void *map_memory(size_t size)
{
    void *memory = mmap(
        NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

static struct wndl_unwinder *own_unwinder(void)
{
    static struct wndl_unwinder *unwinder;
    if (unwinder == NULL)
        unwinder = wndl_unwinder_init(map_memory(wndl_unwinder_size()));
    return unwinder;
}

static struct wndl_resume *own_resume(void)
{
    static struct wndl_resume *resume;
    if (resume == NULL)
        resume = wndl_resume_init(map_memory(wndl_resume_size(BENCH_FRAMES)),
            BENCH_FRAMES, own_unwinder());
    return resume;
}

static size_t walk_regs(const struct bench_leaf *leaf)
{
    struct wndl_regs regs;
    struct wndl_walk walk;
    walk.frames = (struct wndl_frame *)(void *)bench_addresses;
    walk.max_frames = BENCH_FRAMES;
    walk.method = WNDL_WALK_ANY;
    walk.jit = NULL;
    wndl_regs_from_context(&regs, leaf->ucontext);
    wndl_unwind_regs(own_unwinder(), &regs, &leaf->stack, 1, &walk);
    if (walk.end != WNDL_END_COMPLETE)
        abort();
    return walk.count;
}

static size_t walk_resumed(const struct bench_leaf *leaf)
{
    struct wndl_regs regs;
    struct wndl_resumed resumed;
    resumed.walk.method = WNDL_WALK_ANY;
    resumed.walk.jit = NULL;
    wndl_regs_from_context(&regs, leaf->ucontext);
    wndl_unwind_resume(own_resume(), &regs, &leaf->stack, 1, &resumed);
    if (resumed.walk.end != WNDL_END_COMPLETE)
        abort();
    return resumed.walk.count;
}

const struct bench_method bench_methods[] = {
    {"wndl_unwind_regs", walk_regs},
    {"wndl_unwind_resume", walk_resumed},
    {0},
};
