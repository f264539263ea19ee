/* SPDX-License-Identifier: MIT */
/* Asked of the compiler, not built: is there a libc to build a runtime on? */
#include <link.h>
#include <pthread.h>
#include <signal.h>

extern int wndl_can_build_runtime(pthread_t *thread);

int wndl_can_build_runtime(pthread_t *thread)
{
    struct sigaction action;
    struct dl_find_object found;
    return pthread_create(thread, NULL, NULL, NULL) + (int)sizeof found +
           sigaction(SIGTRAP, NULL, &action);
}
