/* SPDX-License-Identifier: MIT */
/*
 * event_log: the memory event logs of processes as plain data, whoever read
 * them.
 */
#ifndef WNDL_MODEL_EVENT_LOG_H
#define WNDL_MODEL_EVENT_LOG_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vec.h"

#include <string.h>
#include <windlass/memlog_ring.h>

struct wndl_event_type {
    uint32_t role; /* enum wndl_memlog_role; or a later one */
    uint32_t limit;
    uint64_t kept_back;
    size_t fields;
    char name[48];
    struct wndl_memlog_stored_field field[WNDL_MEMLOG_NUMBERS];
};

/* An event. `text` and `frames` are in the arena of the log. */
struct wndl_event {
    uint64_t number;  /* in its ring */
    uint64_t real;    /* ns since 1970 */
    uint32_t process; /* index in `processes` */
    uint32_t thread;
    uint32_t type; /* index in the process's types */
    uint8_t numbers;
    uint8_t flags; /* enum wndl_memlog_flag */
    uint16_t frame_count;
    int64_t number_at[WNDL_MEMLOG_NUMBERS];
    struct wndl_bytes text;
    const uint64_t *frames;
};

/* A process's ring. Sums of its events: listed, and those that are not. */
struct wndl_event_process {
    uint32_t process;
    uint32_t parent;
    uint32_t user;
    uint32_t watcher;  /* the process that wrote the log; 0: this one */
    uint32_t clock;    /* enum wndl_memlog_clock */
    uint64_t start;    /* clock ticks since boot */
    uint64_t size;     /* bytes of the blocks */
    uint64_t first;    /* ns since 1970, of the log's start */
    uint64_t set_back; /* ns by which the real time was set back meanwhile */
    char boot[40];
    char name[16];
    struct wndl_bytes command; /* arguments, each with its NUL */
    struct wndl_vec types;     /* struct wndl_event_type */
    bool is_alive;             /* whoever looks sets it */
    bool has_rate;             /* else times are right in their order only */
    uint64_t listed;
    uint64_t overwritten; /* by later events */
    uint64_t dropped;     /* found no slot when they came */
    uint64_t given_up;    /* numbers of blocks; no event had them */
    uint64_t unfinished;  /* slots whose writer has not come to the end */
    uint64_t replaced;    /* slots that changed while they were read */
    uint64_t damaged;     /* slots that contradict themselves */
};

/* Logs of any number of processes. */
struct wndl_event_log {
    struct wndl_arena arena;
    struct wndl_vec processes; /* struct wndl_event_process */
    struct wndl_vec events;    /* struct wndl_event */
};

static inline void wndl_event_log_init(
    struct wndl_event_log *log, struct wndl_mem *mem)
{
    wndl_arena_init(&log->arena, mem);
    wndl_vec_init(
        &log->processes, &log->arena, sizeof(struct wndl_event_process));
    wndl_vec_init(&log->events, &log->arena, sizeof(struct wndl_event));
}

static inline void wndl_event_log_free(struct wndl_event_log *log)
{
    wndl_arena_free(&log->arena);
}

static inline const struct wndl_event_process *wndl_event_process_of(
    const struct wndl_event_log *log, const struct wndl_event *event)
{
    return wndl_vec_at(&log->processes, event->process);
}

/* Whether two logs are of one process: its own, and those of watchers. */
static inline bool wndl_event_is_same_process(
    const struct wndl_event_process *a, const struct wndl_event_process *b)
{
    return a->process == b->process && a->start == b->start &&
           strcmp(a->boot, b->boot) == 0;
}

static inline const struct wndl_event_type *wndl_event_type_of(
    const struct wndl_event_log *log, const struct wndl_event *event)
{
    return wndl_vec_at(&wndl_event_process_of(log, event)->types, event->type);
}

#endif
