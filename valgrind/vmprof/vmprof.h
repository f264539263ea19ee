/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmprof: what the files of this tool share.
 *
 *   vmprof.c      the tool as Valgrind sees it: options, start, end
 *   pages.c       pages, real memory of several sizes, the clock
 *   instrument.c  what is added to the program's code
 *   batch.c       accesses in a row, and what simulates them
 *   blocks.c      the superblocks that ran, and how often
 *   costs.c       faults by instruction, call path and mapping
 *   heap.c        blocks of the heap and the sites that allocated them
 *   stacks.c      a stack each so many instructions; the code that ran first
 *   system.c      memory that the kernel reads, writes, maps and unmaps
 *   walk.c        call paths
 *   write.c       the file of results
 */
#ifndef VMPROF_H
#define VMPROF_H

#include "pub_tool_basics.h"

/* Sizes of real memory that one run simulates, at most. */
enum { MAX_SIZES = 16 };

enum access_kind { ACCESS_FETCH, ACCESS_DATA, ACCESS_KINDS };

/*
 * A fault is `first` when no access to the page came before. Else it is dirty
 * when the page that makes room for it was written since it came in.
 */
enum fault_kind { FAULT_FIRST, FAULT_CLEAN, FAULT_DIRTY, FAULT_KINDS };

/* Faults of one size of memory. */
struct fault_counts {
    ULong n[ACCESS_KINDS][FAULT_KINDS];
};

struct options {
    ULong memory[MAX_SIZES]; /* bytes */
    UInt size_count;
    UInt page_shift;   /* log2 of a page's bytes */
    Bool paths;        /* faults by call path */
    Bool blocks;       /* faults by the site that allocated the block */
    Bool system;       /* accesses of the kernel count too */
    Long startup;      /* instructions that count as the start */
    Long stacks_every; /* instructions from one stack to the next; 0: none */
    const HChar *out;  /* name of the file of results, with %p and %q */
};
extern struct options opt;

/* The registers of the running thread: those of the instruction at `ip`, which
 * has lowered the stack pointer by `pushed` bytes. */
struct at {
    Addr ip;
    UInt pushed;
};

/* One access: what the instruction at `ip` does. */
struct access {
    Addr ip;
    struct at at; /* for walks: this instruction, or one shortly after */
    enum access_kind kind;
    Bool is_write;
    Addr address; /* first byte in the page at hand; pages.c sets it */
};

#endif
