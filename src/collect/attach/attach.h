/* SPDX-License-Identifier: MIT */
/*
 * attach: the samples of processes that run already, by perf events, through
 * rings that the kernel fills: one for each CPU. It must not know stacks.
 */
#ifndef WNDL_COLLECT_ATTACH_ATTACH_H
#define WNDL_COLLECT_ATTACH_ATTACH_H

#include "collect/attach/targets.h"

struct wndl_attach {
    struct wndl_attach_targets targets;
    struct wndl_attach_ring *rings;
    size_t ring_count;
    bool is_enabled;
};

/*
 * Opens a ring for each CPU. Returns 0, or the errno for which there can be no
 * samples. `event` is copied; its `leaves_out_kernel` is found out. On success
 * it ends with wndl_attach_close; zeroed memory may be closed too.
 */
int wndl_attach_open(
    struct wndl_attach *attach, const struct wndl_attach_event *event);
void wndl_attach_close(struct wndl_attach *attach);

/*
 * After fork(2), in the child: rings are not inherited, and are mapped anew.
 * False, with errno: there are no more samples.
 */
bool wndl_attach_remap(struct wndl_attach *attach);

/* Adds all threads of a process: targets.h. Returns 0, or an errno. */
int wndl_attach_add(struct wndl_attach *attach, pid_t pid);

/* Adds all threads of the machine: targets.h. Returns 0, or an errno. */
int wndl_attach_add_all(struct wndl_attach *attach);

/* Begins to sample, or pauses. */
void wndl_attach_switch(struct wndl_attach *attach, bool enabled);

/*
 * Takes the records that are there, in the order of time. Those of the last
 * moment wait, as another CPU may yet have earlier ones, unless `last`. `take`
 * gets them one by one, and `context`.
 */
void wndl_attach_take(struct wndl_attach *attach, bool last,
    void (*take)(void *context, const struct wndl_attach_record *record),
    void *context);

#endif
