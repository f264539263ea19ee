/* SPDX-License-Identifier: MIT */
/*
 * environment: the variables that make a process recorded. They are LD_PRELOAD
 * with this object and WINDLASS_SESSION. They are kept from the start of the
 * process, and given to programs that it starts with an environment of its own
 * making.
 */
#ifndef WNDL_RT_CORE_ENVIRONMENT_H
#define WNDL_RT_CORE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Keeps the entry of LD_PRELOAD that names this object, as it is written there.
 * Call it once, at the start of the process.
 */
void wndl_rt_environment_start(char *const environment[]);

/*
 * Keeps the path of the session's socket, a copy. Returns the kept path, or
 * NULL if it is too long for a socket.
 */
const char *wndl_rt_environment_join(const char *session);

/*
 * The assignment "WINDLASS_SESSION=..." with the kept path. It lives as long as
 * the process.
 */
char *wndl_rt_environment_session(void);

/* The variables that an environment lacks. None if `size` is 0. */
struct wndl_rt_addition {
    size_t count;      /* number of variables in the environment */
    size_t preload_at; /* index of LD_PRELOAD; `count` if it is absent */
    const char *list;  /* its value */
    size_t list_size;
    bool preload, session;
    size_t size; /* bytes of room for the new environment */
};

/*
 * Compares `environment` (NULL for none) with the needs of a recorded child.
 * This and the next: any thread, signal-safe, also in a child of vfork.
 */
struct wndl_rt_addition wndl_rt_environment_lacks(char *const environment[]);

/*
 * Makes the environment with the additions. It is in `room`, and borrows from
 * the old one.
 */
char *const *wndl_rt_environment_add(char *const environment[],
    const struct wndl_rt_addition *addition, void *room);

/*
 * Makes the environment of a new program on the caller's stack, because a child
 * of vfork must leave no other memory changed.
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
