/* SPDX-License-Identifier: MIT */
/*
 * run: the recording that the parts of the collector work on. All of it is one
 * thread's.
 */
#ifndef WNDL_COLLECT_LOOP_RUN_H
#define WNDL_COLLECT_LOOP_RUN_H

#include "collect/loop/collector.h"
#include "collect/loop/loop.h"
#include "collect/start/session.h"
#include "collect/start/spawn.h"

struct wndl_run {
    struct wndl_collector_request request;
    struct wndl_recording recording;
    struct wndl_collector_totals totals;
    struct wndl_collector_totals safe; /* as far as it is in the file */
    struct wndl_session session;
    struct wndl_loop loop;
    struct wndl_spawn spawn; /* the command */
    int status;              /* of the command, as waitpid gives it */
    bool ended;              /* the command has */
    bool paused;
    bool stopped; /* the recording is to end now */
    int file;     /* of the recording */
    char *path;   /* the same */
};

#endif
