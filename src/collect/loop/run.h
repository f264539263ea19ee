/* SPDX-License-Identifier: MIT */
/* run: the recording that all parts of the collector share. One thread. */
#ifndef WNDL_COLLECT_LOOP_RUN_H
#define WNDL_COLLECT_LOOP_RUN_H

#include "collect/code/binaries.h"
#include "collect/loop/collector.h"
#include "collect/loop/loop.h"
#include "collect/start/session.h"
#include "collect/start/spawn.h"

struct wndl_run {
    struct wndl_collector_request request;
    struct wndl_recording recording;
    struct wndl_collector_totals totals;
    /* the totals as far as they are in the file */
    struct wndl_collector_totals safe;
    struct wndl_session session;
    struct wndl_loop loop;
    struct wndl_spawn spawn; /* the command */
    struct wndl_binaries binaries;
    struct wndl_lost_shared lost;
    bool has_binaries; /* memory sufficed for their cache */
    int status;        /* the command's, as from waitpid(2) */
    bool ended;        /* the command has ended */
    bool paused;
    bool stopped;  /* the recording is to end now */
    int file;      /* descriptor of the recording's file */
    char *path;    /* its path */
    bool kept_old; /* an earlier recording there was put aside */
};

#endif
