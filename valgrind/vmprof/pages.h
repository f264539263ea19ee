/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages: the pages that a program has touched, and which of them are in a
 * real memory of each size.
 *
 * Each size has its own frames and its own clock. A page that is accessed is
 * marked as referenced. When room is needed, the hand goes round: a referenced
 * page loses its mark, and the first one without a mark leaves.
 */
#ifndef VMPROF_PAGES_H
#define VMPROF_PAGES_H

#include "vmprof.h"

/*
 * Filters in front of the simulation. A page is in `read_tags` while it is
 * present and referenced in memory of every size, and in `write_tags` while it
 * is also dirty in all: then an access would change nothing. A tag is the
 * address of the page's first byte, at index (page number) % TAGS; NO_TAG
 * equals the masked address of no access.
 */
enum { TAGS = 1024 };
#define NO_TAG (~(UWord)0)
extern UWord read_tags[TAGS];
extern UWord write_tags[TAGS];

void pages_init(void);

/* The program accesses `size` bytes at `address`, size >= 1. */
void pages_access(const struct access *access, Addr address, SizeT size);

/* True if the last access took the mark of the page of `address`. */
Bool pages_is_referenced(Addr address);

/* Every access comes to pages_access() until its page is marked again. */
void pages_forget_tags(void);

/* The program unmapped [start, start + size): its pages leave memory. */
void pages_unmap(Addr start, SizeT size);

/* All sizes' totals. */
extern struct fault_counts total_faults[MAX_SIZES];

/* Counts begin anew; what is in memory stays there. */
void pages_forget_counts(void);

struct pages_summary {
    ULong distinct;           /* pages ever touched */
    ULong peak_mapped;        /* bytes */
    ULong swapped[MAX_SIZES]; /* peak of dirty anonymous pages that were out */
};
void pages_summarize(struct pages_summary *summary);

#endif
