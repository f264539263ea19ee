/* SPDX-License-Identifier: MIT */
/*
 * write: writes a .wndl file chunk by chunk, in the order of
 * docs/formats/wndl.md. It must not know where samples come from. One thread.
 *
 * A write that fails is tried again with the next flush. Meanwhile samples,
 * blocks and marks are dropped; all that later chunks refer to is kept, up to a
 * limit. UNWR then says what was dropped. Other failures are sticky: nothing
 * more is written, and wndl_recording_close returns the failure. The file
 * always ends with the last flush that succeeded.
 */
#ifndef WNDL_WNDL_WRITE_H
#define WNDL_WNDL_WRITE_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/status.h"
#include "base/vec.h"
#include "rec/chunk.h"
#include "rec/shm.h"
#include "wndl/fields.h"
#include "wndl/tail_buffer.h"

struct wndl_recording_image {
    const char *path;
    struct wndl_bytes build_id; /* empty: it has none */
    uint64_t nodes;             /* number of stack nodes that are in it */
    uint64_t descriptor; /* svma of its __jit_debug_descriptor; 0: none */
    bool is_searched;    /* whether the descriptor has been searched */
};

struct wndl_recording {
    int fd;
    uint64_t time_base; /* CLOCK_MONOTONIC ns */
    uint64_t bytes;     /* written so far */
    struct wndl_buf out;
    struct wndl_tail_buffer
        tail; /* of samples and blocks, if only the last are kept */
    struct wndl_arena arena;
    /* keys: build-ids; paths of images without one */
    struct wndl_intern images;
    struct wndl_vec numbers;   /* uint32_t by id of the key: index + 1 */
    struct wndl_vec announced; /* struct wndl_recording_image, by index */
    bool kernel_stacks;        /* samples say whether they are of the kernel */
    int write_error;           /* errno of the last flush; 0: it was written */
    uint64_t failing;          /* CLOCK_MONOTONIC ns of the first that failed */
    uint64_t unwritten;        /* samples dropped since then */
    uint64_t lost_before;      /* samples dropped in earlier such times */
    uint64_t waiting;          /* samples in `out` */
    uint64_t written;          /* samples in the file */
    enum wndl_status status;
    struct wndl_error err;
};

struct wndl_recording_meta {
    uint64_t interval; /* ns */
    uint32_t engine;   /* enum wndl_engine */
    bool kernel_sampled;
    bool by_ticks;            /* the kernel is sampled by ticks beside PERF */
    bool kernel_stacks;       /* with stacks of the kernel: KSMP */
    uint32_t max_frames;      /* 0: not known */
    uint64_t offcpu_interval; /* ns between reads of blocked threads; 0: none */
    char **command;           /* ends with NULL */
    /* The start, ns of CLOCK_MONOTONIC and since 1970; 0: now */
    uint64_t time_base, realtime;
};

#define WNDL_CPU_UNKNOWN UINT64_MAX

struct wndl_recording_process {
    uint32_t index;
    uint32_t parent; /* index + 1; 0: none */
    uint32_t pid;
    uint32_t generation;
    uint64_t time; /* CLOCK_MONOTONIC ns, as all times here */
    uint64_t age;  /* ns that it had run before; 0: not known, or none */
    /* CPU ns of the images before; WNDL_CPU_UNKNOWN. It is not written. */
    uint64_t cpu;
    const char *executable;
    struct wndl_bytes command; /* NUL-separated arguments */
};

struct wndl_recording_thread {
    uint32_t process;
    uint32_t index;
    uint32_t tid;
    uint64_t time;
    const char *name;
};

struct wndl_recording_mapping {
    uint32_t process;
    uint32_t image;
    uint64_t time, start, end, bias;
};

/* The end of a process image: PEND. */
enum wndl_process_end {
    WNDL_ENDED_UNKNOWN = 0,
    WNDL_ENDED_EXIT = 1,
    WNDL_ENDED_EXEC = 2,
};

/*
 * Starts a recording in `fd`, which the caller owns and closes. `meta` is read
 * at once. Ends with wndl_recording_free.
 */
void wndl_recording_open(
    struct wndl_recording *r, int fd, const struct wndl_recording_meta *meta);

/*
 * From now on samples and blocks go into a buffer of the last `size` bytes,
 * which is written to the file at the end only. wndl_recording_dump then needs
 * a readable `fd`.
 */
void wndl_recording_keep_tail(struct wndl_recording *r, size_t size);

/* Write PROC, THRD and MMAP. The texts are copied. */
void wndl_recording_process(
    struct wndl_recording *r, const struct wndl_recording_process *process);
void wndl_recording_thread(
    struct wndl_recording *r, const struct wndl_recording_thread *thread);
void wndl_recording_mapping(
    struct wndl_recording *r, const struct wndl_recording_mapping *mapping);

/* Writes TITL: the process shows another command line. */
void wndl_recording_title(struct wndl_recording *r, uint32_t process,
    uint64_t time, struct wndl_bytes command);

/* Writes PCPU: CPU ns before the recording of a process began. */
void wndl_recording_process_cpu(struct wndl_recording *r, uint32_t process,
    uint64_t loading, uint64_t starting);

/* Writes TEND. `cpu`: ns of thread CPU time that none of its samples has. */
void wndl_recording_thread_end(
    struct wndl_recording *r, uint32_t thread, uint64_t time, uint64_t cpu);

/* A kind of mark that no ring has: an event of the memory event log. */
enum { WNDL_MARK_MEMORY = 2 };

/* An annotation by the program, in `thread`: MARK. */
struct wndl_recording_mark {
    uint32_t thread;
    uint32_t kind; /* enum wndl_mark_kind, or WNDL_MARK_MEMORY */
    uint64_t time, duration;
    struct wndl_bytes text;
};
void wndl_recording_mark(
    struct wndl_recording *r, const struct wndl_recording_mark *mark);

/* The size of a process at a moment. */
struct wndl_recording_size {
    uint64_t time;
    uint64_t resident; /* bytes */
};

/* Writes SIZE: sizes of a process, in the order of time. */
void wndl_recording_sizes(struct wndl_recording *r, uint32_t process,
    const struct wndl_recording_size *sizes, uint32_t count);

/* A process that could not be recorded: UNFO. */
struct wndl_recording_unrecorded {
    uint32_t parent; /* index + 1; 0: none */
    uint32_t pid;
    uint32_t reason; /* enum wndl_unrecorded_reason */
    uint64_t time;
    const char *executable;
    struct wndl_bytes command; /* NUL-separated arguments */
};
void wndl_recording_unrecorded(
    struct wndl_recording *r, const struct wndl_recording_unrecorded *process);

/* Writes PAUS: sampling was paused, or resumed, at `time`. */
void wndl_recording_paused(
    struct wndl_recording *r, uint64_t time, bool paused);

/*
 * The index of an image, which is announced (IMAG) if it is new. A build-id has
 * one image, whichever path leads to it: copies and links too. It is announced
 * again, and has another index from then on, only if its own path cannot be
 * opened and `path` can.
 */
uint32_t wndl_recording_image(
    struct wndl_recording *r, const char *path, struct wndl_bytes build_id);

/*
 * The image `index`; NULL: there is none. Valid until the next image is
 * announced.
 */
static inline struct wndl_recording_image *wndl_recording_announced(
    struct wndl_recording *r, uint32_t index)
{
    return index < r->announced.len ? wndl_vec_at(&r->announced, index) : NULL;
}

/* Writes PEND: the end of a process image with its counts of lost samples. */
void wndl_recording_end(struct wndl_recording *r, uint32_t process,
    enum wndl_process_end how, const uint64_t lost[WNDL_LOSS_REASONS]);

/* ---- stacks, samples and spans */

/* A list of nodes that is being written. */
struct wndl_node_list {
    struct wndl_recording *r;
    struct wndl_chunk_writer chunk;
    uint32_t number;  /* of the next node */
    uint64_t address; /* of the previous node */
};

/* Begins a chunk STAK or OSTK, which has `count` nodes. */
void wndl_recording_nodes(struct wndl_node_list *list, struct wndl_recording *r,
    uint32_t type, const struct wndl_fields_stak *head, uint32_t count);

/*
 * Adds `node`: its fields are those of the file, but `parent` is the parent's
 * number and `address` is absolute. The file wants parents before children; a
 * node with a later parent becomes a root.
 */
void wndl_node_list_add(
    struct wndl_node_list *list, const struct wndl_fields_node *node);
void wndl_node_list_finish(struct wndl_node_list *list);

/* Samples or spans of a thread, encoded as the elements of a list. */
struct wndl_recording_series {
    uint32_t thread;
    uint64_t time; /* CLOCK_MONOTONIC ns; the base of the first one */
    uint32_t count;
    struct wndl_bytes bytes;
};

/* Writes SAMP or BLOK. */
void wndl_recording_series(struct wndl_recording *r, uint32_t type,
    const struct wndl_recording_series *series);

/*
 * Writes KSMP: `count` samples of the kernel, encoded as the elements of a
 * list. `time`: CLOCK_MONOTONIC ns, the base of the first one.
 */
void wndl_recording_kernel_samples(struct wndl_recording *r, uint64_t time,
    uint32_t count, struct wndl_bytes samples);

/* Writes KSYM: names of code of `image`, an index, as elements of a list. */
void wndl_recording_kernel_names(struct wndl_recording *r, uint32_t image,
    uint32_t count, struct wndl_bytes names);

/* ---- a copy of a recording, to which chunks are added */

/*
 * Begins without a header and META: the copy has them, appended to r->out. The
 * caller sets r->time_base, of the copy's META, before it adds anything.
 */
void wndl_recording_continue(struct wndl_recording *r, int fd);

/*
 * Ends it like wndl_recording_close, with the chunk `done` of the copy, which
 * may be empty.
 */
enum wndl_status wndl_recording_close_with(struct wndl_recording *r,
    struct wndl_bytes done, struct wndl_error *err) WNDL_MUST_USE;

/* ---- for the writer's own files */

/*
 * Begin and finish a chunk. Its payload is everything that is appended to
 * r->out between them.
 */
void wndl_recording_begin(
    struct wndl_recording *r, struct wndl_chunk_writer *chunk, uint32_t type);
void wndl_recording_finish(
    struct wndl_recording *r, struct wndl_chunk_writer *chunk);

/*
 * The file's time, ns since the recording's start, for a CLOCK_MONOTONIC time.
 */
static inline uint64_t wndl_recording_time(
    const struct wndl_recording *r, uint64_t time)
{
    return time > r->time_base ? time - r->time_base : 0;
}

/* ---- the file */

/* Writes all collected chunks to the file. */
void wndl_recording_flush(struct wndl_recording *r);

/*
 * Samples of the recording: those in the file and, while it can be written,
 * those on the way to it. After wndl_recording_close: those that a reader
 * finds.
 */
uint64_t wndl_recording_kept(const struct wndl_recording *r);

/* the command's status: not known, or it still ran */
enum { WNDL_STATUS_UNKNOWN = 512 };

struct wndl_recording_done {
    uint32_t status; /* exit code, 256 + signal, or WNDL_STATUS_UNKNOWN */
    uint32_t processes;
    uint32_t unrecorded;
    uint64_t interrupted_calls; /* calls that returned EINTR because of us */
    uint64_t cpu;  /* ns of the command and its children; 0: not known */
    uint64_t time; /* of the end; 0: now */
};

/*
 * Writes everything so far to `fd`, as a recording of its own. Fails when
 * memory is out or the copy cannot be written; `r` itself goes on.
 */
enum wndl_status wndl_recording_dump(struct wndl_recording *r, int fd,
    const struct wndl_recording_done *done,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Ends the recording: writes what is left, and DONE. The status says whether
 * all of it is in the file. wndl_recording_free must follow.
 */
enum wndl_status wndl_recording_close(struct wndl_recording *r,
    const struct wndl_recording_done *done,
    struct wndl_error *err) WNDL_MUST_USE;

/* Frees the memory without writing anything. `r` may be all 0. */
void wndl_recording_free(struct wndl_recording *r);

#endif
