/* SPDX-License-Identifier: MIT */
/*
 * environment: what makes a process recorded, LD_PRELOAD with this object and
 * WINDLASS_SESSION, kept from the start of the process and given to the
 * programs that it starts with an environment of their own making.
 */
#ifndef WNDL_RT_CORE_ENVIRONMENT_H
#define WNDL_RT_CORE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Keeps the entry of LD_PRELOAD that names this object, as it is written
 * there. At the start of the process, once.
 */
void wndl_rt_environment_start(char *const environment[]);

/*
 * Keeps the path of the session's socket. Returns the kept path, or NULL when
 * it is too long for one. `environment.c` is done with the argument then.
 */
const char *wndl_rt_environment_join(const char *session);

/*
 * "WINDLASS_SESSION=..." of the kept path. Lives as long as the process.
 */
char *wndl_rt_environment_session(void);

/* What has to be added to an environment, none of it when `size` is 0. */
struct wndl_rt_addition {
    size_t count;      /* variables there */
    size_t preload_at; /* of LD_PRELOAD; `count` when it is not there */
    const char *list;  /* its value */
    size_t list_size;
    bool preload, session;
    size_t size; /* bytes of room that the new one takes */
};

/*
 * Compares `environment` (NULL for none) to what a recorded child needs.
 * Both: any thread, signal-safe, also in a child of vfork.
 */
struct wndl_rt_addition wndl_rt_environment_lacks(char *const environment[]);

/* The environment with what it lacks, in `room`, which borrows from it. */
char *const *wndl_rt_environment_add(char *const environment[],
    const struct wndl_rt_addition *addition, void *room);

/*
 * The environment for a new program, on the caller's stack: a child of vfork
 * must leave no other memory behind.
 */
#define WNDL_RT_ENVIRONMENT(result, environment)                               \
    do {                                                                       \
        struct wndl_rt_addition lacks_ =                                       \
            wndl_rt_environment_lacks(environment);                            \
        (result) = (environment);                                              \
        if (lacks_.size != 0)                                                  \
            (result) = wndl_rt_environment_add(                                \
                environment, &lacks_, __builtin_alloca(lacks_.size));          \
    } while (0)

#endif
