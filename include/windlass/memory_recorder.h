/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory_recorder.h: `windlass heap` in the same process, below
 * windlass/memory.h. Include that one.
 *
 * The recorder knows every block. It answers for pointers that are none, and in
 * dark-matter mode it notes which blocks the reporters measure.
 */
#ifndef WINDLASS_MEMORY_RECORDER_H
#define WINDLASS_MEMORY_RECORDER_H

#include <windlass/heap.h>
#include <windlass/memory_heap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Private: libc's, where the program is linked dynamically. */
extern void *wndl_memory_dlsym(void *handle, const char *name) __asm__("dlsym")
    __attribute__((weak));

/* Private. */
struct wndl_memory_recording {
    const struct wndl_heap_table *table; /* NULL: nothing is recorded */
    uint32_t is_known;
    uint32_t is_watched; /* the end of the process */
};

/* Private. */
extern struct wndl_memory_recording wndl_memory_recording;
__attribute__((weak,
    visibility("default"))) struct wndl_memory_recording wndl_memory_recording;

/* Private: threads may race here; all of them find the same table. */
static inline void wndl_memory_find_recorder(void)
{
    struct wndl_memory_recording *r = &wndl_memory_recording;
    const struct wndl_heap_table *table =
        wndl_memory_dlsym == NULL
            ? NULL
            : (const struct wndl_heap_table *)wndl_memory_dlsym(
                  NULL, "wndl_rt_heap_table");
    if (table != NULL && table->size < sizeof *table)
        table = NULL; /* an older recorder */
    __atomic_store_n(&r->table, table, __ATOMIC_RELAXED);
    __atomic_store_n(&r->is_known, 1, __ATOMIC_RELEASE);
}

/* Private: NULL if there is none. */
static inline const struct wndl_heap_table *wndl_memory_recorder(void)
{
    struct wndl_memory_recording *r = &wndl_memory_recording;
    if (!__atomic_load_n(&r->is_known, __ATOMIC_ACQUIRE))
        wndl_memory_find_recorder();
    return __atomic_load_n(&r->table, __ATOMIC_RELAXED);
}

/* Private: windlass/memory.h has its contract. */
static inline size_t wndl_memory_measure(const void *block)
{
    const struct wndl_heap_table *table = wndl_memory_recorder();
    return table == NULL ? wndl_memory_usable(block) : table->size_of(block);
}

/* Private: windlass/memory.h has its contract. */
static inline size_t wndl_memory_measure_on_alloc(const void *block)
{
    const struct wndl_heap_table *table = wndl_memory_recorder();
    return table == NULL ? wndl_memory_usable(block)
                         : table->report_on_alloc(block);
}

/* Private: live bytes of all blocks; -1 if nothing is recorded. */
static inline int64_t wndl_memory_recorded_bytes(void)
{
    const struct wndl_heap_table *table = wndl_memory_recorder();
    return table == NULL ? -1 : (int64_t)table->live_bytes();
}

#ifdef __cplusplus
}
#endif

#endif
