/* SPDX-License-Identifier: MIT */
/* read_parts: reads memory of the program that may be unreadable. */
#ifndef WNDL_RT_CORE_READ_PARTS_H
#define WNDL_RT_CORE_READ_PARTS_H

#include <stddef.h>
#include <sys/uio.h>

/*
 * Copies `parts`, one after the other, up to the first byte that cannot be read
 * or the end of the room. Returns the number of bytes. Signal-safe.
 */
size_t wndl_rt_read_parts(
    void *to, size_t room, const struct iovec *parts, size_t count);

#endif
