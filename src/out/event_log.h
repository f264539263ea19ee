/* SPDX-License-Identifier: MIT */
/* event_log: memory events as lines of text, and as lines of JSON. */
#ifndef WNDL_OUT_EVENT_LOG_H
#define WNDL_OUT_EVENT_LOG_H

#include "base/buf.h"
#include "model/event_summary.h"

enum { WNDL_EVENT_TIME_SIZE = 32 };

/* "14:02:11.302", in UTC; without milliseconds if `is_short`. */
char *wndl_event_time(
    uint64_t real, bool is_short, char text[WNDL_EVENT_TIME_SIZE]);

/* A size like "812 MB". */
void wndl_event_put_size(struct wndl_buf *out, int64_t bytes);

/* The event alone: "gc: 812 MB -> 640 MB, ...". */
void wndl_event_put_text(struct wndl_buf *out, const struct wndl_event_log *log,
    const struct wndl_event *event);

/* "14:02:11.302 firefox[4711] gc: 812 MB -> 640 MB, ...", and a newline. */
void wndl_event_put_line(struct wndl_buf *out, const struct wndl_event_log *log,
    const struct wndl_event *event);

/* The same as an object (docs/formats/ring.md), and a newline. */
void wndl_event_put_json(struct wndl_buf *out, const struct wndl_event_log *log,
    const struct wndl_event *event);

/* A process's sums, in a line or a few; or as an object. */
void wndl_event_put_summary(struct wndl_buf *out,
    const struct wndl_event_process *process,
    const struct wndl_event_summary *summary);
void wndl_event_put_summary_json(struct wndl_buf *out,
    const struct wndl_event_process *process,
    const struct wndl_event_summary *summary);

/* A text of others: control characters and what is not UTF-8 as \x1b. */
void wndl_event_put_tame(struct wndl_buf *out, struct wndl_bytes text);

#endif
