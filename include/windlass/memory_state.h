/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory_state.h: the reporters of a process and how they are run,
 * below windlass/memory.h. Include that one.
 *
 * The program and all libraries that see each other's symbols have one state.
 * Those that do not have one of their own each, and `windlass memory` asks all
 * of them.
 */
#ifndef WINDLASS_MEMORY_STATE_H
#define WINDLASS_MEMORY_STATE_H

#include <pthread.h>
#include <windlass/memory_recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Private: values of `wanted`. */
enum {
    WNDL_MEMORY_NOBODY,
    WNDL_MEMORY_ASKED,   /* polled reporters are to run */
    WNDL_MEMORY_AT_WORK, /* they do */
    WNDL_MEMORY_FORKED   /* this is a child, which serves nobody yet */
};

/*
 * Private: `list` guards the list and who runs, and is never held while a
 * reporter runs; `run` is held for a run.
 */
struct wndl_memory_state {
    pthread_mutex_t list;
    pthread_mutex_t run;
    struct wndl_memory_reporter *first;
    struct wndl_memory_reporter *running;
    struct wndl_memory_sink *sink; /* of who waits for polled reporters */
    uint64_t listener_number;      /* its inode */
    int listener;
    uint32_t running_thread;
    uint32_t run_thread; /* that holds `run` */
    uint32_t wanted;
    uint32_t turn;
    uint32_t served; /* 1: a thread serves; 2: none can */
    uint32_t is_watched;
};

/* Private. */
extern struct wndl_memory_state wndl_memory_state;
__attribute__((
    weak, visibility("default"))) struct wndl_memory_state wndl_memory_state;

/* Private: its address is that of the program or library. */
extern const char wndl_memory_object __asm__("__dso_handle")
    __attribute__((visibility("hidden")));

/* Private: runs a reporter that this program or library has registered. */
static inline void wndl_memory_call_here(struct wndl_memory_sink *sink,
    const char *name, wndl_memory_function report, void *data)
{
#if defined(__cplusplus) && defined(__EXCEPTIONS)
    try {
        report(sink, data);
    } catch (...) {
        wndl_memory_put_missing(sink, name, "it threw an exception");
    }
#else
    (void)name;
    report(sink, data);
#endif
}

/* Private. */
static inline uint32_t wndl_memory_thread(void)
{
    return (uint32_t)wndl_memlog_call(SYS_gettid);
}

/* Private: waits for `ms`, or until `fd` (-1: none) can be read or is shut. */
static inline void wndl_memory_wait(int fd, int ms)
{
    struct {
        int fd;
        short events;
        short revents;
    } one = {fd, 0x2001, 0}; /* POLLIN, POLLRDHUP */
    struct wndl_memlog_time time = {0, 0};
    time.seconds = ms / 1000;
    time.nanoseconds = (long)(ms % 1000) * 1000000;
    wndl_memlog_call(
        SYS_ppoll, &one, fd < 0 ? 0L : 1L, &time, (void *)0, (long)8);
}

/* Private: adds a reporter at the end, so that they run in their order. */
static inline void wndl_memory_link(struct wndl_memory_reporter *reporter,
    const void *object,
    void (*call)(
        struct wndl_memory_sink *, const char *, wndl_memory_function, void *))
{
    struct wndl_memory_state *state = &wndl_memory_state;
    struct wndl_memory_reporter **at = &state->first;
    pthread_mutex_lock(&state->list);
    if (!reporter->linked.is_registered) {
        while (*at != NULL)
            at = &(*at)->linked.next;
        reporter->linked.next = NULL;
        reporter->linked.object = object;
        reporter->linked.call = call;
        reporter->linked.turn = state->turn;
        reporter->linked.is_registered = 1;
        __atomic_store_n(at, reporter, __ATOMIC_RELEASE); /* fork() sees it */
    }
    pthread_mutex_unlock(&state->list);
}

/* Private: `ms` from now, in ns of the clock of wndl_memlog_now(). */
static inline uint64_t wndl_memory_after(uint64_t ms)
{
    return wndl_memlog_now(WNDL_MEMLOG_CLOCK_MONOTONIC) + ms * 1000000;
}

/* Private. */
static inline int wndl_memory_is_before(uint64_t time)
{
    return wndl_memlog_now(WNDL_MEMLOG_CLOCK_MONOTONIC) < time;
}

/*
 * Private: waits, with `list` held, while another thread runs a reporter, until
 * `end`.
 */
static inline void wndl_memory_await(
    const struct wndl_memory_reporter *reporter, uint64_t end)
{
    struct wndl_memory_state *state = &wndl_memory_state;
    const uint32_t self = wndl_memory_thread();
    while (state->running == reporter && state->running_thread != self &&
           wndl_memory_is_before(end)) {
        pthread_mutex_unlock(&state->list);
        wndl_memory_wait(-1, 1);
        pthread_mutex_lock(&state->list);
    }
}

/* Private: removes a reporter. */
static inline void wndl_memory_unlink(
    struct wndl_memory_reporter *reporter, uint64_t end)
{
    struct wndl_memory_state *state = &wndl_memory_state;
    struct wndl_memory_reporter **at = &state->first;
    pthread_mutex_lock(&state->list);
    while (*at != NULL && *at != reporter)
        at = &(*at)->linked.next;
    if (*at != NULL) {
        *at = reporter->linked.next;
        reporter->linked.is_registered = 0;
    }
    wndl_memory_await(reporter, end);
    pthread_mutex_unlock(&state->list);
}

/*
 * Private: removes what a library has registered that is unloaded, or the
 * program that ends. A reporter that does not return does not stop it.
 */
__attribute__((destructor)) static void wndl_memory_leave(void)
{
    enum { LONGEST = 200 }; /* ms */
    struct wndl_memory_state *state = &wndl_memory_state;
    const uint64_t end = wndl_memory_after(LONGEST);
    struct wndl_memory_reporter *at;
    do {
        pthread_mutex_lock(&state->list);
        at = state->first;
        while (at != NULL && at->linked.object != &wndl_memory_object)
            at = at->linked.next;
        pthread_mutex_unlock(&state->list);
        if (at != NULL)
            wndl_memory_unlink(at, end);
    } while (at != NULL);
}

/* Private: takes the next reporter of this turn; a copy of it. */
static inline int wndl_memory_take(
    enum wndl_memory_where where, struct wndl_memory_reporter *taken)
{
    struct wndl_memory_state *state = &wndl_memory_state;
    struct wndl_memory_reporter *at;
    pthread_mutex_lock(&state->list);
    at = state->first;
    while (at != NULL && (at->linked.turn == state->turn || at->where != where))
        at = at->linked.next;
    if (at != NULL) {
        at->linked.turn = state->turn;
        *taken = *at;
        __atomic_store_n(
            &state->running_thread, wndl_memory_thread(), __ATOMIC_RELAXED);
    }
    __atomic_store_n(&state->running, at, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&state->list);
    return at != NULL;
}

/* Private: runs the reporters of a kind that have not run in this turn. */
static inline void wndl_memory_run(
    struct wndl_memory_sink *sink, enum wndl_memory_where where)
{
    struct wndl_memory_reporter one;
    while (wndl_memory_take(where, &one)) {
        wndl_memory_put_running(sink, one.name);
        if (sink->recorder != NULL)
            sink->recorder->begin_reporter(one.name);
        one.linked.call(sink, one.name, one.report, one.data);
    }
}

/* Private: names the polled reporters that have not run. 0: there are none. */
static inline int wndl_memory_list_polled(
    struct wndl_memory_sink *sink, const char *why)
{
    struct wndl_memory_state *state = &wndl_memory_state;
    const struct wndl_memory_reporter *at;
    int count = 0;
    pthread_mutex_lock(&state->list);
    for (at = state->first; at != NULL; at = at->linked.next) {
        if (at->where != WNDL_MEMORY_POLLED || at->linked.turn == state->turn)
            continue;
        if (why != NULL)
            wndl_memory_put_missing(sink, at->name, why);
        count++;
    }
    pthread_mutex_unlock(&state->list);
    return count;
}

/* Private: a new turn, in which no reporter has run. With `run` held. */
static inline void wndl_memory_begin_turn(void)
{
    struct wndl_memory_state *state = &wndl_memory_state;
    pthread_mutex_lock(&state->list);
    state->turn++;
    __atomic_store_n(
        &state->run_thread, wndl_memory_thread(), __ATOMIC_RELAXED);
    pthread_mutex_unlock(&state->list);
}

/* Private. */
static inline void wndl_memory_end_turn(void)
{
    __atomic_store_n(&wndl_memory_state.run_thread, 0, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
}
#endif

#endif
