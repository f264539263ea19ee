/* SPDX-License-Identifier: MIT */
/*
 * follow: reads a recording while it is written: each call adds what the file
 * got since the last one.
 */
#ifndef WNDL_WNDL_FOLLOW_H
#define WNDL_WNDL_FOLLOW_H

#include "base/buf.h"
#include "wndl/reader.h"

struct wndl_follower {
    struct wndl_reader reader;
    struct wndl_buf rest; /* bytes of the file that are not yet read */
    uint64_t offset;      /* in the file, of the bytes after `rest` */
    bool begun;           /* the file's header is read */
};

/*
 * Makes a follower of an empty recording for `p`, which wndl_profile_init made
 * and which outlives it. Must not move. False when memory is out. Ends with
 * wndl_follower_free, even then.
 */
bool wndl_follower_init(struct wndl_follower *f, struct wndl_profile *p);
void wndl_follower_free(struct wndl_follower *f);

/*
 * Adds the chunks that the file `fd` got, up to the first that is not whole
 * yet. Ends of processes and threads that are not in the file stay 0, and
 * counts by walk end are not made. Damage is counted as by wndl_reader_read.
 * Fails as that does, and with IO.
 */
enum wndl_status wndl_follower_read(
    struct wndl_follower *f, int fd, struct wndl_error *err) WNDL_MUST_USE;

#endif
