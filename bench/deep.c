/* SPDX-License-Identifier: MIT */
/*
 * deep SECONDS: does CPU work at the end of some 45 frames without frame
 * pointers, with alloca, callbacks through qsort and 4 KiB of locals.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 32, ITEMS = 400 };

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static __attribute__((noinline)) uint64_t leaf(void)
{
    uint64_t items[ITEMS];
    char text[4096];
    memset(text, (int)(next() & 127), sizeof text);
    for (int i = 0; i < ITEMS; i++)
        items[i] = next() ^ (uint8_t)text[i];
    qsort(items, ITEMS, sizeof items[0], compare);
    return items[ITEMS / 2];
}

static uint64_t even(int depth);

static __attribute__((noinline)) uint64_t odd(int depth)
{
    volatile char *room = alloca((next() & 255) + 16);
    room[0] = (char)depth;
    uint64_t below = depth == 0 ? leaf() : even(depth - 1);
    return below + (uint64_t)room[0];
}

static __attribute__((noinline)) uint64_t even(int depth)
{
    uint64_t a = next(), b = next(), c = next();
    uint64_t below = depth == 0 ? leaf() : odd(depth - 1);
    return below ^ (a + b * c);
}

int main(int argc, char **argv)
{
    double until = argc > 1 ? atof(argv[1]) : 1;
    uint64_t rounds = 0, sum = 0;
    /* A fixed amount of work: 50,000 rounds are about a second. */
    for (; (double)rounds < until * 50000; rounds++)
        sum += odd(DEPTH + (int)(rounds % 8));
    fprintf(stderr, "%llu %.2f s\n", (unsigned long long)sum, cpu_seconds());
    return 0;
}
