/* SPDX-License-Identifier: MIT */
/* dump_copy: a recording that memory events are added to. */
#ifndef WNDL_CLI_MEMLOG_DUMP_COPY_H
#define WNDL_CLI_MEMLOG_DUMP_COPY_H

#include "base/vec.h"
#include "wndl/write.h"

struct wndl_dump_process {
    uint32_t number; /* in the recording */
    uint32_t pid;
    uint64_t start;        /* ns since the recording's start */
    bool has_events;       /* of its memory event log, before any is added */
    struct wndl_vec sizes; /* struct wndl_recording_size */
};

struct wndl_dump_thread {
    uint32_t number;
    uint32_t process; /* its number */
    uint32_t tid;
};

/* The recording that is being written, and what is known of it. */
struct wndl_dump_target {
    struct wndl_recording r;
    struct wndl_arena *arena;
    struct wndl_vec processes; /* struct wndl_dump_process, in file order */
    struct wndl_vec threads;   /* struct wndl_dump_thread */
    uint32_t next_thread;      /* above all numbers of threads */
    uint64_t first, last;      /* ns since 1970, of its start and end */
    struct wndl_bytes done;    /* the last chunk of a copy; empty: none */
};

/*
 * Copies all whole chunks of `file` but the last one into the descriptor of
 * `to->r`, which this opens. `path` is for notes. Fails as
 * wndl_chunk_reader_init does.
 */
enum wndl_status wndl_dump_copy(struct wndl_dump_target *to, int fd,
    struct wndl_bytes file, const char *path,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same without a copy: learns what the recording has, whose last chunk is
 * `to->done`. MALFORMED if it is not whole.
 */
enum wndl_status wndl_dump_learn(struct wndl_dump_target *to,
    struct wndl_bytes file, struct wndl_error *err) WNDL_MUST_USE;

/* The process that had `pid` at this time; NULL: there was none. */
struct wndl_dump_process *wndl_dump_process_at(
    const struct wndl_dump_target *to, uint32_t pid, uint64_t time);

/* Adds a process or a thread to those that are known. False: no memory. */
struct wndl_dump_process *wndl_dump_add_process(
    struct wndl_dump_target *to, uint32_t number, uint32_t pid, uint64_t start);
bool wndl_dump_add_thread(
    struct wndl_dump_target *to, const struct wndl_dump_thread *thread);

#endif
