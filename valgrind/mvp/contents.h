/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contents: what is in the blocks of a site when they are freed, or when the
 * program ends. Only of sites whose blocks all have one size, of 4 to 256
 * bytes.
 *
 * Fields that are equal: of each 4 bytes, the first 4 bytes that were the same
 * in every block. Pairs: fields that always point to the start of a block of
 * one other site, which is born and freed with their own.
 */
#ifndef MVP_CONTENTS_H
#define MVP_CONTENTS_H

#include "heap.h"

enum { CONTENTS_UNIT = 4, CONTENTS_UNITS = 64, CONTENTS_PAIRS = 4 };

/* The field at `offset` pointed to a block of site `child` in all blocks. */
struct pair_field {
    UInt offset;
    UInt child;
};

struct contents {
    ULong blocks; /* that were examined */
    ULong varied; /* a bit for each unit: not the same in all blocks */
    UInt first[CONTENTS_UNITS];
    UChar same[CONTENTS_UNITS]; /* the first unit that was equal, or itself */
    ULong judged;               /* blocks whose pairs are known */
    UInt pair_count;
    struct pair_field pairs[CONTENTS_PAIRS];
};

/* A block is about to be freed. */
void contents_note(const struct block *block);

/* The program ends: the blocks that live count as freed all at once. */
void contents_note_live(void);

/* Forgets the contents of a site's blocks. */
void contents_free(struct heap_site *site);

#endif
