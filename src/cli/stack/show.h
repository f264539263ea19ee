/* SPDX-License-Identifier: MIT */
/* show: a snapshot as text or JSON. */
#ifndef WNDL_CLI_STACK_SHOW_H
#define WNDL_CLI_STACK_SHOW_H

#include "base/buf.h"
#include "cli/stack/names.h"

struct wndl_stack_show {
    const struct wndl_snapshot *snapshot;
    const struct wndl_stack_names *names; /* NULL: addresses alone */
    /* Of --every: the threads to be shown, by index; NULL: all. */
    const bool *is_changed;
};

/* Appends the snapshot as text (docs/stack.md). */
void wndl_stack_text(const struct wndl_stack_show *show, struct wndl_buf *out);

/*
 * Why the files of binaries that frames are in are not used, line by line, each
 * after `head`.
 */
void wndl_stack_troubles(const struct wndl_snapshot *snapshot, const char *head,
    struct wndl_buf *out);

/* Whether a frame of any thread is in that image. */
bool wndl_stack_has_frames(const struct wndl_snapshot *snapshot, size_t image);

/* Appends one thread of it as text. */
void wndl_stack_text_thread(const struct wndl_stack_show *show,
    const struct wndl_snapshot_thread *thread, struct wndl_buf *out);

/* Appends it as one JSON object and a newline. */
void wndl_stack_json(const struct wndl_stack_show *show, struct wndl_buf *out);

/* "running", "blocked", "stopped", "ended". Static string. */
const char *wndl_stack_state(enum wndl_thread_state state);

/* The byte of a frame that ran: a return address is one past its call. */
uint64_t wndl_stack_address(const struct wndl_snapshot_frame *frame);

/* The image of a frame, or NULL. */
const struct wndl_snapshot_image *wndl_stack_image(
    const struct wndl_snapshot *snapshot,
    const struct wndl_snapshot_frame *frame);

#endif
