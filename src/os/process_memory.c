/* SPDX-License-Identifier: MIT */
#include "os/process_memory.h"

#include <sys/uio.h>

/* The call reads parts as a whole or not: each part is in one page. */
enum { PARTS = 16 };

static ssize_t read_parts(pid_t pid, uint64_t address, uint8_t *to, size_t size)
{
    struct iovec remote[PARTS];
    unsigned long count = 0;
    size_t used = 0;
    for (; count < PARTS && used < size; count++) {
        uint64_t at = address + used;
        size_t part = WNDL_PROCESS_PAGE - at % WNDL_PROCESS_PAGE;
        if (part > size - used)
            part = size - used;
        remote[count].iov_base = (void *)(uintptr_t)at;
        remote[count].iov_len = part;
        used += part;
    }
    struct iovec local = {to, used};
    return process_vm_readv(pid, &local, 1, remote, count, 0);
}

size_t wndl_process_read(pid_t pid, uint64_t address, void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got =
            read_parts(pid, address + done, (uint8_t *)to + done, size - done);
        if (got <= 0)
            break;
        done += (size_t)got;
        if ((address + done) % WNDL_PROCESS_PAGE != 0)
            break;
    }
    return done;
}
