/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uses: what a load or store does with the blocks of one allocation site: at
 * which offsets, and with which values.
 *
 * All offsets of a use are its lowest one and a multiple of its step from
 * there, so that a field of an array's elements is one use, whose step is the
 * size of an element. That takes no more memory however long the arrays are.
 */
#ifndef MVP_USES_H
#define MVP_USES_H

#include "blocks.h"
#include "sites.h"

enum { USE_VALUES = 8 };

struct use {
    ULong count;
    struct site_bits bits;
    ULong last; /* value */
    UInt low;   /* offsets; beyond 4 GB they begin anew */
    UInt high;
    UInt step;         /* 0: `low` is the only offset */
    UInt heap_site;    /* number */
    UChar value_count; /* USE_VALUES + 1: too many */
    UChar flags;
    struct site *site;        /* the load or store */
    struct use *next_of_site; /* in a circle */
    struct use *next;         /* in the chain of the hash table */
    ULong *values;            /* the distinct ones; NULL: `first` alone */
};
enum {
    USE_HAS_VALUE = 1,
    USE_IS_OUTSIDE = 2, /* of a mapping: offsets mean nothing */
    USE_HAS_NUMBER = 4, /* a value was neither 0 nor an address */
};

/* What the kernel, calloc and realloc read and write. */
extern struct site system_reads;
extern struct site system_writes;

void uses_init(void);

/*
 * What is known of a site's last access to an address: it is of no stack, reads
 * no new sector, and is in a block, while its generation is the same. A site
 * that goes through many blocks comes back to most of them.
 */
struct known_use {
    const struct site *site;
    Addr address;
    struct use *use;
    UInt offset; /* in the block */
    UInt generation;
};
enum { USES_KNOWN_SHIFT = 14 };
extern struct known_use uses_all_known[1 << USES_KNOWN_SHIFT];

/* Where it is, or belongs. */
static inline struct known_use *uses_known(
    const struct site *site, Addr address)
{
    const ULong key = (ULong)(Addr)site * 3 + address;
    return &uses_all_known[key * 0x9e3779b97f4a7c15ULL >>
                           (64 - USES_KNOWN_SHIFT)];
}

/* Sets the use, and the block, of an access by `site` to an address, and what
 * is known of it. */
void uses_find(struct site *site, Addr address, struct known_use *known);

/* Nothing is known any more. */
void uses_forget_known(void);

/* An offset that does not fit; a value that may bring something new. */
void uses_note_offset(struct use *use, UInt offset);
void uses_note_value(struct use *use, ULong value);

/* One of the two sites above uses all of [start, start + size). */
void uses_note_range(struct site *site, Addr start, SizeT size);

/* Counts begin anew. */
void uses_forget(void);

void uses_visit(void (*visit)(const struct use *use));

static inline Bool use_has_offset(const struct use *use, UInt offset)
{
    const UInt distance = offset - use->low;
    if (distance == 0)
        return True;
    if (distance > use->high - use->low)
        return False;
    return (use->step & (use->step - 1)) == 0
               ? (distance & (use->step - 1)) == 0
               : distance % use->step == 0;
}

/* Whether the value differs in no bit that was constant so far, and is known
 * where there are few values. */
static inline Bool use_has_value(const struct use *use, ULong value)
{
    const ULong news = ((value ^ use->bits.first) & use->bits.constant) |
                       ((value ^ (ULong)((Long)value >> 63)) & use->bits.signs);
    return news == 0 && (use->value_count > USE_VALUES || value == use->last);
}

#endif
