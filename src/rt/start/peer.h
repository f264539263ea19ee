/* SPDX-License-Identifier: MIT */
/*
 * peer: whether who answers at the session's socket may record this process,
 * and whether the memory that it passes can be mapped safely. Anybody may have
 * made a socket, if the path was one that others could write to.
 */
#ifndef WNDL_RT_START_PEER_H
#define WNDL_RT_START_PEER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the listener of this socket is root, or a user that we are. */
bool wndl_rt_peer_may_record(int socket);

/*
 * Whether the memory, mapped at `block`, has `size` bytes, and a seal that
 * keeps them: a page that went away would end the process with SIGBUS.
 */
bool wndl_rt_block_is_whole(int memfd, const void *block, size_t size);

#endif
