/* SPDX-License-Identifier: MIT */
/*
 * mapping: hooks of the calls by which a program maps memory itself. What the
 * libc and ld.so map does not come here.
 */
#include "os/raw.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/heap/count/enter.h"
#include "rt/heap/count/thread.h"
#include "rt/heap/hook/entry.h"
#include "rt/heap/record/mappings.h"

#include <stdarg.h>
#include <sys/mman.h>

void wndl_rt_heap_note_mapping(
    const void *, size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("wndl_rt_note_mapping", "wndl_rt_heap_note_mapping", 2);
void wndl_rt_note_mapping(const void *, size_t)
    __attribute__((visibility("hidden")));

/* The innermost frame is our hook's. */
static uint32_t caller_of(uint32_t node)
{
    return node == 0 ? 0 : wndl_stacktree_node(wndl_rt.tree, node)->parent;
}

void wndl_rt_heap_note_mapping(
    const void *address, size_t size, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    struct wndl_heap_mapped *mapped = wndl_rt_heap_mapped();
    uint32_t node = 0;
    if (t == NULL)
        return;
    if (mapped != NULL && size >= WNDL_HEAP_MAPPED_LEAST &&
        wndl_rt_heap_stack(t, regs, &node) != 0)
        node = 0;
    if (mapped != NULL)
        wndl_rt_mappings_set(mapped, address, size, caller_of(node));
    wndl_rt_heap_leave();
}

/* ---- hooks */

WNDL_RT_HOOK void *mmap(
    void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *at =
        wndl_rt_real()->mmap(address, size, protection, flags, fd, offset);
    if (at != MAP_FAILED)
        wndl_rt_note_mapping(at, size);
    return at;
}

WNDL_RT_HOOK void *mmap64(void *address, size_t size, int protection, int flags,
    int fd, off64_t offset)
{
    void *at =
        wndl_rt_real()->mmap64(address, size, protection, flags, fd, offset);
    if (at != MAP_FAILED)
        wndl_rt_note_mapping(at, size);
    return at;
}

WNDL_RT_HOOK void *mremap(
    void *address, size_t before, size_t after, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *wanted =
        (flags & MREMAP_FIXED) != 0 ? va_arg(list, void *) : (void *)NULL;
    va_end(list);
    void *at = wndl_rt_real()->mremap(address, before, after, flags, wanted);
    if (at == MAP_FAILED)
        return at;
    wndl_rt_mappings_end(address, before);
    wndl_rt_note_mapping(at, after);
    return at;
}
