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

/* What a walk starts from: one leaf function's context. */
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

/* Ends with a NULL name. */
extern const struct bench_method bench_methods[];

/* Where walks put addresses, so that none are spared the storing. */
extern void *bench_addresses[BENCH_FRAMES];

#endif
