/* SPDX-License-Identifier: MIT */
#include "collect/loop/settings.h"

#include "rec/heap.h"

#include <string.h>

void wndl_settings_fill(struct wndl_settings *settings,
    const struct wndl_collector_request *request)
{
    const bool has_heap = request->heap.flags != 0;
    *settings = (struct wndl_settings){
        .paused = request->delay != 0,
        .go =
            {
                .version = WNDL_SHM_VERSION,
                .engine = request->engine.engine,
                .fallback = request->engine.fallback,
                .interval = request->interval,
                .max_frames = request->max_frames,
                .unwind = request->unwind,
                .heap = request->heap.flags,
                .heap_sites = has_heap ? WNDL_HEAP_SITES : 0,
                .heap_sample_below = request->heap.sample_below,
                .nodes = has_heap ? WNDL_SHM_NODES_HEAP : WNDL_SHM_NODES,
            },
    };
    memcpy(settings->go.threads, request->threads, sizeof settings->go.threads);
    memcpy(settings->tables, request->tables, sizeof settings->tables);
}
