/* SPDX-License-Identifier: MIT */
/*
 * event: the contents of a thread's ring, as varints. Times are the producer's
 * CLOCK_MONOTONIC and thread CPU time in ns. A ring starts with a THREAD event,
 * and each further one starts it anew.
 */
#ifndef WNDL_REC_EVENT_H
#define WNDL_REC_EVENT_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum wndl_event_kind {
    WNDL_EVENT_SAMPLE = 0,
    WNDL_EVENT_THREAD = 1, /* the ring now belongs to this thread */
    WNDL_EVENT_NAME = 2,   /* the thread's name changed */
    WNDL_EVENT_END = 3,    /* the thread ended: the ring is free */
    WNDL_EVENT_MARK = 4,   /* an annotation by the program:
                            * windlass/profile.h */
};

enum wndl_mark_kind {
    WNDL_MARK_PLAIN = 0,
    WNDL_MARK_DEADLINE = 1, /* missed by `duration` */
};

enum {
    WNDL_EVENT_NAME_MAX = 16,
    WNDL_EVENT_TEXT_MAX = 200,
    WNDL_EVENT_MAX = 256,
};

struct wndl_event {
    enum wndl_event_kind kind;
    uint8_t end;    /* SAMPLE: enum wndl_walk_end */
    bool in_kernel; /* SAMPLE: its time was spent in the kernel */
    uint8_t mark;   /* MARK: enum wndl_mark_kind */
    uint32_t node;  /* SAMPLE: leaf of the stack tree, 0 for no stack */
    uint32_t copy;  /* SAMPLE: number of the stack's copy + 1; 0: none */
    uint32_t tid;   /* THREAD */
    uint64_t time;  /* SAMPLE: ns since last SAMPLE or THREAD; else absolute */
    uint64_t cpu;   /* SAMPLE: thread CPU ns of the sample; END: the rest */
    uint64_t duration;              /* MARK: ns, from `time` on */
    char name[WNDL_EVENT_NAME_MAX]; /* NAME: NUL-terminated */
    struct wndl_bytes text; /* MARK: at most WNDL_EVENT_TEXT_MAX, borrowed */
};

/* Writes an event. Returns its size, at most WNDL_EVENT_MAX. Signal-safe. */
size_t wndl_event_put(
    uint8_t to[WNDL_EVENT_MAX], const struct wndl_event *event);

/*
 * Reads the next event. False at the end. The cursor has failed if the bytes
 * that follow are not an event.
 */
bool wndl_event_get(struct wndl_cursor *c, struct wndl_event *event);

#endif
