/* SPDX-License-Identifier: MIT */
/*
 * dominators BLOCKS [random|chain|cycle]: the CPU time and the memory that the
 * dominators of so many blocks take, with twice as many pointers: to random
 * blocks, to the next block and back, or all in one cycle.
 */
#include "analyze/holders/dominators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static uint64_t size_of(const void *context, uint32_t block)
{
    (void)context;
    return 16 + block % 64;
}

static double cpu(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

static uint32_t target(char kind, uint32_t from, uint32_t which, uint32_t count)
{
    static uint64_t random = 1;
    random = random * 6364136223846793005 + 1442695040888963407;
    if (kind == 'r')
        return (uint32_t)((random >> 33) % count);
    const uint32_t next = from + 1 < count ? from + 1 : kind == 'c' ? 0 : from;
    return which == 0 ? next : from;
}

/* One root points to the first block. */
static void fill(struct wndl_heap_graph *g, char kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->block_count; i++) {
        g->first_edge[i] = count;
        for (uint32_t which = 0; which < 2; which++)
            g->edges[count++].target = target(kind, i, which, g->block_count);
    }
    g->first_edge[g->block_count] = count;
    g->edges[count++].target = 0;
    g->first_edge[g->block_count + 1] = count;
}

int main(int argc, char **arguments)
{
    if (argc < 2)
        return 2;
    const char *kind = argc < 3 ? "random" : arguments[2];
    struct wndl_arena arena;
    struct wndl_heap_dominators d;
    struct wndl_heap_graph g = {
        .block_count = (uint32_t)strtoul(arguments[1], NULL, 10),
        .root_count = 1,
    };
    const size_t blocks = g.block_count;
    wndl_arena_init(&arena, wndl_mem_libc());
    g.first_edge = wndl_arena_calloc(&arena, blocks + 2, sizeof *g.first_edge);
    g.edges = wndl_arena_calloc(&arena, 2 * blocks + 1, sizeof *g.edges);
    if (g.first_edge == NULL || g.edges == NULL)
        return 1;
    fill(&g, strcmp(kind, "cycle") == 0 ? 'c' : kind[0] == 'r' ? 'r' : 'l');
    const double before = cpu();
    if (!wndl_heap_dominators_fill(&d, &g, size_of, NULL, &arena))
        return 1;
    const double took = cpu() - before;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%s, %zu blocks: %.2f s, %ld MB with the graph; %u lost\n", kind,
        blocks, took, used.ru_maxrss / 1000, d.leader_count);
    return 0;
}
