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

struct wndl_rt_own_pages {
    int pagemap;     /* descriptor; -1: pages are not known */
    bool in_place;   /* pages may be read in place */
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
 * For a copy of the process, where pages may not be read in place in the
 * process itself. Between begin and end the copy is made and asked about its
 * pages, which it may read in place. Pages that it lacks (MADV_DONTFORK) go
 * unnoticed.
 */
void wndl_rt_own_pages_begin_copy(struct wndl_rt_own_pages *pages);
void wndl_rt_own_pages_end_copy(struct wndl_rt_own_pages *pages);

/*
 * Classifies `count` pages from `start` on, one enum wndl_rt_page each. They
 * are of private memory without a file. `states` is zeroed before, and written
 * only for pages that hold something, so that large address space costs no
 * memory. False: nothing is known.
 */
bool wndl_rt_own_pages_look(const struct wndl_rt_own_pages *pages,
    uintptr_t start, size_t count, uint8_t *states);

#endif
