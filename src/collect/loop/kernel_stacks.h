/* SPDX-License-Identifier: MIT */
/*
 * kernel_stacks: what the kernel does for recorded processes, by a perf event
 * beside theirs: its samples come through rings (collect/attach), with the
 * stack inside of the kernel. Where the user may not have such events, or not
 * see the kernel's addresses, there are none.
 *
 * The event is one of each CPU, for all processes of the machine, and samples
 * of others are dropped here: an event that processes inherit would cost each
 * of them the start and the end of one for each CPU.
 *
 * A recording has addresses from the start of the kernel's code on, not those
 * in memory, and names at its end and for each dump.
 */
#ifndef WNDL_COLLECT_LOOP_KERNEL_STACKS_H
#define WNDL_COLLECT_LOOP_KERNEL_STACKS_H

#include "collect/attach/attach.h"
#include "collect/loop/run.h"
#include "collect/offcpu/spans.h"

struct wndl_kernel_stacks {
    struct wndl_run *run;
    struct wndl_attach attach;
    struct wndl_offcpu_tree tree;
    struct wndl_arena arena;
    struct wndl_map pids;      /* recorded processes, of all times */
    struct wndl_map known;     /* addresses that are in the next */
    struct wndl_vec addresses; /* uint64_t, of bytes that ran */
    struct wndl_buf samples;   /* that are not written yet */
    uint64_t text;             /* where the kernel's code begins */
    uint64_t first, last;      /* times of the samples that are not written */
    uint32_t count;            /* number of these */
    uint32_t image;            /* index of the kernel's image + 1 */
    bool is_open;
};

/* Opens the events, if the engine is PERF. */
void wndl_kernel_stacks_open(
    struct wndl_kernel_stacks *kernel, struct wndl_run *run);

/* The process is recorded from now on. Without memory it has no stacks here. */
void wndl_kernel_stacks_know(struct wndl_kernel_stacks *kernel, pid_t pid);

/*
 * Writes the samples that are there, unless they are few: their names would
 * cost more than they are worth. `last`: those of the last moment, too. All
 * functions ignore one that is not open.
 */
void wndl_kernel_stacks_take(struct wndl_kernel_stacks *kernel, bool last);

void wndl_kernel_stacks_pause(struct wndl_kernel_stacks *kernel, bool paused);

/* After fork(2), in the child that goes on with the recording. */
void wndl_kernel_stacks_take_over(struct wndl_kernel_stacks *kernel);

/* Writes the names of all that was written so far, for who reads it now. */
void wndl_kernel_stacks_name(struct wndl_kernel_stacks *kernel);

/* Writes the rest, and the names. */
void wndl_kernel_stacks_finish(struct wndl_kernel_stacks *kernel);

void wndl_kernel_stacks_close(struct wndl_kernel_stacks *kernel);

#endif
