/* SPDX-License-Identifier: MIT */
/*
 * crew: the same work by several threads, which are made and joined within
 * the call.
 */
#ifndef WNDL_BASE_CREW_H
#define WNDL_BASE_CREW_H

#include "base/mem.h"

#include <pthread.h>

/* How many processors this thread may run on, at least 1. */
unsigned wndl_crew_cores(void);

/*
 * Calls work(context, member) by up to `wanted` threads at a time, the
 * caller's among them, once by each; the members are 0 and up, and there may
 * be fewer of them, when threads cannot be had, but never none. Signals are
 * blocked in all but the caller's. Returns when all have.
 */
void wndl_crew_run(unsigned wanted,
    void (*work)(void *context, unsigned member), void *context);

/* Memory of `real`, which need not be for several threads, for several. */
struct wndl_shared_mem {
    struct wndl_mem mem; /* first: a wndl_mem is cast back */
    struct wndl_mem *real;
    pthread_mutex_t lock;
};

void wndl_shared_mem_init(
    struct wndl_shared_mem *shared, struct wndl_mem *real);

#endif
