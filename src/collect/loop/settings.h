/* SPDX-License-Identifier: MIT */
/* settings: the request of a recording, as recorded processes get it. */
#ifndef WNDL_COLLECT_LOOP_SETTINGS_H
#define WNDL_COLLECT_LOOP_SETTINGS_H

#include "collect/loop/collector.h"
#include "rec/shm.h"

/* Fills them in, for a process that has no limits of its own. */
void wndl_settings_fill(struct wndl_settings *settings,
    const struct wndl_collector_request *request);

/*
 * Chooses how much memory the counts of a process's heap may take. `wide`: its
 * addresses have 64 bits.
 */
void wndl_settings_choose_room(
    struct wndl_collector_heap_request *heap, pid_t pid, bool wide);

#endif
