/* SPDX-License-Identifier: MIT */
/*
 * A test for the compiler, which is not built: is there a libc for a runtime?
 */
#include <link.h>
#include <pthread.h>
#include <signal.h>

extern int wndl_can_build_runtime(pthread_t *thread, void *(*run)(void *));

int wndl_can_build_runtime(pthread_t *thread, void *(*run)(void *))
{
    struct sigaction action;
    return pthread_create(thread, NULL, run, NULL) +
           sigaction(SIGTRAP, NULL, &action);
}
