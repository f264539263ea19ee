/* SPDX-License-Identifier: MIT */
/*
 * windlass/profile.h: what a program can tell the recorder that may be
 * recording it. This header is all that is needed: nothing is linked, and in
 * a program that is not recorded each function is a load and a branch.
 * WNDL_PROFILE_DISABLE, defined before, leaves nothing at all. (A libc before
 * glibc 2.34 wants -ldl.)
 *
 *     uint64_t start = wndl_profile_now();
 *     load(level);
 *     wndl_profile_mark_span("load", start, wndl_profile_now() - start);
 *
 * Any thread may call any of these at any time, except that the first call
 * of a source file must not be made in a signal handler. Nothing can fail:
 * what does not fit the recording's buffers is lost and counted. Texts are
 * copied, up to 200 bytes; errno is kept.
 */
#ifndef WINDLASS_PROFILE_H
#define WINDLASS_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#ifndef WNDL_PROFILE_DISABLE
#include <dlfcn.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct wndl_jit;

/*
 * Private: what the recorder shows, as "wndl_rt_profile". It only grows:
 * `size` tells how far.
 */
struct wndl_profile_table {
    size_t size;
    uint64_t (*now)(void);
    void (*mark)(const char *text, uint64_t start, uint64_t duration);
    void (*missed_deadline)(const char *text, uint64_t by);
    void (*name_thread)(const char *name);
    void (*pause)(int paused);
    int (*active)(void);
    void (*use_jit)(struct wndl_jit *jit); /* the first that may be missing */
};

#ifdef WNDL_PROFILE_DISABLE

static inline const struct wndl_profile_table *wndl_profile_table_find(void)
{
    return NULL;
}

#else

/* Private. Two threads may look at once: they find the same. */
static inline const struct wndl_profile_table *wndl_profile_table_find(void)
{
    static const struct wndl_profile_table *found;
    static int looked;
    if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
        const struct wndl_profile_table *table =
            (const struct wndl_profile_table *)dlsym(NULL, "wndl_rt_profile");
        if (table != NULL &&
            table->size < offsetof(struct wndl_profile_table, use_jit))
            table = NULL;
        __atomic_store_n(&found, table, __ATOMIC_RELAXED);
        __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&found, __ATOMIC_RELAXED);
}

#endif

/* 1 while the calling process is recorded and not paused, else 0. */
static inline int wndl_profile_active(void)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    return table == NULL ? 0 : table->active();
}

/* CLOCK_MONOTONIC in ns, for the marks; 0 when not recorded. */
static inline uint64_t wndl_profile_now(void)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    return table == NULL ? 0 : table->now();
}

/* This happened now, in this thread. */
static inline void wndl_profile_mark(const char *text)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL)
        table->mark(text, table->now(), 0);
}

/* This went on for `duration` ns from `start` (of wndl_profile_now()). */
static inline void wndl_profile_mark_span(
    const char *text, uint64_t start, uint64_t duration)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL)
        table->mark(text, start, duration);
}

/* This should have been done `by` ns ago. */
static inline void wndl_profile_missed_deadline(const char *text, uint64_t by)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL)
        table->missed_deadline(text, by);
}

/*
 * Names the calling thread, in the recording and, for it is the same name, in
 * the system; 15 bytes are kept. Does nothing when not recorded.
 */
static inline void wndl_profile_name_thread(const char *name)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL)
        table->name_thread(name);
}

/*
 * No samples of this process, and of children that it forks, until
 * wndl_profile_resume(). Does not nest. Marks are still recorded. A recording
 * that is paused from outside stays so.
 */
static inline void wndl_profile_pause(void)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL)
        table->pause(1);
}

static inline void wndl_profile_resume(void)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL)
        table->pause(0);
}

/*
 * Lets samples' stacks go through generated code that is registered in `jit`
 * (windlass/jit.h), from now on and in children that are forked. One registry
 * in a process; NULL: none. It has to stay where it is until the process ends.
 * Does nothing when not recorded, or by an older recorder.
 */
static inline void wndl_profile_use_jit(struct wndl_jit *jit)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL &&
        table->size > offsetof(struct wndl_profile_table, use_jit))
        table->use_jit(jit);
}

#ifdef __cplusplus
}
#endif

#endif
