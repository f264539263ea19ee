/* SPDX-License-Identifier: MIT */
/*
 * mem: the only way to the heap. Everything in windlass that allocates gets a
 * wndl_mem, so that a test can count allocations or make any one of them fail.
 * There is no other malloc outside this folder, and none in `rt`.
 */
#ifndef WNDL_BASE_MEM_H
#define WNDL_BASE_MEM_H

#include <stddef.h>

/*
 * resize(mem, NULL, n) allocates. resize(mem, p, n) keeps the first min(old, n)
 * bytes. resize(mem, p, 0) frees and returns NULL. NULL for n > 0 is failure,
 * after which p is still valid. Memory is aligned as malloc does.
 */
struct wndl_mem {
    void *(*resize)(struct wndl_mem *mem, void *old, size_t size);
};

/* The C library's heap. Never NULL, never freed, any thread. */
struct wndl_mem *wndl_mem_libc(void);

static inline void wndl_mem_free(struct wndl_mem *mem, void *old)
{
    if (old != NULL)
        (void)mem->resize(mem, old, 0);
}

/* Allocates `size` zeroed bytes; NULL on failure. */
void *wndl_mem_zalloc(struct wndl_mem *mem, size_t size);

#endif
