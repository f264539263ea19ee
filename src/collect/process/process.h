/* SPDX-License-Identifier: MIT */
/*
 * collector_process: a recorded process image on the collector's side. It moves
 * the data in its shared memory into the recording. It must not know of sockets
 * and events.
 *
 * The shared block is foreign memory: its writer shares it with a program that
 * may scribble over it.
 */
#ifndef WNDL_COLLECT_PROCESS_PROCESS_H
#define WNDL_COLLECT_PROCESS_PROCESS_H

#include "collect/code/made_tables.h"
#include "collect/code/unlisted_code.h"
#include "collect/offcpu/offcpu.h"
#include "collect/offcpu/threads.h"
#include "collect/process/block.h"
#include "collect/process/heap.h"
#include "collect/process/lost.h"
#include "rec/event.h"
#include "rec/shm.h"
#include "wndl/write.h"

#include <sys/types.h>

enum {
    WNDL_WALK_END_COUNT = 8, /* enum wndl_walk_end */
    WNDL_FRAMES_BY = 8,      /* enum wndl_frame_how */
};

/* Totals of the whole recording. */
/* Stops of running threads, for their stacks. */
struct wndl_collector_stops {
    uint64_t count;
    uint64_t ns, longest; /* for which they stood still: of all, of one */
    uint64_t refused;     /* stops that the kernel refused */
    int refused_errno;    /* of the last of those */
};

struct wndl_collector_totals {
    uint64_t samples;
    uint64_t cpu; /* ns that the samples stand for */
    uint64_t ends[WNDL_WALK_END_COUNT];
    uint64_t lost[WNDL_LOSS_REASONS];
    uint64_t frames_by[WNDL_FRAMES_BY];
    uint64_t cut; /* stacks longer than the copies that samples have */
    uint64_t interrupted_calls;
    uint64_t damaged; /* impossible contents, which were given up */
    struct wndl_collector_heap_totals heap;
    struct wndl_collector_stops stops;
    uint32_t processes;
    uint32_t threads;
    uint32_t unrecorded;
};

/* The reading end of a ring. `tid` 0: no thread has been announced in it. */
struct wndl_collector_ring {
    uint64_t tail;
    uint64_t time; /* of the last SAMPLE or THREAD event */
    uint32_t tid;
    uint32_t thread; /* index in the recording, of `tid` */
};

struct wndl_attached;

struct wndl_collector_process {
    struct wndl_recording *recording;
    struct wndl_collector_totals *totals;
    struct wndl_shm *shm; /* NULL: it is only sampled from outside */
    size_t shm_size;      /* bytes mapped at `shm` */
    struct wndl_stackreader tree;
    struct wndl_binaries *binaries; /* of all processes; NULL: not known */
    struct wndl_buf guessed; /* callers.h; a bit for each node of `tree` */
    pid_t pid;
    dev_t device; /* of the executable, as are the next two; 0: not known */
    ino_t inode;
    uint64_t modified; /* ns */
    uint32_t index;
    uint32_t generation;
    uint64_t cpu_before;   /* ns, of the images before; WNDL_CPU_UNKNOWN */
    uint32_t nodes;        /* number of nodes that are written */
    uint32_t module_count; /* rows of the module list */
    uint32_t modules_come; /* the block's count that was last handled */
    char *command;         /* arguments, until it is announced; or NULL */
    size_t command_size;
    uint64_t title;      /* hash of its command line, as recorded */
    uint64_t next_title; /* of that which was last read */
    uint64_t titled;     /* when that was last read */
    uint32_t starts;     /* the block's count of starts that was last handled */
    uint32_t modules_done;  /* all rows below this one have been announced */
    uint32_t modules_given; /* rows when `made` was last brought up to date */
    uint32_t made_given;    /* tables that there were then */
    struct wndl_made_tables made;
    uint16_t machine; /* EM_*, as its runtime says; 0: it has none */
    bool gone;        /* replaced by an image that is not recorded */
    bool is_past;     /* the image had been replaced when it was adopted */
    bool maps_ended;  /* its map has become empty: it has ended */
    bool paused;
    bool debugged;
    bool silent;   /* it records nothing any more, and that is reported */
    bool emulated; /* its addresses are not those that are seen outside */
    int pid_fd;    /* readable after the process has ended */
    int event_fd;  /* keeps the sampling alive; -1: none */
    char *executable;
    char *directory;
    struct wndl_collector_threads threads;
    struct wndl_unlisted_code unlisted;
    struct wndl_lost *lost;         /* NULL: no lost stacks are kept */
    struct wndl_offcpu *offcpu;     /* NULL: blocked threads are not read */
    struct wndl_attached *attached; /* NULL: no perf events from outside */
    uint64_t dropped;               /* samples from outside that had no room */
    struct wndl_collector_heap *heap;  /* NULL: the heap is not recorded */
    uint32_t images[WNDL_SHM_MODULES]; /* index + 1; 0: not announced */
    struct wndl_collector_ring rings[WNDL_SHM_THREADS];
};

/*
 * A new process image `pid`, which will be number totals->processes in the
 * recording. It has a block of shared memory, whose descriptor goes into *memfd
 * for the caller to close; none if `memfd` is NULL. `heap` says how its heap is
 * recorded. NULL, with errno, on failure.
 */
struct wndl_collector_process *wndl_collector_process_new(
    struct wndl_recording *recording, struct wndl_collector_totals *totals,
    const struct wndl_recording_process *origin,
    const struct wndl_collector_heap_request *heap, int *memfd);

/*
 * Gives a process that has no block this one, of which the descriptor stays the
 * caller's.
 */
void wndl_collector_process_take_block(
    struct wndl_collector_process *p, struct wndl_collector_block *block);

/*
 * The same as new, with the block that the process itself has made. `memfd`
 * stays the caller's. `heap` has the capacities that the process names.
 */
struct wndl_collector_process *wndl_collector_process_adopt(
    struct wndl_recording *recording, struct wndl_collector_totals *totals,
    const struct wndl_recording_process *origin,
    const struct wndl_collector_heap_request *heap, int memfd);

/*
 * The block is of an image that has gone: the executable is the one that the
 * block names. For an adopted process that is not announced yet.
 */
void wndl_collector_process_was(struct wndl_collector_process *p);

/* Announces it in the recording, before all else about it. */
void wndl_collector_process_announce(struct wndl_collector_process *p,
    const struct wndl_recording_process *origin);

/*
 * Moves all new data into the recording. `last`: the process no longer writes,
 * so that nothing is left for later.
 */
void wndl_collector_process_drain(struct wndl_collector_process *p, bool last);

/* Moves only modules and stack nodes; `last` as above. */
void wndl_collector_process_take_stacks(
    struct wndl_collector_process *p, bool last);

/*
 * Whether the tree's header is as it was made. If not, the rest of the block
 * can be anything; that counts as damage.
 */
bool wndl_collector_process_is_intact(struct wndl_collector_process *p);

/* The same as wndl_collector_process_take_stacks, for an intact block. */
void wndl_collector_process_take_intact(
    struct wndl_collector_process *p, bool last);

/* Reads its working directory, if it still runs. */
void wndl_collector_process_look(struct wndl_collector_process *p);

/* Records its command line if it has another one than when it was last read. */
void wndl_collector_process_take_title(
    struct wndl_collector_process *p, uint64_t now);

/* Whether the process runs another executable than when it was announced. */
bool wndl_collector_process_replaced(const struct wndl_collector_process *p);

/* Pauses or resumes its recording. */
void wndl_collector_process_pause(
    struct wndl_collector_process *p, bool paused);

/*
 * Stops or resumes the sampling of a process under a debugger, which would stop
 * it at each sample of the perf engine.
 */
void wndl_collector_process_debugged(
    struct wndl_collector_process *p, bool debugged);

/*
 * CPU ns of the thread that called exec(), until then; WNDL_CPU_UNKNOWN if it
 * did so without our hooks.
 */
uint64_t wndl_collector_process_cpu_left(
    const struct wndl_collector_process *p);

/* Drains for the last time, announces the end and frees the block. */
void wndl_collector_process_end(
    struct wndl_collector_process *p, enum wndl_process_end how);

/* Frees it, after the end. */
void wndl_collector_process_free(struct wndl_collector_process *p);

#endif
