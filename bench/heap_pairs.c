/* SPDX-License-Identifier: MIT */
/*
 * heap_pairs PAIRS THREADS turn|random: makes pairs of malloc and free in each
 * thread, under a stack of 26 frames with 128 paths, which part at every third
 * frame. With "turn" the paths take turns, so that mostly the inner frames
 * change. With "random" they follow by chance, which no processor can foresee.
 * Prints ns per pair, of the CPU time of all threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 21, EVERY = 3, PATHS = 128, SIZES = 2 };

struct job {
    unsigned path; /* bit by bit, outermost first */
    size_t size;
};

static void left(struct job job, int depth);
static void right(struct job job, int depth);

static void pair(size_t size)
{
    void *block = malloc(size);
    __asm__ volatile("" : : "r"(block) : "memory");
    free(block);
}

/* A frame stays if its function does something after the call. */
static inline void go_on(struct job job, int depth)
{
    if (depth == 0) {
        pair(job.size);
    } else if (depth % EVERY == 0 && (job.path & 1) != 0) {
        job.path >>= 1;
        right(job, depth - 1);
    } else {
        job.path >>= depth % EVERY == 0;
        left(job, depth - 1);
    }
    __asm__ volatile("");
}

__attribute__((noinline)) static void left(struct job job, int depth)
{
    go_on(job, depth);
}

__attribute__((noinline)) static void right(struct job job, int depth)
{
    go_on(job, depth);
}

static unsigned long pairs;
static int by_chance;

/* The last bit is the innermost. */
static unsigned turned(unsigned long n)
{
    unsigned path = 0;
    for (unsigned bit = 1; bit < PATHS; bit *= 2, n /= 2)
        path = path * 2 + (n & 1);
    return path;
}

static void *work(void *argument)
{
    static const size_t sizes[SIZES] = {16, 64};
    unsigned long long random = (unsigned long long)(size_t)argument + 1;
    for (unsigned long i = 0; i < pairs; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        struct job job = {turned(i), sizes[i & 1]};
        if (by_chance)
            job = (struct job){random >> 40 & (PATHS - 1), sizes[random >> 63]};
        left(job, DEPTH);
    }
    return NULL;
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int count, char **arguments)
{
    pthread_t threads[64];
    if (count != 4)
        return 2;
    pairs = strtoul(arguments[1], NULL, 10);
    unsigned long n = strtoul(arguments[2], NULL, 10);
    n = n < 64 ? n : 64;
    by_chance = strcmp(arguments[3], "random") == 0;
    double start = cpu_ns();
    for (unsigned long i = 1; i < n; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    (void)work(NULL);
    for (unsigned long i = 1; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("%.1f\n", (cpu_ns() - start) / (double)(pairs * n));
    return 0;
}
