/* SPDX-License-Identifier: MIT */
/*
 * collector_process: a recorded process image as the collector sees it, and
 * how what it left in shared memory gets into the recording. It must not know
 * of sockets and events.
 *
 * The shared block is foreign memory: its writer shares it with a program
 * that may scribble over it.
 */
#ifndef WNDL_COLLECT_PROCESS_PROCESS_H
#define WNDL_COLLECT_PROCESS_PROCESS_H

#include "collect/code/unlisted_code.h"
#include "collect/offcpu/offcpu.h"
#include "collect/offcpu/threads.h"
#include "collect/process/heap.h"
#include "rec/event.h"
#include "rec/shm.h"
#include "wndl/write.h"

#include <sys/types.h>

enum {
    WNDL_WALK_END_COUNT = 8, /* enum wndl_walk_end */
    WNDL_FRAMES_BY = 8,      /* enum wndl_frame_how */
};

/* Of the whole recording. */
struct wndl_collector_totals {
    uint64_t samples;
    uint64_t cpu; /* ns that they stand for */
    uint64_t ends[WNDL_WALK_END_COUNT];
    uint64_t lost[WNDL_LOSS_REASONS];
    uint64_t frames_by[WNDL_FRAMES_BY];
    uint64_t interrupted_calls;
    uint64_t damaged; /* contents that were impossible and given up */
    struct wndl_collector_heap_totals heap;
    uint32_t processes;
    uint32_t threads;
    uint32_t unrecorded;
};

/* A ring's reading end. `tid` 0: no thread has been announced in it. */
struct wndl_collector_ring {
    uint64_t tail;
    uint64_t time; /* of the last SAMPLE or THREAD event */
    uint32_t tid;
    uint32_t thread; /* index in the recording, of `tid` */
};

struct wndl_collector_process {
    struct wndl_recording *recording;
    struct wndl_collector_totals *totals;
    struct wndl_shm *shm; /* NULL: it is only seen from outside */
    struct wndl_stackreader tree;
    pid_t pid;
    dev_t device; /* of the executable, as is `inode`; 0: not known */
    ino_t inode;
    uint32_t index;
    uint32_t generation;
    uint32_t nodes;        /* written */
    uint32_t module_count; /* rows of the list */
    uint32_t starts;       /* of the block's: looked at so far */
    uint32_t modules_done; /* rows below have all been taken over */
    bool gone;             /* replaced by an image that is not recorded */
    bool paused;
    bool debugged;
    bool emulated;    /* its addresses are not those that are seen outside */
    int pid_fd;       /* readable when the process has ended */
    int event_fd;     /* keeps the sampling going; -1 */
    char *executable; /* PATH_MAX bytes each */
    char *directory;
    struct wndl_collector_threads threads;
    struct wndl_unlisted_code unlisted;
    struct wndl_offcpu *offcpu; /* NULL: blocked threads are not looked at */
    struct wndl_collector_heap *heap;  /* NULL: it is not recorded */
    uint32_t images[WNDL_SHM_MODULES]; /* index + 1, 0: not taken */
    struct wndl_collector_ring rings[WNDL_SHM_THREADS];
};

/*
 * A new process image `pid`, announced in the recording as number
 * totals->processes, with a block of shared memory whose descriptor is put
 * into *memfd for the caller to close; without one if `memfd` is NULL. Its
 * heap is recorded as `heap` says. NULL, with errno, when that cannot be had.
 */
struct wndl_collector_process *wndl_collector_process_new(
    struct wndl_recording *recording, struct wndl_collector_totals *totals,
    const struct wndl_recording_process *origin,
    const struct wndl_collector_heap_request *heap, int *memfd);

/*
 * Moves what is there into the recording. `last` is said once the process no
 * longer writes: then nothing is left for later.
 */
void wndl_collector_process_drain(struct wndl_collector_process *p, bool last);

/* Moves modules and nodes of stacks only; `last` as above. */
void wndl_collector_process_take_stacks(
    struct wndl_collector_process *p, bool last);

/* What else is in the block can be anything if the tree's header is not as it
 * was made: that counts as damage. */
bool wndl_collector_process_is_intact(struct wndl_collector_process *p);

/* The same as take_stacks, of a block that is intact. */
void wndl_collector_process_take_intact(
    struct wndl_collector_process *p, bool last);

/* Notes its working directory, if it is still there to be asked. */
void wndl_collector_process_look(struct wndl_collector_process *p);

/* Whether the process runs another executable than when it was announced. */
bool wndl_collector_process_replaced(const struct wndl_collector_process *p);

/* Nothing of it is recorded for a while, or again. */
void wndl_collector_process_pause(
    struct wndl_collector_process *p, bool paused);

/* A debugger would stop it at each sample of the perf engine. */
void wndl_collector_process_debugged(
    struct wndl_collector_process *p, bool debugged);

/* Drains for the last time, announces the end and gives back the block. */
void wndl_collector_process_end(
    struct wndl_collector_process *p, enum wndl_process_end how);

/* After the end. */
void wndl_collector_process_free(struct wndl_collector_process *p);

#endif
