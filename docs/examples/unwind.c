/* SPDX-License-Identifier: MIT */
/*
 * The stack of the calling thread, as addresses:
 *
 *   cc unwind.c $(pkg-config --cflags --libs windlass) -o unwind && ./unwind
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_getattr_np() */
#endif
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <windlass/unwind.h>

/* The range that walks may read. A profiler asks once for each thread. */
static struct wndl_stack_range own_stack(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    return (struct wndl_stack_range){(uintptr_t)low, (uintptr_t)low + size};
}

int main(void)
{
    void *memory = mmap(NULL, wndl_unwinder_size(), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    /* From here on nothing is allocated: it could be a signal handler. */
    struct wndl_unwinder *u = wndl_unwinder_init(memory);
    struct wndl_stack_range stack = own_stack();
    struct wndl_frame frames[100];
    struct wndl_walk walk = {.frames = frames, .max_frames = 100};
    wndl_unwind_self(u, &stack, &walk);
    for (size_t i = 0; i < walk.count; i++)
        printf("%#" PRIx64 "\n", (uint64_t)frames[i].address);
    puts(walk.end == WNDL_END_COMPLETE ? "complete" : "cut short");
    return 0;
}
