/* SPDX-License-Identifier: MIT */
/*
 * slotlines: the slots of a hash table for entries that belong close to others,
 * so that a small table touches little memory however large it may grow. An
 * entry is in its own line of slots; if that is full, in another one of the
 * same page; if that is full, too, in one of the first lines, which are used
 * before all others. If all three are full, the caller decides.
 *
 * If nothing is ever removed, no search is in vain: an entry in a later line
 * found the earlier ones full, and they still are.
 */
#ifndef WNDL_BASE_SLOTLINES_H
#define WNDL_BASE_SLOTLINES_H

#include <stddef.h>
#include <stdint.h>

enum {
    WNDL_SLOTLINE_SLOTS = 16, /* of 4 bytes: a cache line */
    WNDL_SLOTLINE_LOOKS = 3,
};

/*
 * The line of attempt `look`, from 0 on. It is less than `lines`, as is `own`.
 */
static inline size_t wndl_slotline(
    size_t own, size_t lines, uint32_t hash, unsigned look)
{
    enum { IN_PAGE = 64, FIRST = 1024 };
    size_t other = look == 1 ? own ^ hash % IN_PAGE : hash / IN_PAGE % FIRST;
    return look == 0 || other >= lines ? own : other;
}

#endif
