/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 2 * 1024 * 1024, LARGE = 2 * LARGE_PAGE };

/*
 * Asks for large pages. Large tables are read in no order: with small pages,
 * each read waits for the page's entry, too.
 */
static void advise(void *memory, size_t size)
{
    const uintptr_t mask = ~(uintptr_t)(LARGE_PAGE - 1);
    const uintptr_t start = ((uintptr_t)memory + LARGE_PAGE - 1) & mask;
    const uintptr_t end = ((uintptr_t)memory + size) & mask;
    const int saved = errno;
    (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
    errno = saved;
}

static void *libc_resize(struct wndl_mem *mem, void *old, size_t size)
{
    (void)mem;
    if (size == 0) {
        free(old);
        return NULL;
    }
    void *memory = realloc(old, size);
    if (memory != NULL && size >= LARGE)
        advise(memory, size);
    return memory;
}

struct wndl_mem *wndl_mem_libc(void)
{
    /* Never written to; not const only because allocators with a state are. */
    static struct wndl_mem libc_mem = {libc_resize};
    return &libc_mem;
}

void *wndl_mem_zalloc(struct wndl_mem *mem, size_t size)
{
    void *p = mem->resize(mem, NULL, size == 0 ? 1 : size);
    if (p != NULL)
        memset(p, 0, size);
    return p;
}
