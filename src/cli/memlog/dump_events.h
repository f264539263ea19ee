/* SPDX-License-Identifier: MIT */
/* dump_events: memory events as marks and curves of a recording. */
#ifndef WNDL_CLI_MEMLOG_DUMP_EVENTS_H
#define WNDL_CLI_MEMLOG_DUMP_EVENTS_H

#include "cli/memlog/dump_copy.h"
#include "model/event_log.h"

struct wndl_dump {
    const struct wndl_event_log *log; /* in the order of time */
    const char *with; /* the recording that gets them; NULL: none */
    struct wndl_arena arena;
    struct wndl_dump_target to;
    struct wndl_vec begun; /* uint32_t: events that have no end yet */
    uint32_t *process_of;  /* by log, index in to.processes; without `with` */
    uint64_t left_out;     /* events that have no place */
};

/* For a `d` whose other members are set. The caller frees its arena. */
void wndl_dump_init(struct wndl_dump *d);

/* Time of the writer, CLOCK_MONOTONIC, for ns since 1970. */
uint64_t wndl_dump_time(const struct wndl_dump *d, uint64_t real);

/*
 * The process of an event; NULL: it is none of the recording, or not of its
 * time, or the recording has that process's events.
 */
struct wndl_dump_process *wndl_dump_process_of(
    const struct wndl_dump *d, const struct wndl_event *event);

/* Writes all events and curves. False: no memory. */
bool wndl_dump_write_events(struct wndl_dump *d, struct wndl_error *err);

#endif
