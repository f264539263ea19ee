/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void *libc_resize(struct wndl_mem *mem, void *old, size_t size)
{
    (void)mem;
    if (size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, size);
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
