/* SPDX-License-Identifier: MIT */
/* block: the memory that a process and the collector share, before its use. */
#ifndef WNDL_COLLECT_PROCESS_BLOCK_H
#define WNDL_COLLECT_PROCESS_BLOCK_H

#include "collect/process/heap.h"
#include "rec/shm.h"

/* A mapped block. */
struct wndl_collector_block {
    int memfd; /* -1: there is none */
    struct wndl_shm *shm;
    size_t size;                      /* bytes mapped at `shm` */
    uint32_t nodes, sites;            /* its capacities */
    struct wndl_collector_heap *heap; /* NULL: the heap is not recorded */
};

/*
 * Makes a block for a process whose heap is recorded as `heap` says. False,
 * with errno and a `memfd` of -1, on failure.
 */
bool wndl_collector_block_make(struct wndl_collector_block *block,
    const struct wndl_collector_heap_request *heap);

/*
 * Maps the block that a process itself has made, if it is one. `memfd` stays
 * the caller's. False, with errno, on failure.
 */
bool wndl_collector_block_adopt(struct wndl_collector_block *block,
    const struct wndl_collector_heap_request *heap, int memfd);

/* Whether it is as wndl_collector_block_make() would make it now. */
bool wndl_collector_block_fits(const struct wndl_collector_block *block,
    const struct wndl_collector_heap_request *heap);

/* Unmaps it and closes its descriptor. One that is none is ignored. */
void wndl_collector_block_free(struct wndl_collector_block *block);

#endif
