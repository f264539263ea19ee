/* SPDX-License-Identifier: MIT */
#include "rt/core/read_parts.h"

#include "os/own_memory.h"
#include "os/raw.h"
#include "rt/core/rt.h"

#include <errno.h>

static size_t to_page_end(uint64_t address)
{
    return WNDL_RT_PAGE - (size_t)(address % WNDL_RT_PAGE);
}

/* For emulators, which lack the call. */
static size_t read_by_pages(
    uint8_t *to, size_t room, const struct iovec *parts, size_t count)
{
    struct wndl_own_memory memory = {0};
    size_t got = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = (uintptr_t)parts[i].iov_base;
        uint64_t end = at + parts[i].iov_len;
        while (at < end && got < room) {
            size_t size = to_page_end(at);
            size = size < end - at ? size : (size_t)(end - at);
            size = size < room - got ? size : room - got;
            if (!wndl_own_memory_read(&memory, at, to + got, size))
                return got;
            got += size;
            at += size;
        }
    }
    return got;
}

size_t wndl_rt_read_parts(
    void *to, size_t room, const struct iovec *parts, size_t count)
{
    struct iovec local = {to, room};
    long a[] = {wndl_rt.pid, (long)&local, 1, (long)parts};
    long got = wndl_raw6(SYS_process_vm_readv, a, (long)count, 0);
    if (got == -ESRCH) {
        /* The first thread has ended. */
        a[0] = wndl_raw_gettid();
        got = wndl_raw6(SYS_process_vm_readv, a, (long)count, 0);
    }
    if (got == -ENOSYS)
        return read_by_pages(to, room, parts, count);
    return got < 0 ? 0 : (size_t)got;
}
