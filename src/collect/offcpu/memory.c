/* SPDX-License-Identifier: MIT */
#include "collect/offcpu/memory.h"

#include <string.h>

enum { PAGE = WNDL_PROCESS_PAGE, NEXT_PAGES = 2 };

static size_t slot_of(uint64_t page)
{
    return page / PAGE % WNDL_OFFCPU_PAGES;
}

bool wndl_offcpu_memory_fetch(
    struct wndl_offcpu_memory *memory, pid_t pid, uint64_t page, size_t count)
{
    size_t first = slot_of(page);
    if (count > WNDL_OFFCPU_PAGES - first)
        count = WNDL_OFFCPU_PAGES - first;
    size_t got =
        wndl_process_read(pid, page, memory->pages[first], count * PAGE) / PAGE;
    for (size_t i = 0; i < got || i == 0; i++) {
        memory->slots[first + i].look = memory->look;
        memory->slots[first + i].address = page + i * PAGE;
        memory->slots[first + i].is_readable = i < got;
    }
    return got != 0;
}

/* The bytes of a page, or NULL. */
static const uint8_t *page_at(
    struct wndl_offcpu_memory *memory, pid_t pid, uint64_t page)
{
    size_t slot = slot_of(page);
    bool is_known = memory->slots[slot].look == memory->look &&
                    memory->slots[slot].address == page;
    if (!is_known)
        (void)wndl_offcpu_memory_fetch(memory, pid, page, NEXT_PAGES);
    return memory->slots[slot].is_readable ? memory->pages[slot] : NULL;
}

bool wndl_offcpu_memory_read(struct wndl_offcpu_memory *memory, pid_t pid,
    uint64_t address, struct wndl_bytes to)
{
    for (size_t done = 0; done < to.size;) {
        uint64_t at = (address + done) % PAGE;
        const uint8_t *page = page_at(memory, pid, address + done - at);
        if (page == NULL)
            return false;
        size_t part = PAGE - at < to.size - done ? PAGE - at : to.size - done;
        memcpy((uint8_t *)to.data + done, page + at, part);
        done += part;
    }
    return true;
}
