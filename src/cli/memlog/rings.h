/* SPDX-License-Identifier: MIT */
/* rings: the memory event logs of this user, read into one. */
#ifndef WNDL_CLI_MEMLOG_RINGS_H
#define WNDL_CLI_MEMLOG_RINGS_H

#include "model/event_log.h"

enum { WNDL_RINGS_FOLDERS = 3 };

struct wndl_rings {
    struct wndl_event_log log;
    bool is_quiet;        /* says nothing about files that are left out */
    const uint32_t *only; /* these processes, in order; NULL: any */
    size_t only_count;
    bool failed; /* no memory */
};

/* Ends with wndl_rings_free. */
void wndl_rings_init(struct wndl_rings *rings);
void wndl_rings_free(struct wndl_rings *rings);

/*
 * Reads all logs of the folders, those of dead processes too; with `pid` != 0
 * that of one process. Files that are not the user's alone are left out, with
 * a note.
 */
void wndl_rings_read_all(struct wndl_rings *rings, uint32_t pid);

/* Whether there is a log in the folders, whosoever. */
bool wndl_rings_exist(void);

/* Reads a file that the user named. False: said why. */
bool wndl_rings_read_file(struct wndl_rings *rings, const char *path);

/* Whether the process that wrote a log still runs. */
bool wndl_ring_is_alive(const struct wndl_memlog_ring *ring);

#endif
