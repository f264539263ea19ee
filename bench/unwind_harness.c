/* SPDX-License-Identifier: MIT */
#include "unwind_harness.h"

#include "unwind_chain.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum {
    CHURN_STACKS = 256,
    CHURN_DEPTH = 52, /* functions; about 67 frames */
    INNER_RUNS = 7,
};

void *bench_addresses[BENCH_FRAMES];

/* The sums of one measurement: walks of the current stack. */
struct measurement {
    const struct bench_method *method;
    size_t walks_per_leaf;
    uint64_t frames, ns, clock_ns;
};

/* Callgrind collects in this function, which does nothing but walk. */
size_t measured_walk(
    const struct bench_method *method, const struct bench_leaf *leaf);

__attribute__((noinline, used)) size_t measured_walk(
    const struct bench_method *method, const struct bench_leaf *leaf)
{
    size_t count = method->walk(leaf);
    __asm__ volatile("" : : : "memory");
    return count;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The least that two readings of the clock are apart. */
static uint64_t clock_cost_ns(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        uint64_t start = now_ns();
        uint64_t cost = now_ns() - start;
        least = cost < least ? cost : least;
    }
    return least;
}

static struct wndl_stack_range own_stack(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
        pthread_attr_getstack(&attributes, &low, &size) != 0)
        abort();
    return (struct wndl_stack_range){(uintptr_t)low, (uintptr_t)low + size};
}

static void leaf(void *context)
{
    static struct wndl_stack_range stack;
    struct measurement *m = context;
    ucontext_t here;
    if (stack.high == 0)
        stack = own_stack();
    if (getcontext(&here) != 0)
        abort();
    const struct bench_leaf from = {&here, stack};
    uint64_t start = now_ns();
    for (size_t i = 0; i < m->walks_per_leaf; i++)
        m->frames += measured_walk(m->method, &from);
    m->ns += now_ns() - start - m->clock_ns;
}

static struct chain stacks[CHURN_STACKS];
static size_t stack_count;

/* qsort adds a sixth to the functions of a chain. */
#ifndef CHAIN_USES_QSORT
#define CHAIN_USES_QSORT 1
#endif

static size_t functions_for(long frames)
{
    return (size_t)(CHAIN_USES_QSORT ? frames * 6 / 7 : frames);
}

/* "churn", or about how many frames one stack has, with the 6 around it. */
static void make_stacks(const char *scenario)
{
    if (strcmp(scenario, "churn") == 0) {
        stack_count = CHURN_STACKS;
        for (size_t i = 0; i < stack_count; i++)
            chain_random(&stacks[i], CHURN_DEPTH, i + 1, 0);
        return;
    }
    stack_count = 1;
    long frames = strtol(scenario, NULL, 10);
    chain_random(&stacks[0], functions_for(frames - 6), 3, 0);
}

static void run_stacks(struct measurement *m)
{
    for (size_t i = 0; i < stack_count; i++) {
        stacks[i].leaf = leaf;
        stacks[i].context = m;
        chain_run(&stacks[i]);
    }
}

/* ns per frame, the best of some runs: noise only adds. */
static double best_ns(struct measurement *m)
{
    double best = 1e9;
    run_stacks(m);
    m->clock_ns = clock_cost_ns();
    m->walks_per_leaf = stack_count == 1 ? 2000 : 1;
    for (int i = 0; i < INNER_RUNS; i++) {
        m->frames = 0;
        m->ns = 0;
        run_stacks(m);
        double ns = (double)m->ns / (double)m->frames;
        best = ns < best ? ns : best;
    }
    return best;
}

static const struct bench_method *find_method(const char *name)
{
    const struct bench_method *m = bench_methods;
    while (m->name != NULL && strcmp(m->name, name) != 0)
        m++;
    return m->name == NULL ? NULL : m;
}

/*
 * PROGRAM METHOD SCENARIO time: prints ns per frame.
 * PROGRAM METHOD SCENARIO PASSES: walks each stack as many times, for
 * callgrind, and prints how many frames and walks that was.
 */
int main(int argc, char **argv)
{
    struct measurement m = {.walks_per_leaf = 1};
    if (argc == 4)
        m.method = find_method(argv[1]);
    if (m.method == NULL) {
        (void)fprintf(stderr, "usage: METHOD SCENARIO time|PASSES\n");
        return 2;
    }
    make_stacks(argv[2]);
    if (strcmp(argv[3], "time") == 0) {
        (void)printf("%.2f\n", best_ns(&m));
        return 0;
    }
    size_t passes = strtoul(argv[3], NULL, 10);
    for (size_t i = 0; i < passes; i++)
        run_stacks(&m);
    (void)printf("%lu %zu\n", (unsigned long)m.frames, passes * stack_count);
    return 0;
}
