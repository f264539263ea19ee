/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap: which call stack allocated a block. With --blocks=yes, the program runs
 * on Valgrind's allocator. Blocks that a program's own allocator reports by
 * Valgrind's client requests count, too.
 */
#ifndef MVP_HEAP_H
#define MVP_HEAP_H

#include "blocks.h"
#include "mvp.h"

enum { SITE_FRAMES = 12 };

struct contents;

/*
 * A call stack that allocates, or a mapping that accesses to no known block
 * went to: that has a name and no frames.
 */
struct heap_site {
    struct heap_site *next;
    UWord key; /* hash of `ips` */
    UInt number;
    UInt ip_count;
    Addr ips[SITE_FRAMES]; /* innermost first, without malloc itself */
    const HChar *mapping;
    ULong outside; /* loads from the mapping: write.c's */
    ULong blocks;  /* since the process began, with those it was born with */
    ULong bytes;
    SizeT smallest;
    SizeT largest;
    SizeT element;             /* of arrays, as calloc was told; 0: none */
    struct contents *contents; /* or NULL */
};

/* heap_prepare() must be called before options are read; heap_enable() after,
 * and only with --blocks=yes. */
void heap_prepare(void);
void heap_enable(void);

/* Whether there were blocks that are not malloc's. */
extern Bool heap_has_requests;

struct heap_site *heap_site_of(UInt number);
UInt heap_site_count(void);

/* The site of the mapping that an address in no block is in. */
struct heap_site *heap_mapping(Addr address);

/* Counts begin anew, with the blocks that live. */
void heap_forget(void);

#endif
