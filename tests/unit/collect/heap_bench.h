/* SPDX-License-Identifier: MIT */
/*
 * heap_bench: the test plays the recorded process. It fills the memory that
 * rec/heap.h describes, and reads the chunks that come of it word for word.
 */
#ifndef WNDL_TESTS_HEAP_BENCH_H
#define WNDL_TESTS_HEAP_BENCH_H

#include "testlib.h"

#include "collect/process/process.h"

enum { PAIRS = 20000, TEXT = 64 * 1024 };

struct bench {
    char path[40];
    int fd;
    struct wndl_recording recording;
    struct wndl_collector_totals totals;
    struct wndl_collector_process *process;
    uint8_t *memory; /* the process's own view of its heap's part */
    struct wndl_heap *head;
    struct wndl_heap_layout layout;
    char text[TEXT]; /* of the heap's chunks, once it is finished */
};

/* The recording of a process whose heap is asked for so. */
void set_up_for(
    struct bench *b, const struct wndl_collector_heap_request *request);

/* The same with PAIRS sites and cumulative counts. */
void set_up(struct bench *b);

/* ---- the process's side */

struct wndl_heap_site *pair_at(struct bench *b, uint32_t site);

struct wndl_heap_count *count_at(
    struct bench *b, uint32_t stripe, uint32_t site);

/* A node of the tree of stacks, and a site on it. */
uint32_t insert(struct bench *b, uint32_t parent, uint64_t key);
uint32_t add_pair(
    struct bench *b, uint32_t node, uint64_t requested, uint64_t usable);

/* Counts `blocks` that begin or end. */
void allocate(struct bench *b, uint32_t stripe, uint32_t site, uint64_t blocks);
void release(struct bench *b, uint32_t stripe, uint32_t site, uint64_t blocks);

/* ---- the recording's side */

/* Ends the process; `text` then has the heap's chunks, one a line. */
void finish(struct bench *b);

/* Writes all that is there so far. */
void drain(struct bench *b);

#endif
