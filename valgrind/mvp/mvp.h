/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mvp: what the files of this tool share.
 *
 *   mvp.c         the tool as Valgrind sees it: options, start, end
 *   instrument.c  what is added to the program's code
 *   sites.c       loads by instruction: their values and the sectors they read
 *   stacks.c      where the stacks of threads are
 *   blocks.c      blocks of the heap by address
 *   heap.c        the sites that allocate them
 *   uses.c        what a load or store does with the blocks of a site
 *   contents.c    what is in blocks at their end; pairs of blocks
 *   write.c       the file of results
 */
#ifndef MVP_H
#define MVP_H

#include "pub_tool_basics.h"

struct options {
    const HChar *out; /* name of the file of results, with %p and %q */
    Bool blocks;      /* which blocks of the heap are accessed, and where */
};
extern struct options opt;

/* A sector is what a cache brings in at once: 128 bytes. */
enum { SECTOR_SHIFT = 7, PAGE_SHIFT = 12 };

#endif
