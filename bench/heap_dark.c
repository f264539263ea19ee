/* SPDX-License-Identifier: MIT */
/*
 * heap_dark BLOCKS: runs of 16 memory reporters over so many blocks, in the
 * order of their allocation, and in a random one. Prints ns of CPU time a
 * block.
 */
#include <windlass/heap.h>
#include <windlass/memory.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPORTERS = 16, RUNS = 3 };

struct part {
    struct wndl_memory_reporter reporter;
    void **first;
    size_t count;
    int64_t size;
};

static struct part parts[REPORTERS];
static uint64_t random_state = 1;
static double spent; /* seconds of CPU time in reporters */
static size_t measured;

static size_t next_random(size_t below)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407;
    return (size_t)(random_state >> 33) % below;
}

static double cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void report(struct wndl_memory_sink *sink, void *data)
{
    struct part *part = data;
    const double begin = cpu_time();
    int64_t size = 0;
    for (size_t i = 0; i < part->count; i++)
        size += (int64_t)wndl_memory_size_of(part->first[i]);
    part->size = size;
    spent += cpu_time() - begin;
    measured += part->count;
    wndl_memory_yield_bytes(
        sink, "explicit/part", WNDL_MEMORY_HEAP, size, "A part of the blocks.");
}

static void run(const char *order)
{
    for (int i = 0; i < RUNS; i++) {
        spent = 0;
        measured = 0;
        if (!wndl_heap_dump(order))
            continue;
        printf("%s %.1f ns a block, %zu blocks\n", order,
            1e9 * spent / (double)(measured == 0 ? 1 : measured), measured);
    }
}

int main(int count, char **arguments)
{
    const size_t blocks =
        count > 1 ? strtoull(arguments[1], NULL, 10) : 1000000;
    void **all = malloc(blocks * sizeof *all);
    for (size_t i = 0; i < blocks; i++)
        all[i] = malloc(16 + next_random(200));
    for (size_t i = 0; i < REPORTERS; i++) {
        struct part *part = &parts[i];
        part->first = all + blocks / REPORTERS * i;
        part->count = blocks / REPORTERS;
        part->reporter = (struct wndl_memory_reporter)WNDL_MEMORY_REPORTER(
            "part", report, part, WNDL_MEMORY_ANY_THREAD);
        wndl_memory_register(&part->reporter);
    }
    run("in order");
    for (size_t i = blocks; i-- > 1;) {
        const size_t k = next_random(i + 1);
        void *block = all[i];
        all[i] = all[k];
        all[k] = block;
    }
    run("at random");
    return 0;
}
