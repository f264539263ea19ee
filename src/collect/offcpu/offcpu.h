/* SPDX-License-Identifier: MIT */
/*
 * offcpu: what the threads of a process do while they do not run, seen from
 * outside: no signal is sent, no call of theirs is interrupted. Where a thread
 * is blocked the kernel tells (proc_pid_syscall(5)); its stack is read with
 * process_vm_readv(2) and unwound here. How long it ran and waited for a CPU
 * is in its schedstat. A thread that stays where it is is looked at less and
 * less often.
 *
 * Also where threads are found that nothing in the process told of (bare
 * clone), and their names.
 */
#ifndef WNDL_COLLECT_OFFCPU_OFFCPU_H
#define WNDL_COLLECT_OFFCPU_OFFCPU_H

#include "collect/offcpu/shared.h"
#include "collect/offcpu/threads.h"

#include <sys/types.h>

enum { WNDL_OFFCPU_INTERVAL_NS = 10 * 1000 * 1000 };

/* Of one process image. */
struct wndl_offcpu;

/*
 * `threads`, `shared` and *jit outlive it. `jit`, if not NULL, holds
 * where the process has its registry of generated code, as it says; or 0. NULL
 * when memory is out.
 */
struct wndl_offcpu *wndl_offcpu_new(pid_t pid,
    struct wndl_collector_threads *threads, struct wndl_offcpu_shared *shared,
    const _Atomic uint64_t *jit);

/*
 * Looks at the threads whose time has come and writes what came to an end.
 * Returns when to come again. Times are CLOCK_MONOTONIC ns.
 */
uint64_t wndl_offcpu_turn(struct wndl_offcpu *offcpu, uint64_t now);

/* Modules of the process are known to be others than at the last turn. */
void wndl_offcpu_modules_changed(struct wndl_offcpu *offcpu);

/*
 * Sampling was paused, or goes on: what happens meanwhile is not recorded.
 */
void wndl_offcpu_pause(struct wndl_offcpu *offcpu, bool paused, uint64_t now);

/* Writes what is known up to now, of blocks that go on too. */
void wndl_offcpu_settle(struct wndl_offcpu *offcpu, uint64_t now);

/*
 * The process has ended: writes what is known of the last blocks; frees. After
 * the last drain (the rings know better how threads ended), before the chunk
 * that tells the end of the process.
 */
void wndl_offcpu_end(struct wndl_offcpu *offcpu, uint64_t now);

#endif
