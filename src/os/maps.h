/* SPDX-License-Identifier: MIT */
/*
 * maps: reads /proc/PID/maps line by line (proc_pid_maps(5)). Signal-safe: bare
 * system calls, the caller's memory, no allocation.
 */
#ifndef WNDL_OS_MAPS_H
#define WNDL_OS_MAPS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct wndl_mapping {
    uint64_t start, end; /* avma */
    uint64_t offset;     /* into the file */
    uint64_t inode;      /* 0 for no file */
    bool readable, writable, executable;
    struct wndl_bytes path; /* as printed: "[stack]", "/x (deleted)", empty */
};

/*
 * Reads the line at the cursor and its newline; the last line may lack one.
 * False at the end of the bytes, and for a line that is not of this format:
 * then the cursor has failed.
 */
bool wndl_maps_line(struct wndl_cursor *c, struct wndl_mapping *mapping);

/*
 * Calls `visit` for each mapping in the file `path` ("/proc/self/maps"), until
 * it returns false. `room` is the read buffer. A line that does not fit is
 * skipped: at least 512 bytes are needed, and PATH_MAX + 128 to lose none.
 * False if the file cannot be read, or not to its end. The mapping's path is
 * valid until visit returns.
 */
bool wndl_maps_each(const char *path, struct wndl_bytes room,
    bool (*visit)(void *context, const struct wndl_mapping *mapping),
    void *context);

/*
 * Calls `visit` with whole lines of a file of this kind, such as
 * "/proc/self/smaps", until it returns false. The rest is as above.
 */
bool wndl_maps_lines(const char *path, struct wndl_bytes room,
    bool (*visit)(void *context, struct wndl_bytes lines), void *context);

#endif
