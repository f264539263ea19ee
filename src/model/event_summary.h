/* SPDX-License-Identifier: MIT */
/*
 * event_summary: what the memory events of a process add up to, from the roles
 * of their types alone.
 */
#ifndef WNDL_MODEL_EVENT_SUMMARY_H
#define WNDL_MODEL_EVENT_SUMMARY_H

#include "model/event_log.h"

enum {
    WNDL_EVENT_ROLES = 10,
    WNDL_EVENT_SOURCES = 32,            /* texts whose bytes are summed */
    WNDL_EVENT_MUCH = 10 * 1000 * 1000, /* bytes worth a word */
};

/* A watcher sees a mapping at most so long after the call, in most cases. */
#define WNDL_EVENT_STEP_NS UINT64_C(5000000000)
/* A call is logged so long after the mapping is there. */
#define WNDL_EVENT_LATE_NS UINT64_C(100000000)

/* Bytes of events with one text: a caller's module, or a file. */
struct wndl_event_source {
    struct wndl_bytes text; /* in the log's arena */
    uint64_t bytes;
};

/* Times are ns since 1970; 0: there was none. */
struct wndl_event_summary {
    uint64_t count[WNDL_EVENT_ROLES]; /* events of a role */
    uint64_t bytes[WNDL_EVENT_ROLES]; /* of their sizes */
    uint64_t first, last;             /* times of the first and last event */
    uint64_t reports;
    uint64_t low, high; /* bytes resident: of the largest growth */
    uint64_t low_at, high_at;
    uint64_t least, least_at; /* bytes resident, so far */
    /* Sums by role, between low_at and high_at. */
    uint64_t grown_count[WNDL_EVENT_ROLES];
    uint64_t grown_bytes[WNDL_EVENT_ROLES];
    /* The role that mapped most between low_at and high_at. */
    uint32_t cause; /* WNDL_MEMLOG_MAPPED, _CODE, _LOADED; else no cause */
    uint64_t cause_count, cause_bytes;
    /* Bytes of its events by text: the first texts that came, and the most. */
    struct wndl_event_source sources[WNDL_EVENT_SOURCES];
    size_t source_count;
    struct wndl_event_source most;
    uint64_t reclaimed;    /* bytes, by all collections */
    uint64_t reclaimed_at; /* the last that reclaimed WNDL_EVENT_MUCH */
    uint64_t action_at;    /* the last action of the user */
};

/*
 * Sums up the events of the process `index` of a log that is sorted, in all
 * logs of that process. A watcher's step of mappings counts if the process did
 * not log the calls.
 */
void wndl_event_summarize(const struct wndl_event_log *log, uint32_t index,
    struct wndl_event_summary *summary);

/* "collection"; "other" of roles that are not known. */
const char *wndl_event_role_name(uint32_t role);

#endif
