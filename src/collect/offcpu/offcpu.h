/* SPDX-License-Identifier: MIT */
/*
 * offcpu: the blocked and waiting times of a process's threads, read from
 * outside: no signal is sent, no call is interrupted. The kernel reports where
 * a thread is blocked (proc_pid_syscall(5)); its stack is read with
 * process_vm_readv(2) and unwound here. The thread's schedstat has its running
 * and waiting times. A thread that does not move is read less and less often.
 *
 * It also finds threads that the runtime does not know (bare clone), and thread
 * names.
 */
#ifndef WNDL_COLLECT_OFFCPU_OFFCPU_H
#define WNDL_COLLECT_OFFCPU_OFFCPU_H

#include "collect/offcpu/shared.h"
#include "collect/offcpu/threads.h"

#include <sys/types.h>

enum { WNDL_OFFCPU_INTERVAL_NS = 10 * 1000 * 1000 };

/* The state for one process image. */
struct wndl_offcpu;

/*
 * Makes the state. `threads`, `shared` and *jit outlive it. *jit is the address
 * of the process's registry of generated code, as the process reports it, or 0;
 * `jit` may be NULL. NULL when memory is out.
 */
struct wndl_offcpu *wndl_offcpu_new(pid_t pid,
    struct wndl_collector_threads *threads, struct wndl_offcpu_shared *shared,
    const _Atomic uint64_t *jit);

/*
 * Reads the threads that are due and writes the blocks that have ended. Returns
 * when the next turn is due. CLOCK_MONOTONIC ns.
 */
uint64_t wndl_offcpu_turn(struct wndl_offcpu *offcpu, uint64_t now);

/* Notes that the process's modules have changed since the last turn. */
void wndl_offcpu_modules_changed(struct wndl_offcpu *offcpu);

/* Pauses or resumes: what happens in a pause is not recorded. */
void wndl_offcpu_pause(struct wndl_offcpu *offcpu, bool paused, uint64_t now);

/* Writes all blocks up to now, and the parts so far of those that go on. */
void wndl_offcpu_settle(struct wndl_offcpu *offcpu, uint64_t now);

/*
 * The process has ended: writes its last blocks and frees the state. To be
 * called after the last drain, since the rings know better how threads ended,
 * and before the chunk of the process's end.
 */
void wndl_offcpu_end(struct wndl_offcpu *offcpu, uint64_t now);

#endif
