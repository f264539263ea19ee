/* SPDX-License-Identifier: MIT */
/*
 * registry_layout: the structure of a registry, for its writer and for readers
 * in other processes of the same word size and version.
 */
#ifndef WNDL_UNWIND_JIT_REGISTRY_LAYOUT_H
#define WNDL_UNWIND_JIT_REGISTRY_LAYOUT_H

#include "cfi/cfi.h"

#include <stdatomic.h>
#include <windlass/jit.h>

enum { WNDL_JIT_VERSION = 2 /* of the two structs below */ };

/* A piece of registered code: rules, or an FDE. */
struct wndl_jit_entry {
    uint64_t start, end;               /* avma */
    uint64_t origin;                   /* of a source; else 0 */
    const struct wndl_jit_rule *rules; /* NULL: an FDE */
    size_t rule_count;
    struct wndl_cfi_section frame;
    uint64_t fde; /* offset of its record */
};

/*
 * The registry. Walks use side changes % 2. The other side is written only
 * during a change, whose end is the next number. Whoever reads the same number
 * before and after has read nothing that was being written.
 */
struct wndl_jit {
    uint32_t version;
    _Atomic uint32_t changes;
    _Atomic uint32_t readers[2]; /* walks in each side */
    _Atomic uint32_t changing;   /* 1: a change is under way */
    size_t max;
    size_t counts[2];
    struct wndl_jit_entry *entries[2]; /* sorted, not overlapping */
    size_t same; /* first entries that are the same on both sides */
    _Atomic(struct wndl_jit *) also; /* searched next, or NULL */
};

/* Makes the row that `rule` stands for. */
void wndl_jit_row_of_rule(
    struct wndl_cfi_row *row, const struct wndl_jit_rule *rule);

#endif
