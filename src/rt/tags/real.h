/* SPDX-License-Identifier: MIT */
/*
 * real: the functions that this object hooks, of the next object that has them.
 * Until they are found each leads to one that finds them.
 */
#ifndef WNDL_RT_TAGS_REAL_H
#define WNDL_RT_TAGS_REAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <threads.h>

/* A definition that the program sees. */
#define WNDL_RT_TAGS_HOOK __attribute__((visibility("default")))

/* `usable` gives 0 where the allocator does not tell sizes. */
struct wndl_rt_tags_real {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    size_t (*usable)(void *);
    bool keeps_sizes; /* glibc's: a word before each block has its size */
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    int (*pthread_create)(
        pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*thrd_create)(thrd_t *, thrd_start_t, void *);
    int (*mlockall)(int);
};

extern struct wndl_rt_tags_real wndl_rt_tags_real
    __attribute__((visibility("hidden")));

/* Finds all, once. False: they are being looked for, by this thread. */
bool wndl_rt_tags_resolve(void);

/* Whether a function is in the same object as the allocator's malloc. */
bool wndl_rt_tags_is_allocators(const void *function);

/* Whether the program's first malloc is in the object that exports this. */
bool wndl_rt_tags_is_first(const void *exported);

/*
 * A block for what is allocated while malloc is looked for. It is never freed;
 * all frees then have to ask wndl_rt_tags_is_early().
 */
void *wndl_rt_tags_allocate_early(size_t alignment, size_t size);
bool wndl_rt_tags_is_early(const void *block);
size_t wndl_rt_tags_early_readable(const void *block);

#endif
