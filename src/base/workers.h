/* SPDX-License-Identifier: MIT */
/*
 * workers: the same work by several threads, which are made and joined within
 * the call.
 */
#ifndef WNDL_BASE_WORKERS_H
#define WNDL_BASE_WORKERS_H

#include "base/mem.h"

#include <pthread.h>

/* The number of processors this thread may run on, at least 1. */
unsigned wndl_workers_cores(void);

/*
 * Calls work(context, index) on up to `wanted` threads at a time, including the
 * caller's, once on each. Indices count from 0. There are fewer workers if
 * threads are not available, but at least one. Signals are blocked in all but
 * the caller's. Returns when all have.
 */
void wndl_workers_run(unsigned wanted,
    void (*work)(void *context, unsigned index), void *context);

/* Makes `real`, which need not be for several threads, usable by several. */
struct wndl_shared_mem {
    struct wndl_mem mem; /* first: a wndl_mem is cast back */
    struct wndl_mem *real;
    pthread_mutex_t lock;
};

void wndl_shared_mem_init(
    struct wndl_shared_mem *shared, struct wndl_mem *real);

#endif
