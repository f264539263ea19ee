/* SPDX-License-Identifier: MIT */
/*
 * slotlines: where a hash table looks for what belongs near to other things,
 * so that a small one touches little memory however large it may become: in
 * its own line of slots; if that is full in another one of the same page; if
 * that is full too in one of the first, which are in use before all others.
 * What finds all three full is the caller's to put anywhere.
 *
 * Of a table of which nothing is removed nothing is looked for in vain: what
 * is in a later line found the earlier ones full, and they are.
 */
#ifndef WNDL_BASE_SLOTLINES_H
#define WNDL_BASE_SLOTLINES_H

#include <stddef.h>
#include <stdint.h>

enum {
    WNDL_SLOTLINE_SLOTS = 16, /* of 4 bytes: a line of the cache */
    WNDL_SLOTLINE_LOOKS = 3,
};

/* The line of the `look`-th look, from 0 on: less than `lines`, as is `own`. */
static inline size_t wndl_slotline(
    size_t own, size_t lines, uint32_t hash, unsigned look)
{
    enum { IN_PAGE = 64, FIRST = 1024 };
    size_t other = look == 1 ? own ^ hash % IN_PAGE : hash / IN_PAGE % FIRST;
    return look == 0 || other >= lines ? own : other;
}

#endif
