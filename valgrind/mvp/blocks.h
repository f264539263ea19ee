/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks: the blocks of the heap that live, by address.
 *
 * A page of 4 KB has a bit for each 16 bytes of it where a block may start. The
 * block that an address is in is the one that starts nearest before it; what is
 * known of blocks is in a hash table by their starts.
 */
#ifndef MVP_BLOCKS_H
#define MVP_BLOCKS_H

#include "mvp.h"

/* One live block, [start, start + size), with size != 0. */
struct block {
    Addr start;
    SizeT size;
    UInt site;  /* number of the site that allocated it */
    UInt birth; /* number of its allocation */
};

/*
 * A block is over when the generation of its start differs from what it was.
 * Blocks share generations: at worst, one that still lives is searched for
 * again.
 */
enum { BLOCKS_GENERATIONS = 1 << 12 };
extern UInt blocks_generations[BLOCKS_GENERATIONS];

static inline UInt *blocks_generation(Addr start)
{
    return &blocks_generations[(start >> 4 ^ start >> 16) &
                               (BLOCKS_GENERATIONS - 1)];
}

/* All blocks, and all memory in none, may be another now. */
void blocks_renew(void);

void blocks_init(void);

/*
 * Adds a block that may lie inside another one. A block that starts in the same
 * 16 bytes as one that lives replaces it.
 */
void blocks_add(const struct block *block);

/* Takes the block that starts there out, into *block. False: there is none. */
Bool blocks_remove(Addr start, struct block *block);

/* The block that starts there, or that the address is in; NULL: none. Valid
 * until the next change. */
const struct block *blocks_at(Addr start);
const struct block *blocks_find(Addr address);

/* Whether no block ever was in the page of the address. */
Bool blocks_is_strange(Addr address);

/* Calls `visit` with each live block. */
void blocks_visit(void (*visit)(const struct block *block));

#endif
