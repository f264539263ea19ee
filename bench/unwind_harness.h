/* SPDX-License-Identifier: MIT */
/*
 * unwind_harness: the stacks that every unwinder of the benchmark walks, and
 * how a walk is timed and counted. Each program links it with one file of
 * methods: libunwind interposes other unwinders' names.
 */
#ifndef WNDL_BENCH_UNWIND_HARNESS_H
#define WNDL_BENCH_UNWIND_HARNESS_H

#include <stddef.h>
#include <stdint.h>
#include <windlass/unwind.h>

enum { BENCH_FRAMES = 512 };

/* The context of one leaf function, from which a walk starts. */
struct bench_leaf {
    const void *ucontext; /* ucontext_t * */
    struct wndl_stack_range stack;
};

struct bench_method {
    const char *name;
    /* Walks the calling thread's stack, keeps every frame's address, returns
     * their number. */
    size_t (*walk)(const struct bench_leaf *leaf);
};

/* The methods of one program; a NULL name ends the list. */
extern const struct bench_method bench_methods[];

/* The addresses of a walk, stored so that no method can leave this out. */
extern void *bench_addresses[BENCH_FRAMES];

#endif
