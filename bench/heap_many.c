/* SPDX-License-Identifier: MIT */
/*
 * heap_many pairs|live COUNT [DUMPS]: allocates COUNT blocks, then asks for
 * DUMPS snapshots. "pairs" uses 16,384 stacks and a new size for each round of
 * them, and frees each block at once. "live" uses 128 stacks and two sizes, and
 * keeps all blocks to the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/heap.h>

enum { STACKS = 1 << 14, DEPTH = 14, FEW_STACKS = 1 << 7, FEW_DEPTH = 7 };

static void **kept;
static unsigned long made;

static void make(size_t size)
{
    void *block = malloc(size);
    __asm__ volatile("" : : "r"(block) : "memory");
    if (kept != NULL)
        kept[made] = block;
    else
        free(block);
    made++;
}

static void left(unsigned path, int depth, size_t size);
static void right(unsigned path, int depth, size_t size);

/* A frame stays if its function does something after the call. */
static inline void go_on(unsigned path, int depth, size_t size)
{
    if (depth == 0)
        make(size);
    else if ((path & 1) != 0)
        left(path >> 1, depth - 1, size);
    else
        right(path >> 1, depth - 1, size);
    __asm__ volatile("");
}

__attribute__((noinline)) static void left(
    unsigned path, int depth, size_t size)
{
    go_on(path, depth, size);
}

__attribute__((noinline)) static void right(
    unsigned path, int depth, size_t size)
{
    go_on(path, depth, size);
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    unsigned long blocks = strtoul(arguments[2], NULL, 10);
    if (strcmp(arguments[1], "live") == 0) {
        kept = calloc(blocks, sizeof *kept);
        if (kept == NULL)
            return 1;
    }
    for (unsigned i = 0; made < blocks; i++) {
        if (kept == NULL)
            left(i % STACKS, DEPTH, 16 + 16 * (size_t)(i / STACKS));
        else
            left(i % FEW_STACKS, FEW_DEPTH, 16 + 8 * (i & 1));
    }
    for (int dumps = count > 3 ? atoi(arguments[3]) : 0; dumps > 0; dumps--)
        wndl_heap_dump("again");
    return 0;
}
