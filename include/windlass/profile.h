/* SPDX-License-Identifier: MIT */
/*
 * windlass/profile.h: how a program annotates the recording made of it.
 *
 * This header is all that is needed: nothing is linked, and in a program that
 * is not recorded each function is a load and a branch. With
 * WNDL_PROFILE_DISABLE defined before the include, no code is left at all. (A
 * libc before glibc 2.34 needs -ldl.)
 *
 *     uint64_t start = wndl_profile_now();
 *     load(level);
 *     wndl_profile_mark_span("load", start, wndl_profile_now() - start);
 *
 * Any thread may call any of these at any time, with one exception: the first
 * call of a source file must not be made in a signal handler. No call fails:
 * events that do not fit the recording's buffers are lost and counted. Texts
 * are copied, up to 200 bytes; NULL means "". Times are nanoseconds of
 * CLOCK_MONOTONIC. errno is kept.
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
 * Private: the recorder's functions, which it exports as "wndl_rt_profile". The
 * table only grows: `size` is that of the recorder's.
 */
struct wndl_profile_table {
    size_t size;
    uint64_t (*now)(void);
    void (*mark)(const char *text, uint64_t start, uint64_t duration);
    void (*missed_deadline)(const char *text, uint64_t by);
    void (*name_thread)(const char *name);
    void (*pause)(int paused);
    int (*active)(void);
    void (*use_jit)(struct wndl_jit *jit); /* the first that may be absent */
};

#ifdef WNDL_PROFILE_DISABLE

static inline const struct wndl_profile_table *wndl_profile_table_find(void)
{
    return NULL;
}

#else

/* Private. Threads may race here: all of them find the same table. */
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

/*
 * The time for marks: CLOCK_MONOTONIC in ns; 0 if the process is not recorded.
 */
static inline uint64_t wndl_profile_now(void)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    return table == NULL ? 0 : table->now();
}

/* Marks this moment in the calling thread. `text` is its label. */
static inline void wndl_profile_mark(const char *text)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL)
        table->mark(text, table->now(), 0);
}

/*
 * Marks a span of time in the calling thread. `text` is its label, `start` a
 * time from wndl_profile_now(), `duration` the length in ns.
 */
static inline void wndl_profile_mark_span(
    const char *text, uint64_t start, uint64_t duration)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL)
        table->mark(text, start, duration);
}

/*
 * Marks a deadline that the calling thread missed. `text` is its label, `by`
 * how late it is now, in ns.
 */
static inline void wndl_profile_missed_deadline(const char *text, uint64_t by)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL)
        table->missed_deadline(text, by);
}

/*
 * Names the calling thread. The recording uses the name that the system has, so
 * this changes that, too. `name` is copied; 15 bytes are kept. It must not be
 * NULL. Does nothing if the process is not recorded.
 */
static inline void wndl_profile_name_thread(const char *name)
{
    const struct wndl_profile_table *table = wndl_profile_table_find();
    if (table != NULL)
        table->name_thread(name);
}

/*
 * Stops sampling this process, and children that it forks, until
 * wndl_profile_resume(). Calls do not nest. Marks are still recorded. A
 * recording that was paused from outside stays paused.
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
 * Makes samples' stacks go through generated code (windlass/jit.h). It holds
 * from now on, and in children that are forked.
 *
 * `jit` is the registry of that code. It has to stay in place until the process
 * ends. A process has one registry; a second call replaces it, and NULL removes
 * it.
 *
 * Does nothing if the process is not recorded, or if the recorder is older than
 * this function.
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
