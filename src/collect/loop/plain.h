/* SPDX-License-Identifier: MIT */
/*
 * plain: executables whose processes needed no table of the collector's at
 * their start. To find that out takes as long as the rest of an answer, and a
 * script starts the same few again and again. A table that such a process needs
 * after all comes with one of the next drains.
 */
#ifndef WNDL_COLLECT_LOOP_PLAIN_H
#define WNDL_COLLECT_LOOP_PLAIN_H

#include "collect/process/process.h"

enum { WNDL_PLAIN_ROWS = 64 };

/* An executable is a file as it was; `device` 0: none. */
struct wndl_plain {
    struct wndl_plain_row {
        dev_t device;
        ino_t inode;
        uint64_t modified;
        uint32_t made; /* number of tables that there were */
    } rows[WNDL_PLAIN_ROWS];
};

/* After `p` was given the tables that it needs, of `made`. */
void wndl_plain_learn(struct wndl_plain *plain,
    const struct wndl_collector_process *p, uint32_t made);

/* Whether `p`, which has just started, needs none of `made`. */
bool wndl_plain_has(const struct wndl_plain *plain,
    const struct wndl_collector_process *p, uint32_t made);

#endif
