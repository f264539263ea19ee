/* SPDX-License-Identifier: MIT */
/*
 * mark: annotations of programs by windlass/profile.h. The program calls these
 * in any thread and in its signal handlers.
 */
#include "os/raw.h"
#include "rt/core/rt.h"
#include "rt/sample/events.h"
#include "rt/sample/sample.h"
#include "rt/sample/threads.h"
#include "rt/walk/jit_registry.h"

#include <string.h>
#include <sys/prctl.h>
#include <windlass/profile.h>

enum { KERNEL_SIGSET_BYTES = 8 };

/* A child of vfork shares our memory, and is not recorded. */
static bool is_recorded(void)
{
    return wndl_rt.shm != NULL && atomic_load(&wndl_rt.shm->stop) == 0 &&
           wndl_rt_is_own_process();
}

static uint64_t block_signals(void)
{
    uint64_t all = WNDL_RT_ALL_SIGNALS;
    uint64_t before = 0;
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
        KERNEL_SIGSET_BYTES);
    return before;
}

static void unblock_signals(uint64_t before)
{
    (void)wndl_raw4(
        SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, KERNEL_SIGSET_BYTES);
}

/* Writes an event. The ring has one writer: signals must not interrupt it. */
static void write_event(const struct wndl_event *event)
{
    if (!is_recorded())
        return;
    uint64_t mask = block_signals();
    struct wndl_rt_thread *t = wndl_rt_thread_of(wndl_raw_gettid());
    if (t == NULL)
        wndl_rt_lose(WNDL_LOSS_THREADS_FULL, 1);
    else if (!wndl_rt_event_emit(t, event))
        wndl_rt_lose_to_full_ring();
    unblock_signals(mask);
}

static struct wndl_bytes bytes_of(const char *text)
{
    size_t size = 0;
    while (text != NULL && size < WNDL_EVENT_TEXT_MAX && text[size] != '\0')
        size++;
    return (struct wndl_bytes){(const uint8_t *)text, size};
}

static uint64_t now(void)
{
    return wndl_raw_clock_ns(CLOCK_MONOTONIC);
}

static void mark(const char *text, uint64_t start, uint64_t duration)
{
    write_event(&(struct wndl_event){
        .kind = WNDL_EVENT_MARK,
        .mark = WNDL_MARK_PLAIN,
        .time = start,
        .duration = duration,
        .text = bytes_of(text),
    });
}

static void missed_deadline(const char *text, uint64_t by)
{
    write_event(&(struct wndl_event){
        .kind = WNDL_EVENT_MARK,
        .mark = WNDL_MARK_DEADLINE,
        .time = now() - by,
        .duration = by,
        .text = bytes_of(text),
    });
}

/* Sets the kernel's name, which all tools read. */
static void name_thread(const char *name)
{
    if (!is_recorded())
        return;
    uint64_t mask = block_signals();
    (void)wndl_raw3(SYS_prctl, PR_SET_NAME, (long)name, 0);
    struct wndl_rt_thread *t = wndl_rt_thread_of(wndl_raw_gettid());
    if (t != NULL)
        wndl_rt_thread_announce(t);
    unblock_signals(mask);
}

static void set_paused(int paused)
{
    if (!is_recorded())
        return;
    uint32_t held = atomic_load(&wndl_rt.shm->held);
    bool is_held = held % 2 != 0;
    if (is_held != (paused != 0))
        (void)atomic_compare_exchange_strong(
            &wndl_rt.shm->held, &held, held + 1);
    atomic_store(&wndl_rt.held, paused != 0);
}

static int active(void)
{
    return is_recorded() && wndl_rt_pauses() % 2 == 0;
}

/* Our version may differ from that of the program's library. */
static void use_jit(struct wndl_jit *jit)
{
    if (jit == NULL || wndl_jit_is_known(jit))
        wndl_rt_jit_use(jit);
}

/* The program finds it by its name. It sees no other symbol of this file. */
WNDL_RT_HOOK const struct wndl_profile_table wndl_rt_profile = {
    .size = sizeof wndl_rt_profile,
    .now = now,
    .mark = mark,
    .missed_deadline = missed_deadline,
    .name_thread = name_thread,
    .pause = set_paused,
    .active = active,
    .use_jit = use_jit,
};
