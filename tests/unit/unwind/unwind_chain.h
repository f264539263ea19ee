/* SPDX-License-Identifier: MIT */
/*
 * unwind_chain: deep stacks to order, for the tests and the benchmark of the
 * unwinder: 256 functions that differ in frame size (256 to 4,000 bytes), in
 * how many callee-saved registers they use (0 to 6), in alloca (an RBP-based
 * CFA), and in going through libc's qsort; with 8 call sites each.
 */
#ifndef WNDL_TESTS_UNWIND_CHAIN_H
#define WNDL_TESTS_UNWIND_CHAIN_H

#include <stddef.h>
#include <stdint.h>

enum { CHAIN_SHAPES = 256, CHAIN_SITES = 8, CHAIN_MAX = 1024 };

struct chain {
    size_t count;              /* functions deep, <= CHAIN_MAX */
    size_t depth;              /* functions entered so far */
    uint16_t shape[CHAIN_MAX]; /* >= CHAIN_SHAPES: extra[shape - that] */
    uint8_t site[CHAIN_MAX];   /* < CHAIN_SITES */
    long (*const *extra)(struct chain *chain);
    void (*leaf)(void *context);
    void *context;
};

/* Fills shape and site for `count` functions from `seed`, with one function
 * in eight, on average, from the first `extras` of extra. */
void chain_random(
    struct chain *chain, size_t count, uint64_t seed, size_t extras);

/* Calls the functions, innermost the leaf, and returns. */
void chain_run(struct chain *chain);

/* For extra functions: call the next function, or the leaf. */
long chain_next(struct chain *chain);

#endif
