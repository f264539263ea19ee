/* SPDX-License-Identifier: MIT */
/*
 * profile: a recording as plain data, with stacks merged over all processes. It
 * has no I/O and no symbols: analyze joins those. Memory is bounded by what is
 * distinct plus 24 bytes a sample, 32 a block and the heaps (heap.h).
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
    uint64_t age;              /* ns that it had run before `start` */
    uint8_t how_ended;         /* 0 not known, 1 exit, 2 exec */
    /* CPU ns from exec() until our runtime was loaded, and from then, or from
     * fork(), until the recording of it began; 0: not known */
    uint64_t loading_cpu, starting_cpu;
};

struct wndl_thread {
    uint32_t process;
    uint32_t tid;
    uint64_t start, end; /* ns; `end` is the process's if it was not recorded */
    struct wndl_bytes name; /* the thread's last name */
    bool ended;             /* its end was recorded */
    /* ns of CPU time that no sample of the thread accounts for */
    uint64_t unsampled_cpu;
};

/* Why an address is where the code was, and no return address. */
enum wndl_exact {
    WNDL_EXACT_NOT = 0, /* it is a return address */
    WNDL_EXACT_INTERRUPTED,
    /* A signal handler returns to it: no call is before it, only the code that
     * ends the signal is at it. */
    WNDL_EXACT_SIGNAL_RETURN,
};

/*
 * A frame: an address in an image. Each distinct frame has one index. An
 * address in no image is specific to its process.
 */
struct wndl_frame_key {
    uint32_t image;   /* WNDL_NO_INDEX: `address` is an avma in no image */
    uint32_t process; /* index if `image` is none, else WNDL_NO_INDEX */
    uint8_t exact;    /* enum wndl_exact */
    uint8_t how;      /* enum wndl_frame_how */
    uint64_t address; /* rva, raw (a return address is one past its call) */
};

/* A stack is identified by its leaf node; node 0 is the root of all stacks. */
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

/* A span in which a thread did not run. A long one comes in several parts. */
struct wndl_block {
    uint64_t start, duration; /* ns since the recording's start */
    uint32_t thread;
    uint32_t node; /* 0: no stack */
    uint8_t end;   /* enum wndl_walk_end */
    bool waiting;  /* true: for a CPU; false: blocked */
};

/* An annotation by the program (docs/profile.md). */
struct wndl_mark {
    /* ns since the recording's start; duration 0: a moment */
    uint64_t time, duration;
    uint32_t thread;
    bool missed_deadline; /* by `duration` */
    struct wndl_bytes text;
};

/* The size of a process at a moment, by its memory event log. */
struct wndl_size {
    uint64_t time;     /* ns since the recording's start */
    uint64_t resident; /* bytes */
    uint32_t process;
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

/* The name of the function at an address of the kernel's image. */
struct wndl_kernel_name {
    uint64_t address; /* rva of a byte that ran */
    uint32_t image;
    struct wndl_bytes name;
};

/* Sampling was paused in [start, end). */
struct wndl_pause {
    uint64_t start, end;
};

/* The sampler of running threads: docs/formats/wndl.md, META. */
enum wndl_sampler {
    WNDL_SAMPLER_UNKNOWN = 0,
    WNDL_SAMPLER_PERF = 1,
    WNDL_SAMPLER_CPU_TIMERS = 2,
    WNDL_SAMPLER_TIMERS = 3,
    WNDL_SAMPLER_OUTSIDE = 4,
    WNDL_SAMPLER_COUNTED = 5, /* instructions, under Valgrind: 1 ns each */
    WNDL_SAMPLER_COPIES = 6,  /* perf events with copies of stacks */
    WNDL_SAMPLER_STOPS = 7,   /* of each running thread */
    WNDL_SAMPLERS = 8,
};

/* Reasons why samples are missing: docs/formats/wndl.md, PEND. */
enum {
    WNDL_LOST_DAMAGED = 0, /* the part of the file that they need is damaged */
    WNDL_LOST_OVERRUN = 7, /* ticks that came due while one was pending */
    WNDL_LOST_OTHER = 8,   /* a reason that this version does not know */
    WNDL_LOST_REASONS = 9,
};

/* Ends of a walk: the numbers of windlass/unwind.h, and one of our own. */
enum {
    WNDL_WALK_COMPLETE = 0,
    WNDL_WALK_TRUNCATED = 1,
    WNDL_WALK_NO_RULE = 2,
    WNDL_WALK_FP_ROOT = 7,
    WNDL_WALK_OTHER = 8, /* an end that this version does not know */
    WNDL_WALK_ENDS = 9,
};

/* Values of the command's status that are not exit codes. */
enum {
    WNDL_STATUS_SIGNALED = 256, /* + the signal */
    WNDL_STATUS_RUNNING = 512,  /* it still ran when the recording ended */
};

/*
 * Modules, by a pattern of their names, whose blocks have a tag. If the tag is
 * empty, they are the program's own.
 */
struct wndl_tag_library {
    struct wndl_bytes pattern, tag;
};

/* Keep the last snapshot of each heap; any other number selects that one. */
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
    struct wndl_vec sizes;     /* struct wndl_size, in file order */
    struct wndl_vec unrecorded_processes; /* struct wndl_unrecorded_process */
    struct wndl_vec pauses;               /* struct wndl_pause */
    struct wndl_vec kernel_names; /* struct wndl_kernel_name, by address */
    struct wndl_vec heaps;        /* struct wndl_process_heap of model/heap.h */
    struct wndl_vec libraries;    /* struct wndl_tag_library */
    struct wndl_vec tag_names;    /* struct wndl_bytes: analyze/heap/tags.h */
    struct wndl_map frame_index, node_index;
    uint64_t wanted_snapshot; /* of each heap; default WNDL_LAST_SNAPSHOT */
    bool wants_lived; /* of the last one: what lived at earlier ones, too */

    uint64_t time_base, realtime, interval, duration;
    /* ns between reads of blocked threads; 0: none */
    uint64_t blocked_interval;
    uint32_t max_frames; /* deeper stacks were cut; 0: not known */
    uint32_t engine;     /* enum wndl_sampler, or an unknown one */
    bool kernel_sampled;
    bool by_ticks;      /* the kernel by the clock's ticks, beside the engine */
    bool kernel_stacks; /* what it did there was sampled, too */
    /* samples beyond those that were taken: parts of long ones in the kernel */
    uint64_t parts;
    struct wndl_bytes recorder_version, host, cwd;
    struct wndl_vec arguments; /* struct wndl_bytes */
    uint32_t owner;            /* user id of the recording's file */
    bool finished;             /* the file has a DONE chunk */
    uint32_t status;           /* exit code, 256 + signal, or 512 */
    uint32_t unrecorded;       /* >= unrecorded_processes.len */
    uint64_t discarded;        /* samples that were overwritten by later ones */
    uint64_t interrupted_calls; /* calls that returned EINTR because of us */
    /* ns of CPU time of the command and of all processes that were waited for,
     * recorded or not; 0: not known */
    uint64_t command_cpu;
    /* The samples and blocks are a part of so many (time/selection). */
    bool is_selected;
    struct {
        uint64_t samples, blocks;
        uint64_t kept_blocks; /* less than `blocks` has if some were cut */
    } unselected;
    /* While the file could not be written. */
    struct {
        uint64_t times, duration /* ns */, samples;
    } unwritten;

    uint64_t lost[WNDL_LOST_REASONS]; /* samples, by reason */
    uint64_t ends[WNDL_WALK_ENDS];    /* kept samples, by walk end */
    /* blocks with a stack, without waiting ones */
    uint64_t block_ends[WNDL_WALK_ENDS];
    uint64_t blocks_lost; /* damaged, or of an unknown kind */
    /* Lost chunks: damaged, or about something in a damaged one. */
    uint32_t chunks_damaged;
    uint64_t damaged_at;     /* offset of the first one's payload */
    uint32_t chunks_unknown; /* of types that this version does not know */
    bool cut;                /* the file ends in the middle of a chunk */
};

/*
 * Makes an empty profile, which must not move. False when memory is out. Ends
 * with wndl_profile_free. One thread.
 */
bool wndl_profile_init(struct wndl_profile *p, struct wndl_mem *mem);
void wndl_profile_free(struct wndl_profile *p);

/* Sets *index to that of the frame, added if new. False when memory is out. */
bool wndl_profile_frame(
    struct wndl_profile *p, struct wndl_frame_key key, uint32_t *index);

/*
 * Sets *index to the node for (parent, frame), added if new. False when memory
 * is out.
 */
bool wndl_profile_node(
    struct wndl_profile *p, uint32_t parent, uint32_t frame, uint32_t *index);

/* A copy of `s` that lives as long as the profile. False when memory is out. */
bool wndl_profile_text(
    struct wndl_profile *p, struct wndl_bytes s, struct wndl_bytes *copy);

/* The last part of a path; all of it when it ends in '/'. Part of `path`. */
struct wndl_bytes wndl_path_name(struct wndl_bytes path);

/* Texts for people: "the buffer was full", "left the stack". Static strings. */
const char *wndl_loss_name(unsigned reason);
const char *wndl_walk_end_text(unsigned end);

/*
 * The reason why a process was not recorded, for people: "statically linked".
 * Static string.
 */
const char *wndl_unrecorded_text(unsigned reason);

#endif
