/* SPDX-License-Identifier: MIT */
/*
 * memory_socket: the sockets at which a process answers for its memory
 * reporters (windlass/memory_serve.h).
 */
#ifndef WNDL_OS_MEMORY_SOCKET_H
#define WNDL_OS_MEMORY_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

/* A process may have so many, from 0 on. */
enum { WNDL_MEMORY_SOCKETS = 8 };

/* Wishes of a question, which is "windlass-memory 1 WISHES MS\n". */
enum {
    WNDL_ASK_BUILT_IN = 1, /* what is known without reporters, too */
    WNDL_ASK_IN_COPY = 2,
    WNDL_ASK_MARKED = 4,  /* for the heap recorder */
    WNDL_ASK_NEW_RUN = 8, /* the first of those */
};

/*
 * Connects to socket `name` of process `pid`, from within its network
 * namespace. -1: it has none, or *is_busy is set because its queue was full.
 * The caller closes the descriptor, which does not block.
 */
int wndl_memory_socket_connect(pid_t pid, unsigned name, bool *is_busy);

/* Whether the process is in the caller's network namespace, or is gone. */
bool wndl_memory_socket_is_near(pid_t pid);

#endif
