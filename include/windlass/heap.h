/* SPDX-License-Identifier: MIT */
/*
 * windlass/heap.h: what a program with an allocator of its own can tell the
 * recorder of its heap, and ask of it. This header is all that is needed:
 * nothing is linked, and in a program whose heap is not recorded each function
 * is a load and a branch. WNDL_HEAP_DISABLE, defined before, leaves nothing at
 * all. (A libc before glibc 2.34 wants -ldl.)
 *
 *     void *block = pool_take(pool, size);
 *     wndl_heap_on_alloc(block, size);
 *     ...
 *     wndl_heap_on_free(block);
 *     pool_give_back(pool, block);
 *
 * Any thread may call any of these at any time; in a signal handler nothing is
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
 * Private: what the recorder shows, as "wndl_rt_heap_table". It only grows:
 * `size` tells how far.
 */
struct wndl_heap_table {
    size_t size;
    void (*on_alloc)(const void *block, size_t size);
    void (*on_free)(const void *block);
    int (*dump)(const char *text);
    int (*active)(void);
};

#ifdef WNDL_HEAP_DISABLE

static inline const struct wndl_heap_table *wndl_heap_table_find(void)
{
    return NULL;
}

#else

/* Private. Two threads may look at once: they find the same. */
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
 * A block of an allocator that the recorder does not know, with the caller's
 * stack. Memory that it was cut out of may be a block of its own: each counts.
 * It is not looked for leaks. Where blocks are sampled, those that are not
 * taken are not in the totals either.
 */
static inline void wndl_heap_on_alloc(const void *block, size_t size)
{
    const struct wndl_heap_table *table = wndl_heap_table_find();
    if (table != NULL && block != NULL)
        table->on_alloc(block, size);
}

/* Its end, before it can be given to another. Others' blocks are let be. */
static inline void wndl_heap_on_free(const void *block)
{
    const struct wndl_heap_table *table = wndl_heap_table_find();
    if (table != NULL && block != NULL)
        table->on_free(block);
}

/*
 * Has a snapshot of the heap recorded, named `text` (copied; 199 bytes are
 * kept). Returns 1 when it has been taken, 0 when nothing is recorded or it was
 * not taken within two seconds.
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
