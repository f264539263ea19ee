/* SPDX-License-Identifier: MIT */
#include "collect/loop/settings.h"

#include "rec/heap.h"

#include <string.h>
#include <sys/resource.h>

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
                .heap_pointer_tags = request->heap.pointer_tags,
                .nodes = has_heap ? WNDL_SHM_NODES_HEAP : WNDL_SHM_NODES,
            },
    };
    memcpy(settings->go.threads, request->threads, sizeof settings->go.threads);
    memcpy(settings->tables, request->tables, sizeof settings->tables);
}

/*
 * The memory is mapped here too, where one limit holds for all processes
 * together.
 */
void wndl_settings_choose_room(
    struct wndl_collector_heap_request *heap, pid_t pid, bool wide)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    const bool is_known = prlimit(pid, RLIMIT_AS, NULL, &limit) == 0;
    heap->sites = wndl_heap_sites_within(limit.rlim_cur, wide);
    heap->nodes = wndl_heap_nodes_beside(
        heap->sites, !is_known || limit.rlim_cur != RLIM_INFINITY);
}
