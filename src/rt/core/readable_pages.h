/* SPDX-License-Identifier: MIT */
/*
 * readable_pages: the pages of the program's memory that can be read in place,
 * and those that need not be read at all.
 *
 * Memory may be mapped for reading and yet be unreadable. A page of a file is
 * gone if somebody truncates the file; a guard page (MADV_GUARD_INSTALL) is in
 * no list of mappings; a protection key may forbid what the mapping allows;
 * another thread may unmap it. A page may thus be read in place only if it is
 * - of private memory without a file,
 * - present according to the kernel (pagemap in proc(5)). Guards, poisoned
 *   pages, pages that userfaultfd(2) provides, and pages that were swapped out,
 *   which may be lost, are not.
 * - of a process with one thread and no child that might share the memory
 *   (clone(2) with CLONE_VM alone), while no handler of the program's runs and
 *   all protection keys are open.
 *
 * All other pages are left to the kernel (read_parts.h). A page that was never
 * touched holds zeroes. A process that shares the memory but is no longer a
 * child, because its parent has ended, goes unnoticed.
 */
#ifndef WNDL_RT_CORE_READABLE_PAGES_H
#define WNDL_RT_CORE_READABLE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wndl_rt_page {
    WNDL_RT_PAGE_UNTOUCHED = 0,
    WNDL_RT_PAGE_PRESENT = 1, /* can be read in place */
    WNDL_RT_PAGE_OTHER = 2,   /* only the kernel can read it safely */
    WNDL_RT_PAGE_WIPED = 3,   /* zeroes in a copy of the process */
};

/*
 * Before Linux 6.7 the state of each page must be read, touched or not. Of more
 * pages nothing is read: 256 GB of address space take half a second.
 */
enum { WNDL_RT_PAGES_READ_MOST = 1 << 26 };

struct wndl_rt_own_pages {
    int pagemap;     /* descriptor; -1: pages are not known */
    size_t read;     /* pages whose state was read so far */
    bool too_many;   /* pages: the states of some are not known */
    bool in_place;   /* pages may be read in place */
    bool for_copy;   /* only because of a copy */
    uint64_t mask;   /* signal mask to restore */
    uint32_t rights; /* protection key rights to restore */
};

/*
 * Until end() the thread runs no handler of the program's, if pages may be read
 * in place, so that the list of mappings stays valid. Not for signal handlers,
 * not in sandboxes.
 */
void wndl_rt_own_pages_begin(struct wndl_rt_own_pages *pages);
void wndl_rt_own_pages_end(const struct wndl_rt_own_pages *pages);

/*
 * For a copy of the process, also where pages may not be read in place in the
 * process itself. Between begin and end the copy is made and asked about its
 * pages, which it may read in place. Pages that it lacks (MADV_DONTFORK) go
 * unnoticed.
 */
void wndl_rt_own_pages_begin_copy(struct wndl_rt_own_pages *pages);
void wndl_rt_own_pages_end_copy(struct wndl_rt_own_pages *pages);

/*
 * The states of the pages of an area, one enum wndl_rt_page each. Large address
 * space of which little is touched costs little time and no memory: nothing is
 * written for untouched pages, and nothing need be read of a part without any
 * other.
 */
struct wndl_rt_page_states {
    uint8_t *pages; /* NULL: nothing is known */
    uint8_t *parts; /* of WNDL_RT_PAGES_PART pages; 0: all are untouched */
    size_t count;   /* of pages */
};

enum { WNDL_RT_PAGES_PART = 512 };

static inline size_t wndl_rt_pages_part_count(size_t pages)
{
    return (pages + WNDL_RT_PAGES_PART - 1) / WNDL_RT_PAGES_PART;
}

/* The first page from `from` on that was touched, or `end`. */
size_t wndl_rt_pages_next_touched(
    const struct wndl_rt_page_states *states, size_t from, size_t end);

/*
 * Classifies the pages from `start` on, of private memory without a file. The
 * states are zeroed before. False: nothing is known. Then, if pages->too_many
 * is set, even to read these pages by the kernel would take too long.
 */
bool wndl_rt_own_pages_look(struct wndl_rt_own_pages *pages, uintptr_t start,
    const struct wndl_rt_page_states *states);

#endif
