/* SPDX-License-Identifier: MIT */
#include "collect/offcpu/threads.h"

#include <stdio.h>
#include <string.h>

void wndl_collector_threads_init(struct wndl_collector_threads *threads,
    struct wndl_recording *recording, uint32_t process, uint32_t *count)
{
    threads->recording = recording;
    threads->count = count;
    threads->process = process;
    wndl_arena_init(&threads->arena, wndl_mem_libc());
    wndl_vec_init(
        &threads->all, &threads->arena, sizeof(struct wndl_collector_thread));
    wndl_map_init(&threads->by_tid, &threads->arena);
}

void wndl_collector_threads_free(struct wndl_collector_threads *threads)
{
    wndl_arena_free(&threads->arena);
}

static void announce(struct wndl_collector_threads *threads,
    const struct wndl_collector_thread *thread, uint64_t time)
{
    const struct wndl_recording_thread announced = {
        .process = threads->process,
        .index = thread->index,
        .tid = thread->tid,
        .time = time,
        .name = thread->name,
    };
    wndl_recording_thread(threads->recording, &announced);
}

struct wndl_collector_thread *wndl_collector_thread_of(
    struct wndl_collector_threads *threads, uint32_t tid, uint64_t time)
{
    uint64_t *at = wndl_map_put(&threads->by_tid, tid);
    if (at == NULL)
        return NULL;
    if (*at != 0) {
        struct wndl_collector_thread *known =
            wndl_vec_at(&threads->all, *at - 1);
        if (!known->ended)
            return known;
    }
    struct wndl_collector_thread *thread = wndl_vec_push(&threads->all);
    if (thread == NULL)
        return NULL;
    *at = threads->all.len;
    thread->tid = tid;
    thread->index = (*threads->count)++;
    announce(threads, thread, time);
    return thread;
}

bool wndl_collector_thread_ended_since(
    struct wndl_collector_threads *threads, uint32_t tid, uint64_t time)
{
    const uint64_t *at = wndl_map_get(&threads->by_tid, tid);
    if (at == NULL || *at == 0)
        return false;
    const struct wndl_collector_thread *thread =
        wndl_vec_at(&threads->all, *at - 1);
    return thread->ended && thread->end >= time;
}

void wndl_collector_thread_name(struct wndl_collector_threads *threads,
    struct wndl_collector_thread *thread, const char *name, uint64_t time)
{
    if (strncmp(thread->name, name, sizeof thread->name) == 0)
        return;
    snprintf(thread->name, sizeof thread->name, "%s", name);
    announce(threads, thread, time);
}

void wndl_collector_thread_sampled(
    struct wndl_collector_threads *threads, uint32_t tid, uint64_t cpu)
{
    const uint64_t *at = wndl_map_get(&threads->by_tid, tid);
    struct wndl_collector_thread *thread =
        at == NULL || *at == 0 ? NULL : wndl_vec_at(&threads->all, *at - 1);
    if (thread != NULL)
        thread->sampled += cpu;
}

void wndl_collector_thread_end(struct wndl_collector_threads *threads,
    struct wndl_collector_thread *thread, uint64_t time, uint64_t cpu)
{
    if (thread->ended)
        return;
    thread->ended = true;
    thread->end = time;
    wndl_recording_thread_end(threads->recording, thread->index, time, cpu);
}
