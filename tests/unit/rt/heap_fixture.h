/* SPDX-License-Identifier: MIT */
/* heap_fixture: random numbers and threads for tests of the heap's tables. */
#ifndef WNDL_TESTS_HEAP_FIXTURE_H
#define WNDL_TESTS_HEAP_FIXTURE_H

#include "testlib.h"

#include <pthread.h>

enum { THREADS = 4 };

static inline uint64_t next_random(uint64_t *random)
{
    *random =
        *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

/* Runs `work` in THREADS threads, each with its number from 1 on as argument;
 * it returns NULL if all went well. */
static inline void run_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}

#endif
