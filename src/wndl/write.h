/* SPDX-License-Identifier: MIT */
/*
 * write: a .wndl file being written, chunk by chunk, in the order that
 * docs/formats/wndl.md asks for. It must not know where samples come from.
 *
 * Trouble is sticky: once memory or the disk has failed nothing more is
 * written, and wndl_recording_close says so. The file then ends with the last
 * flush that went well.
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
    uint64_t nodes;      /* of stacks, that are in it */
    uint64_t descriptor; /* svma of its __jit_debug_descriptor; 0: none */
    bool is_searched;    /* for that */
};

struct wndl_recording {
    int fd;
    uint64_t time_base; /* CLOCK_MONOTONIC ns */
    uint64_t bytes;     /* written so far */
    struct wndl_buf out;
    struct wndl_tail_buffer
        tail; /* of what threads did, if not all is written */
    struct wndl_arena arena;
    struct wndl_intern images; /* keys: build-ids, paths of what has none */
    struct wndl_vec numbers;   /* uint32_t by id of the key: index + 1 */
    struct wndl_vec announced; /* struct wndl_recording_image, by index */
    enum wndl_status status;
    struct wndl_error err;
};

struct wndl_recording_meta {
    uint64_t interval; /* ns */
    uint32_t engine;   /* enum wndl_engine */
    bool kernel_sampled;
    bool by_ticks;            /* the kernel is sampled by ticks beside PERF */
    uint32_t max_frames;      /* 0: not told */
    uint64_t offcpu_interval; /* ns, 0: blocked threads are not looked at */
    char **command;           /* ends with NULL */
};

struct wndl_recording_process {
    uint32_t index;
    uint32_t parent; /* index + 1, 0 for none */
    uint32_t pid;
    uint32_t generation;
    uint64_t time; /* CLOCK_MONOTONIC ns, as all times here */
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

/* How a process image ended: PEND. */
enum wndl_process_end {
    WNDL_ENDED_UNKNOWN = 0,
    WNDL_ENDED_EXIT = 1,
    WNDL_ENDED_EXEC = 2,
};

/* Starts a recording in `fd`, which stays the caller's. */
void wndl_recording_open(
    struct wndl_recording *r, int fd, const struct wndl_recording_meta *meta);

/*
 * From now on only the last `size` bytes of what threads did get into the
 * file, and only at the end. `fd` must be readable for wndl_recording_dump.
 */
void wndl_recording_keep_tail(struct wndl_recording *r, size_t size);

void wndl_recording_process(
    struct wndl_recording *r, const struct wndl_recording_process *process);
void wndl_recording_thread(
    struct wndl_recording *r, const struct wndl_recording_thread *thread);
void wndl_recording_mapping(
    struct wndl_recording *r, const struct wndl_recording_mapping *mapping);

/* `cpu`: thread CPU ns that are in none of its samples. */
void wndl_recording_thread_end(
    struct wndl_recording *r, uint32_t thread, uint64_t time, uint64_t cpu);

/* Something the program said of itself, in `thread`. */
struct wndl_recording_mark {
    uint32_t thread;
    uint32_t kind; /* enum wndl_mark_kind */
    uint64_t time, duration;
    struct wndl_bytes text;
};
void wndl_recording_mark(
    struct wndl_recording *r, const struct wndl_recording_mark *mark);

/* A process that cannot be recorded. */
struct wndl_recording_unrecorded {
    uint32_t parent; /* index + 1, 0 for none */
    uint32_t pid;
    uint32_t reason; /* enum wndl_unrecorded_reason */
    uint64_t time;
    const char *executable;
    struct wndl_bytes command; /* NUL-separated arguments */
};
void wndl_recording_unrecorded(
    struct wndl_recording *r, const struct wndl_recording_unrecorded *process);

/* Sampling was paused, or goes on. */
void wndl_recording_paused(
    struct wndl_recording *r, uint64_t time, bool paused);

/*
 * The index of an image, announced if new. Of one build-id there is one image,
 * by whatever path it was found: of copies, too, and of what links lead to. It
 * is announced anew, and has another index from then on, only by a path that
 * can be opened while its own cannot.
 */
uint32_t wndl_recording_image(
    struct wndl_recording *r, const char *path, struct wndl_bytes build_id);

/* Valid until the next image is announced. NULL: none has that index. */
static inline struct wndl_recording_image *wndl_recording_announced(
    struct wndl_recording *r, uint32_t index)
{
    return index < r->announced.len ? wndl_vec_at(&r->announced, index) : NULL;
}

/* The end of a process image with its counts of lost samples. */
void wndl_recording_end(struct wndl_recording *r, uint32_t process,
    enum wndl_process_end how, const uint64_t lost[WNDL_LOSS_REASONS]);

/* ---- stacks, and what refers to them */

/* A list of nodes being written. */
struct wndl_node_list {
    struct wndl_recording *r;
    struct wndl_chunk_writer chunk;
    uint32_t number;  /* of the next one */
    uint64_t address; /* of the one before */
};

/* Of a chunk STAK or OSTK, which `count` nodes follow. */
void wndl_recording_nodes(struct wndl_node_list *list, struct wndl_recording *r,
    uint32_t type, const struct wndl_fields_stak *head, uint32_t count);

/*
 * `node` as the file has it but for `parent`, which is its number, and
 * `address`, which is absolute. The file wants parents before children; what
 * says otherwise becomes a root.
 */
void wndl_node_list_add(
    struct wndl_node_list *list, const struct wndl_fields_node *node);
void wndl_node_list_finish(struct wndl_node_list *list);

/* Samples or spans of a thread, in the bytes of a list. */
struct wndl_recording_series {
    uint32_t thread;
    uint64_t time; /* the first one counts from here */
    uint32_t count;
    struct wndl_bytes bytes;
};

/* SAMP or BLOK. */
void wndl_recording_series(struct wndl_recording *r, uint32_t type,
    const struct wndl_recording_series *series);

/* ---- for the parts of the writer */

/* A chunk's payload is what goes to r->out between begin and finish. */
void wndl_recording_begin(
    struct wndl_recording *r, struct wndl_chunk_writer *chunk, uint32_t type);
void wndl_recording_finish(
    struct wndl_recording *r, struct wndl_chunk_writer *chunk);

/* A CLOCK_MONOTONIC time as the file has it. */
static inline uint64_t wndl_recording_time(
    const struct wndl_recording *r, uint64_t time)
{
    return time > r->time_base ? time - r->time_base : 0;
}

/* ---- the file */

/* Writes out what has been collected. */
void wndl_recording_flush(struct wndl_recording *r);

enum { WNDL_STATUS_UNKNOWN = 512 }; /* or it still ran */

struct wndl_recording_done {
    uint32_t status; /* exit code, 256 + signal, or WNDL_STATUS_UNKNOWN */
    uint32_t processes;
    uint32_t unrecorded;
    uint64_t interrupted_calls; /* that returned EINTR because of us */
};

/* All there is so far, as a recording of its own in `fd`. */
enum wndl_status wndl_recording_dump(struct wndl_recording *r, int fd,
    const struct wndl_recording_done *done,
    struct wndl_error *err) WNDL_MUST_USE;

/* Ends the recording. The status says whether all of it is in the file. */
enum wndl_status wndl_recording_close(struct wndl_recording *r,
    const struct wndl_recording_done *done,
    struct wndl_error *err) WNDL_MUST_USE;

/* Gives back the memory, without another word in the file. Not opened: all 0.
 */
void wndl_recording_free(struct wndl_recording *r);

#endif
