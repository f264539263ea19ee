/* SPDX-License-Identifier: MIT */
#include "os/own_memory.h"

#include "os/raw.h"

#include <errno.h>

enum { PAGE = 4096, SIGNAL_SET = 8 };

/*
 * The kernel reads the signal set before it checks the operation, and -1 is no
 * operation: EINVAL means that the set was read, EFAULT that it could not be.
 * Unlike other calls with this effect, it needs no descriptor, and no sandbox
 * forbids it.
 */
static bool is_page_readable(uint64_t page)
{
    return wndl_raw4(SYS_rt_sigprocmask, -1, (long)page, 0, SIGNAL_SET) !=
           -EFAULT;
}

static bool is_readable(
    struct wndl_own_memory *memory, uint64_t address, size_t size)
{
    const uint64_t last = address + size - 1;
    if (last < address || last > UINTPTR_MAX)
        return false;
    for (uint64_t page = address & -(uint64_t)PAGE; page <= last;
         page += PAGE) {
        if (page == 0 || (page != memory->page && !is_page_readable(page)))
            return false;
        memory->page = page;
    }
    return true;
}

/* Sanitizers must not check it: it may be other functions' objects. */
__attribute__((no_sanitize("address", "thread"))) bool wndl_own_memory_read(
    struct wndl_own_memory *memory, uint64_t address, void *to, size_t size)
{
    if (!is_readable(memory, address, size))
        return false;
    const volatile uint8_t *from = (const uint8_t *)(uintptr_t)address;
    uint8_t *bytes = to;
    for (size_t i = 0; i < size; i++)
        bytes[i] = from[i];
    return true;
}
