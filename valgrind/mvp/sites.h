/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sites: loads by the instruction that makes them. A site keeps which bits of
 * its values ever differed, and which sectors it has read.
 *
 * Most loads bring nothing new: the value has only bits that are known to vary,
 * and it is where the site has read before. The program's code calls a helper
 * that checks just that, and goes on to sites_note() where it fails.
 */
#ifndef MVP_SITES_H
#define MVP_SITES_H

#include "mvp.h"

/*
 * Sectors of a page that a site has read, a bit for each. A page is given by
 * its address over 4,096: programs have 128 GB of addresses under Valgrind.
 */
struct pair {
    UInt page;
    UInt sectors;
};
struct pair_table;
struct use;

/* What is known of values. */
struct site_bits {
    ULong first;    /* the first value */
    ULong constant; /* bits that were the same in all values */
    ULong signs;    /* once the sign varied: bits that always equal it */
};

/*
 * Values are extended by their sign to 64 bits. Loads at an address in [base,
 * base + span] are all of stacks or all of none, and none of them reads a new
 * sector. While they are of stacks, `stack_loads` is what has to be taken from
 * `loads` to have their number; with blocks, both mean nothing.
 */
struct site {
    union {
        struct site_bits bits;
        struct { /* with --blocks=yes, where each use has bits of its own: */
            struct use *use; /* the last one, or NULL */
            Addr block;      /* [block, block + block_size) is of it... */
            UInt block_size; /* 0: nothing is kept */
            UInt generation; /* ... if this is that of `block` */
        };
    };
    struct use *use_before; /* the one before `use`, or NULL */
    Addr base;
    UInt span;
    UShort size; /* bytes */
    UChar index; /* among the loads of the instruction */
    UChar flags;
    ULong loads;
    ULong stack_loads;
    Addr ip;
    struct pair_table *pairs; /* NULL: `only` is all there is */
    struct pair only;
    UInt next; /* index + 1 in the chain of the hash table */
};
_Static_assert(sizeof(struct site) <= 100, "memory of a site");
enum {
    SITE_WIDE = 1,      /* no value is kept: vectors, and what helpers read */
    SITE_HAS_VALUE = 2, /* `first` is set */
    SITE_IN_STACK = 4,  /* the range at hand is of a stack */
    SITE_STORE = 8,     /* no load: no values, no sectors */
    SITE_VALUELESS = SITE_WIDE | SITE_STORE,
};

/* Adds a value to those that are known; `has_value`: there are some. */
void site_bits_add(struct site_bits *bits, Bool has_value, ULong value);

/* Adds all values of `from`. */
void site_bits_merge(struct site_bits *bits, const struct site_bits *from);

void sites_init(void);

/* The site of a load or store, made if new. `kind`: 0, SITE_WIDE or
 * SITE_STORE. */
struct site *sites_at(Addr ip, UInt index, UInt size, UInt kind);

/* A load that may bring something new; `value` is 0 for a wide one. */
void sites_note(struct site *site, Addr address, ULong value);

/* The same of its address alone: whether it is of a stack, and its sectors. */
void sites_note_address(struct site *site, Addr address);

/* Nothing is known any more of loads at [low, high]. */
void sites_forget_ranges(Addr low, Addr high);

/* Counts begin anew. */
void sites_forget(void);

/* What a site comes to. */
struct site_sums {
    ULong loads; /* not of a stack; or stores */
    struct site_bits bits;
    ULong sectors;
    ULong pages;
};

/* Calls `visit` with each site that has loads which are not of a stack, and
 * with each that has such stores. */
void sites_visit(
    void (*visit)(const struct site *site, const struct site_sums *sums));

#endif
