/* SPDX-License-Identifier: MIT */
/*
 * attachment: the recording of processes that run already. Their samples come
 * through rings of the kernel (collect/attach); all else is as for processes
 * without a runtime.
 */
#ifndef WNDL_COLLECT_LOOP_ATTACHMENT_H
#define WNDL_COLLECT_LOOP_ATTACHMENT_H

#include "collect/attach/attach.h"
#include "collect/loop/processes.h"
#include "collect/process/attached.h"

struct wndl_attachment {
    struct wndl_run *run;
    struct wndl_processes *processes;
    struct wndl_attach attach;
    struct wndl_attached_settings settings;
    struct wndl_source on_ring;
    struct wndl_arena arena;
    struct wndl_vec pids; /* pid_t, of those that run when it begins */
    bool is_open;         /* there are perf events */
};

/*
 * Opens perf events, which are still disabled, for all processes of the
 * request, unless it wants none. The error says what they lack.
 */
enum wndl_status wndl_attachment_open(
    struct wndl_attachment *attachment, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Announces the processes, and begins to sample them, unless the recording
 * begins paused. The recording is open.
 */
enum wndl_status wndl_attachment_begin(
    struct wndl_attachment *attachment, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Takes the samples that are there; `last`: those of the last moment, too. NULL
 * is ignored, as by all that follow.
 */
void wndl_attachment_take(struct wndl_attachment *attachment, bool last);

/* Pauses or resumes. */
void wndl_attachment_pause(struct wndl_attachment *attachment, bool paused);

/* Prepares a process that has just been added. */
void wndl_attachment_add(
    struct wndl_attachment *attachment, struct wndl_collector_process *process);

void wndl_attachment_close(struct wndl_attachment *attachment);

#endif
