/* SPDX-License-Identifier: MIT */
/*
 * memory: the memory of another process during one read of a stack, page by
 * page.
 */
#ifndef WNDL_COLLECT_OFFCPU_MEMORY_H
#define WNDL_COLLECT_OFFCPU_MEMORY_H

#include "base/bytes.h"
#include "os/process_memory.h"

enum { WNDL_OFFCPU_PAGES = 64 };

/*
 * Pages of the process that is being read. Invariant: a slot is valid if its
 * `look` equals the memory's; it then has its page as of this read. Zeroed
 * memory has a `look` of 0: the first read raises it.
 */
struct wndl_offcpu_memory {
    struct {
        uint64_t look, address;
        bool is_readable;
    } slots[WNDL_OFFCPU_PAGES];
    uint8_t pages[WNDL_OFFCPU_PAGES][WNDL_PROCESS_PAGE];
    uint64_t look;
};

/* Reads `count` pages from `page` on. False if even the first one fails. */
bool wndl_offcpu_memory_fetch(
    struct wndl_offcpu_memory *memory, pid_t pid, uint64_t page, size_t count);

/* Copies to.size bytes at `address` to `to`. False: not all are readable. */
bool wndl_offcpu_memory_read(struct wndl_offcpu_memory *memory, pid_t pid,
    uint64_t address, struct wndl_bytes to);

#endif
