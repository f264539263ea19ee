/* SPDX-License-Identifier: MIT */
/*
 * lost: the stacks of a process that ended in code without rules. Such code
 * makes its binary wanted (collect/code/binaries.h). A sample whose stack the
 * process has copied waits here until the table has come, and is walked again
 * then. It is written once the process has ended, as part of a stack tree that
 * goes on after the process's own; or at once, as it was, if no table helps.
 *
 * One thread. What memory lacks for stays lost.
 */
#ifndef WNDL_COLLECT_PROCESS_LOST_H
#define WNDL_COLLECT_PROCESS_LOST_H

#include "base/bytes.h"
#include "rec/shm.h"

#include <sys/types.h>
#include <windlass/unwind.h>

struct wndl_binaries;
struct wndl_collector_totals;
struct wndl_lost;
struct wndl_offcpu_code;
struct wndl_recording;

/* The stacks of all processes that are lost. */
struct wndl_lost_shared {
    struct wndl_binaries *binaries;
    struct wndl_recording *recording;
    struct wndl_collector_totals *totals;
    enum wndl_walk_method method;
    struct wndl_frame *frames;
    size_t max_frames;
    uint64_t bytes;          /* of the copies that wait */
    uint32_t held;           /* samples that wait, or are not written yet */
    struct wndl_lost *ended; /* those of processes that have ended */
};

/* Makes it empty; `max_frames` is 1 to WNDL_FRAMES_MAX. */
void wndl_lost_shared_init(struct wndl_lost_shared *shared,
    struct wndl_recording *recording, struct wndl_collector_totals *totals);

/*
 * From now on, modules are known, and lost stacks are kept if the binaries
 * follow code. Borrows the binaries.
 */
void wndl_lost_shared_begin(struct wndl_lost_shared *shared,
    struct wndl_binaries *binaries, uint32_t unwind, uint32_t max_frames);

/* Frees it, with what still waits. */
void wndl_lost_shared_free(struct wndl_lost_shared *shared);

/*
 * Waits for the tables that stacks of ended processes need, for some seconds at
 * most, and writes these stacks.
 */
void wndl_lost_finish(struct wndl_lost_shared *shared);

/* Walks the stacks of ended processes for which tables have come. */
void wndl_lost_take_tables(struct wndl_lost_shared *shared);

/* The process: its number in the recording, its block and its code. */
struct wndl_lost_owner {
    uint32_t process;
    pid_t pid;
    struct wndl_shm *shm;               /* NULL: it is recorded from outside */
    const struct wndl_shm_copy *copies; /* of the block; NULL: it has none */
};

/* NULL if nothing is kept, or memory is out. */
struct wndl_lost *wndl_lost_new(
    struct wndl_lost_shared *shared, const struct wndl_lost_owner *owner);
void wndl_lost_free(struct wndl_lost *lost);

/* Reads which modules are mapped, if they may have changed. */
const struct wndl_offcpu_code *wndl_lost_look(
    struct wndl_lost *lost, bool has_changed);

/* The modules that somebody else has read. */
void wndl_lost_take_code(
    struct wndl_lost *lost, const struct wndl_offcpu_code *code);

/* The image has gone: from now on, nothing is read by its pid. */
void wndl_lost_leave(struct wndl_lost *lost);

/* Modules were mapped since. */
void wndl_lost_modules_changed(struct wndl_lost *lost);

/* A stack has code at `address` that may lack rules. */
void wndl_lost_meet(struct wndl_lost *lost, uint64_t address);

/* A sample, as it is if its stack stays lost. */
struct wndl_lost_sample {
    uint64_t time, cpu;
    uint32_t thread; /* its number in the recording */
    uint32_t node;
    uint32_t end;
};

/*
 * Takes the copy number `copy` - 1 out of the block. True if the sample waits
 * now; else the caller writes it.
 */
bool wndl_lost_keep(struct wndl_lost *lost,
    const struct wndl_lost_sample *sample, uint32_t copy);

/*
 * The same for a stack that the kernel has copied from the stack pointer up.
 * regs->gregs are x86-64's.
 */
bool wndl_lost_keep_stack(struct wndl_lost *lost,
    const struct wndl_lost_sample *sample, const struct wndl_regs *regs,
    struct wndl_bytes stack);

/* Walks the stacks for which tables have come; writes those that stay lost. */
void wndl_lost_try(struct wndl_lost *lost);

/*
 * The process has ended, with so many nodes. Takes over `lost`, and forgets the
 * block.
 */
void wndl_lost_end(struct wndl_lost *lost, uint32_t nodes);

#endif
