/* SPDX-License-Identifier: MIT */
/*
 * windlass/heap.h: how a program with its own allocator works with the
 * recorder.
 *
 * The program reports its blocks and asks for snapshots. This header is all
 * that is needed: nothing is linked, and in a program whose heap is not
 * recorded each function is a load and a branch. With WNDL_HEAP_DISABLE defined
 * before the include, no code is left at all. (A libc before glibc 2.34 needs
 * -ldl.)
 *
 *     void *block = pool_take(pool, size);
 *     wndl_heap_on_alloc(block, size);
 *     ...
 *     wndl_heap_on_free(block);
 *     pool_give_back(pool, block);
 *
 * Any thread may call any of these at any time. In a signal handler nothing is
 * recorded. errno is kept.
 */
#ifndef WINDLASS_HEAP_H
#define WINDLASS_HEAP_H

#include <stddef.h>

#ifndef WNDL_HEAP_DISABLE
#include <dlfcn.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Private: the recorder's functions, which it exports as "wndl_rt_heap_table".
 * The table only grows: `size` is that of the recorder's.
 */
struct wndl_heap_table {
    size_t size;
    void (*on_alloc)(const void *block, size_t size);
    void (*on_free)(const void *block);
    int (*dump)(const char *text);
    int (*active)(void);
    /* For windlass/memory.h: measures a block, or reports it as long as it
     * lives; all live bytes, or -1. Begins a run of the reporters, or goes on
     * with the last one, in which measured blocks are reported; ends it. */
    size_t (*size_of)(const void *block);
    size_t (*report_on_alloc)(const void *block);
    long (*live_bytes)(void);
    int (*is_dark)(void); /* runs are wanted */
    void (*begin_reports)(int is_new);
    void (*begin_reporter)(const char *name);
    void (*end_reports)(void);
};

#ifdef WNDL_HEAP_DISABLE

static inline const struct wndl_heap_table *wndl_heap_table_find(void)
{
    return NULL;
}

#else

/* Private. Threads may race here: all of them find the same table. */
static inline const struct wndl_heap_table *wndl_heap_table_find(void)
{
    static const struct wndl_heap_table *found;
    static int looked;
    if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&found,
            (const struct wndl_heap_table *)dlsym(NULL, "wndl_rt_heap_table"),
            __ATOMIC_RELAXED);
        __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&found, __ATOMIC_RELAXED);
}

#endif

/* 1 while the heap of the calling process is recorded, else 0. */
static inline int wndl_heap_active(void)
{
    const struct wndl_heap_table *table = wndl_heap_table_find();
    return table == NULL ? 0 : table->active();
}

/*
 * Reports a new block, with the caller's stack.
 *
 * `block` is its address, `size` its bytes. NULL is ignored. Nothing is read
 * from the block.
 *
 * The block counts in addition to the memory that it was cut from, if that is a
 * block, too. It is not searched for leaks. If blocks are sampled, those that
 * are not sampled are missing in the totals, too.
 */
static inline void wndl_heap_on_alloc(const void *block, size_t size)
{
    const struct wndl_heap_table *table = wndl_heap_table_find();
    if (table != NULL && block != NULL)
        table->on_alloc(block, size);
}

/*
 * Reports the end of a block. Call it before the allocator can give the memory
 * to another thread.
 *
 * `block` is the address that wndl_heap_on_alloc got. NULL is ignored. A block
 * of another allocator stays as it is; one of malloc's may be recorded as a
 * wrong free.
 */
static inline void wndl_heap_on_free(const void *block)
{
    const struct wndl_heap_table *table = wndl_heap_table_find();
    if (table != NULL && block != NULL)
        table->on_free(block);
}

/*
 * Asks the recorder for a snapshot of the heap, and waits for it.
 *
 * `text` names the snapshot. It is copied; 199 bytes are kept. NULL means "".
 *
 * Returns 1 if the snapshot was made. Returns 0 if nothing is recorded, or if
 * it was not made within two seconds.
 */
static inline int wndl_heap_dump(const char *text)
{
    const struct wndl_heap_table *table = wndl_heap_table_find();
    return table == NULL ? 0 : table->dump(text);
}

#ifdef __cplusplus
}
#endif

#endif
