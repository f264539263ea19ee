/* SPDX-License-Identifier: MIT */
/*
 * readable_pages: which pages of the program's memory can be read where they
 * are, and which need not be read at all.
 *
 * Memory may be mapped for reading and yet not be readable. A page of a file
 * is gone when somebody cuts the file short; a guard page
 * (MADV_GUARD_INSTALL) stands in no list of mappings; a protection key may
 * forbid what the mapping allows; another thread may unmap it. So what may be
 * read in place is a page
 * - of private memory of no file,
 * - that the kernel says is present (pagemap in proc(5)): guards, poisoned
 *   pages and what somebody is to provide (userfaultfd(2)) are not, nor is
 *   what was swapped out, which may be lost,
 * - of a process with one thread and no child, which might share the memory
 *   (clone(2) with CLONE_VM alone), in which no handler of the program's runs
 *   meanwhile, with all protection keys open.
 * All else is left to the kernel (read_parts.h). One that was never touched
 * holds zeroes. A process that shares the memory and is no child any more, as
 * its parent has ended, is not known of.
 */
#ifndef WNDL_RT_CORE_READABLE_PAGES_H
#define WNDL_RT_CORE_READABLE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wndl_rt_page {
    WNDL_RT_PAGE_UNTOUCHED = 0,
    WNDL_RT_PAGE_PRESENT = 1, /* it can be read where it is */
    WNDL_RT_PAGE_OTHER = 2,   /* the kernel is to be asked */
    WNDL_RT_PAGE_WIPED = 3,   /* a copy of the process has zeroes there */
};

struct wndl_rt_own_pages {
    int pagemap;     /* -1: nothing is known of pages */
    bool in_place;   /* they may be read there */
    uint64_t mask;   /* of signals, as it was */
    uint32_t rights; /* of protection keys, as they were */
};

/*
 * From here to end() the thread runs no handler of the program's, if pages may
 * be read in place: what the list of mappings says in between holds. Not for
 * signal handlers, not in sandboxes.
 */
void wndl_rt_own_pages_begin(struct wndl_rt_own_pages *pages);
void wndl_rt_own_pages_end(const struct wndl_rt_own_pages *pages);

/*
 * Around the making of a copy of the process, where pages may not be read in
 * place: what is asked in between is of the copy, in which they may, and the
 * copy keeps to that. What it lacks of them (MADV_DONTFORK) is not known of.
 */
void wndl_rt_own_pages_begin_copy(struct wndl_rt_own_pages *pages);
void wndl_rt_own_pages_end_copy(struct wndl_rt_own_pages *pages);

/*
 * What can be said of `count` pages from `start` on, one enum wndl_rt_page
 * each; they are of private memory of no file. `states` is zeroed before and
 * written only for those that hold something: much address space costs no
 * memory. False: nothing is known.
 */
bool wndl_rt_own_pages_look(const struct wndl_rt_own_pages *pages,
    uintptr_t start, size_t count, uint8_t *states);

#endif
