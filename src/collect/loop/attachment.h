/* SPDX-License-Identifier: MIT */
/*
 * attachment: the recording of processes that run already, and of those that
 * cannot be recorded from inside. Their samples come through the kernel's rings
 * (collect/attach); all else is as for processes without a runtime.
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
    struct wndl_stopping *stopping; /* NULL: no threads are stopped */
    struct wndl_attached_settings settings;
    struct wndl_source on_ring;
    struct wndl_arena arena;
    struct wndl_vec pids; /* pid_t, of those that run when it begins */
    uint64_t cut;         /* truncated stacks when copies last grew */
    bool is_open;         /* there are perf events */
    bool is_refused;      /* there can be none */
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
 * Samples a process too that cannot be recorded from inside. False if that is
 * not possible, or not wanted.
 */
bool wndl_attachment_adopt(struct wndl_attachment *attachment, pid_t pid,
    enum wndl_unrecorded_reason reason);

/*
 * The process has ended, runs another program, or is recorded from inside now.
 * With children the events stay, as theirs would end with them. NULL is
 * ignored.
 */
void wndl_attachment_release(struct wndl_attachment *attachment, pid_t pid);

/*
 * After fork(2), in the child that goes on with the recording. Its parent must
 * not close the attachment before that: the kernel would take the events off a
 * ring that nobody has mapped.
 */
void wndl_attachment_take_over(struct wndl_attachment *attachment);

/*
 * Takes the samples that are there; `last`: those of the last moment, too. NULL
 * is ignored, as by all that follow.
 */
void wndl_attachment_take(struct wndl_attachment *attachment, bool last);

/*
 * Samples without perf events, if it is time. Returns when it is time again,
 * CLOCK_MONOTONIC ns.
 */
uint64_t wndl_attachment_turn(struct wndl_attachment *attachment, uint64_t now);

/* Pauses or resumes. */
void wndl_attachment_pause(struct wndl_attachment *attachment, bool paused);

/* Prepares a process that has just been added. */
void wndl_attachment_add(
    struct wndl_attachment *attachment, struct wndl_collector_process *process);

void wndl_attachment_close(struct wndl_attachment *attachment);

#endif
