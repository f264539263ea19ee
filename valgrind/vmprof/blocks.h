/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks: the program's code as Valgrind translates it, in superblocks, and
 * how often each part of one ran. A part ends where control may leave the
 * superblock, so that all instructions of a part ran equally often.
 */
#ifndef VMPROF_BLOCKS_H
#define VMPROF_BLOCKS_H

#include "vmprof.h"

/* Instructions that ran so far. */
extern ULong instructions;

struct block_instruction {
    Addr ip;
    UShort fetches; /* 1, or 0 for what an instruction does after an exit */
    UShort data;    /* accesses to data */
};

struct block_part {
    ULong runs;
    UInt count; /* instructions */
};

/*
 * Invariant: the `count`s of `parts` add up to `instruction_count`.
 */
struct block {
    struct block *next;
    UWord key; /* address: Valgrind's name for it */
    struct batch *batches;
    struct block_instruction *instructions;
    UInt instruction_count;
    UInt part_count;
    struct block_part parts[];
};

void blocks_init(void);

/* A block with room for these; its fields are the caller's to fill in. */
struct block *blocks_add(Addr address, UInt instruction_count, UInt part_count);

/* The code of the block at `address` never runs again; its counts are kept. */
void blocks_retire(Addr address);

/* Counts begin anew. */
void blocks_forget(void);

/* Calls `visit` once for each instruction that ran, in order of address. */
void blocks_visit(void (*visit)(Addr ip, ULong fetches, ULong data));

#endif
