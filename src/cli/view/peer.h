/* SPDX-License-Identifier: MIT */
/* peer: whose connection it is that comes over the loopback device. */
#ifndef WNDL_CLI_VIEW_PEER_H
#define WNDL_CLI_VIEW_PEER_H

#include <stdbool.h>

/*
 * Whether the other end of `fd`, a connection over IPv4 within this machine,
 * may be this user's: false if the kernel lists it as another user's, other
 * than root.
 */
bool wndl_peer_is_ours(int fd);

#endif
