/* SPDX-License-Identifier: MIT */
/*
 * profile: a recording as plain data, with stacks merged over all processes.
 * No I/O, no symbols here: analyze joins those. Memory is bounded by what is
 * distinct plus 24 bytes a sample, 32 a block and what heap.h says of heaps.
 */
#ifndef WNDL_MODEL_PROFILE_H
#define WNDL_MODEL_PROFILE_H

#include "base/addr.h"
#include "base/intern.h"
#include "base/vec.h"

enum { WNDL_NO_INDEX = 0xffffffff };

struct wndl_image {
    struct wndl_bytes path;
    struct wndl_bytes build_id;
};

struct wndl_process {
    uint32_t parent; /* index, WNDL_NO_INDEX if none */
    uint32_t pid;
    uint32_t generation;
    struct wndl_bytes executable;
    struct wndl_bytes command; /* NUL-separated arguments */
    uint64_t start, end;       /* ns since the recording's start */
    uint8_t how_ended;         /* 0 not known, 1 exit, 2 exec */
};

struct wndl_thread {
    uint32_t process;
    uint32_t tid;
    uint64_t start, end;    /* ns; end is its process's if not recorded */
    struct wndl_bytes name; /* the last one */
    bool ended;             /* its end was recorded */
    uint64_t unsampled_cpu; /* ns that are in none of its samples */
};

/*
 * A frame: where in which image. Each distinct one has one index. An address
 * in no image means something in its own process alone.
 */
struct wndl_frame_key {
    uint32_t image;   /* WNDL_NO_INDEX: address is an avma in no image */
    uint32_t process; /* if in no image, else WNDL_NO_INDEX */
    uint8_t interrupted;
    uint8_t how;      /* enum wndl_frame_how */
    uint64_t address; /* rva, raw (a return address is one past its call) */
};

/* A stack is its leaf node; node 0 is the root above all roots. */
struct wndl_node {
    uint32_t parent;
    uint32_t frame;
};

struct wndl_sample {
    uint64_t time; /* ns since the recording's start */
    uint32_t node; /* 0: no stack */
    uint32_t thread : 28;
    uint32_t end : 4; /* enum wndl_walk_end */
    uint32_t cpu;     /* thread CPU ns since its previous sample, saturated */
};

/* A time in which a thread did not run. A long one comes in several parts. */
struct wndl_block {
    uint64_t start, duration; /* ns since the recording's start */
    uint32_t thread;
    uint32_t node; /* 0: no stack */
    uint8_t end;   /* enum wndl_walk_end */
    bool waiting;  /* for a CPU, else blocked */
};

/* What the program said of itself. */
struct wndl_mark {
    uint64_t time, duration; /* ns since the recording's start; 0: a moment */
    uint32_t thread;
    bool missed_deadline; /* by `duration` */
    struct wndl_bytes text;
};

/* A process that could not be recorded. */
struct wndl_unrecorded_process {
    uint32_t parent; /* index, WNDL_NO_INDEX if none */
    uint32_t pid;
    uint32_t reason; /* docs/formats/wndl.md, UNFO */
    uint64_t time;
    struct wndl_bytes executable;
    struct wndl_bytes command; /* NUL-separated arguments */
};

/* Sampling stood still in [start, end). */
struct wndl_pause {
    uint64_t start, end;
};

/* What interrupted the running threads: docs/formats/wndl.md, META. */
enum wndl_sampler {
    WNDL_SAMPLER_UNKNOWN = 0,
    WNDL_SAMPLER_PERF = 1,
    WNDL_SAMPLER_CPU_TIMERS = 2,
    WNDL_SAMPLER_TIMERS = 3,
    WNDL_SAMPLER_OUTSIDE = 4,
    WNDL_SAMPLERS = 5,
};

/* Why samples are not in the profile: docs/formats/wndl.md, PEND. */
enum {
    WNDL_LOST_DAMAGED = 0, /* the part of the file they need is damaged */
    WNDL_LOST_OVERRUN = 7, /* ticks that came due while one was pending */
    WNDL_LOST_OTHER = 8,   /* a reason that this version does not know */
    WNDL_LOST_REASONS = 9,
};

/* How walks ended: the numbers of windlass/unwind.h, and one of our own. */
enum {
    WNDL_WALK_COMPLETE = 0,
    WNDL_WALK_TRUNCATED = 1,
    WNDL_WALK_FP_ROOT = 7,
    WNDL_WALK_OTHER = 8, /* an end that this version does not know */
    WNDL_WALK_ENDS = 9,
};

/* The command's status, from which on it is no exit code. */
enum {
    WNDL_STATUS_SIGNALED = 256, /* + the signal */
    WNDL_STATUS_RUNNING = 512,  /* it went on when the recording ended */
};

/* Which snapshot of each heap is kept: else the one of that number. */
#define WNDL_LAST_SNAPSHOT UINT64_MAX

struct wndl_profile {
    struct wndl_arena arena;
    struct wndl_intern strings;
    struct wndl_vec images;    /* struct wndl_image */
    struct wndl_vec processes; /* struct wndl_process */
    struct wndl_vec threads;   /* struct wndl_thread */
    struct wndl_vec frames;    /* struct wndl_frame_key */
    struct wndl_vec nodes;     /* struct wndl_node; [0] is the root */
    struct wndl_vec samples;   /* struct wndl_sample, in file order */
    struct wndl_vec blocks;    /* struct wndl_block, in file order */
    struct wndl_vec marks;     /* struct wndl_mark, in file order */
    struct wndl_vec unrecorded_processes; /* struct wndl_unrecorded_process */
    struct wndl_vec pauses;               /* struct wndl_pause */
    struct wndl_vec heaps; /* struct wndl_process_heap of model/heap.h */
    struct wndl_map frame_index, node_index;
    uint64_t wanted_snapshot; /* of each heap; WNDL_LAST_SNAPSHOT */

    uint64_t time_base, realtime, interval, duration;
    uint64_t blocked_interval; /* ns between looks at blocked threads, or 0 */
    uint32_t max_frames;       /* deeper stacks were cut; 0: not known */
    uint32_t engine;           /* enum wndl_sampler, or a later one */
    bool kernel_sampled;
    bool by_ticks; /* the kernel by the clock's ticks, beside the engine */
    struct wndl_bytes recorder_version, host, cwd;
    struct wndl_vec arguments;  /* struct wndl_bytes */
    uint32_t owner;             /* user id of the recording's file */
    bool finished;              /* has DONE */
    uint32_t status;            /* exit code, 256 + signal, or 512 */
    uint32_t unrecorded;        /* >= unrecorded_processes.len */
    uint64_t discarded;         /* samples that made room for later ones */
    uint64_t interrupted_calls; /* that returned EINTR because of us */

    uint64_t lost[WNDL_LOST_REASONS];    /* samples, by reason */
    uint64_t ends[WNDL_WALK_ENDS];       /* samples kept, by walk end */
    uint64_t block_ends[WNDL_WALK_ENDS]; /* blocks with a stack, not waiting */
    uint64_t blocks_lost;                /* by damage, or of a later kind */
    /* Lost: damaged themselves, or about something that was in one. */
    uint32_t chunks_damaged;
    uint64_t damaged_at;     /* the payload of the first of them in the file */
    uint32_t chunks_unknown; /* of types that this version does not know */
    bool cut;                /* the file ends in the middle of a chunk */
};

/* An empty profile, which stays where it is. False when memory is out. */
bool wndl_profile_init(struct wndl_profile *p, struct wndl_mem *mem);
void wndl_profile_free(struct wndl_profile *p);

/* The index of a frame, added if new; false when memory is out. */
bool wndl_profile_frame(
    struct wndl_profile *p, struct wndl_frame_key key, uint32_t *index);

/* The node for (parent, frame), added if new; false when memory is out. */
bool wndl_profile_node(
    struct wndl_profile *p, uint32_t parent, uint32_t frame, uint32_t *index);

/* A copy of `s` that lives as long as the profile; false: memory is out. */
bool wndl_profile_text(
    struct wndl_profile *p, struct wndl_bytes s, struct wndl_bytes *copy);

/* The last part of a path; all of it when it ends in '/'. */
struct wndl_bytes wndl_path_name(struct wndl_bytes path);

/* For people: "the buffer was full", "left the stack". Static strings. */
const char *wndl_loss_name(unsigned reason);
const char *wndl_walk_end_text(unsigned end);

/* Why a process was not recorded, for people: "statically linked". */
const char *wndl_unrecorded_text(unsigned reason);

#endif
