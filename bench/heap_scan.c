/* SPDX-License-Identifier: MIT */
/*
 * heap_scan BLOCKS [WRITTEN [lacking|threads]]: allocates BLOCKS of 192 bytes,
 * each with two pointers to others, and prints its pid. Until its input ends it
 * then allocates, frees and writes to WRITTEN bytes of pages a second. Prints
 * the longest time that an allocation took, which is how long a scan stopped
 * the program, and how much it wrote. `lacking`: copies of it lack a page, so
 * that it is read in place; `threads`: and another thread is there, so that the
 * kernel reads it.
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 192, WORDS = SIZE / sizeof(void *), PAGE = 4096 };

static uint64_t **blocks;
static unsigned long count;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void make_blocks(void)
{
    uint64_t random = 1;
    blocks = malloc(count * sizeof *blocks);
    for (unsigned long i = 0; i < count; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        blocks[i] = malloc(SIZE);
        for (size_t word = 0; word < WORDS; word++)
            blocks[i][word] = word;
        if (i == 0)
            continue;
        blocks[i][0] = (uintptr_t)blocks[i - 1];
        blocks[i][5] = (uintptr_t)blocks[(random >> 20) % i];
    }
}

static int has_ended(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    return poll(&input, 1, 0) != 0;
}

static double allocate_once(void)
{
    const double before = now();
    void *block = malloc(100);
    __asm__ volatile("" : : "r"(block) : "memory");
    free(block);
    return now() - before;
}

/* Writes to a block of one page after another, up to `wanted` bytes. */
static unsigned long write_up_to(unsigned long written, double wanted)
{
    const unsigned long step = PAGE / (SIZE + 16) + 1;
    while ((double)written < wanted) {
        blocks[written / PAGE * step % count][WORDS - 2]++;
        written += PAGE;
    }
    return written;
}

static void *wait_for_end(void *nothing)
{
    pause();
    return nothing;
}

static int make_lacking(int with_thread)
{
    pthread_t thread;
    char *page = mmap(
        NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, PAGE, MADV_DONTFORK) != 0)
        return 0;
    page[0] = 1;
    return !with_thread ||
           pthread_create(&thread, NULL, wait_for_end, NULL) == 0;
}

int main(int argc, char **arguments)
{
    if (argc < 2)
        return 2;
    count = strtoul(arguments[1], NULL, 10);
    const double rate = argc > 2 ? strtod(arguments[2], NULL) : 0;
    if (argc > 3 && !make_lacking(strcmp(arguments[3], "threads") == 0))
        return 1;
    make_blocks();
    printf("%d\n", getpid());
    fflush(stdout);
    const double start = now();
    unsigned long written = 0;
    double longest = 0;
    while (!has_ended()) {
        const double took = allocate_once();
        longest = took > longest ? took : longest;
        written = write_up_to(written, rate * (now() - start));
    }
    printf("stopped %.3f s; wrote %lu MiB\n", longest, written >> 20);
    return 0;
}
