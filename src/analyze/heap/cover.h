/* SPDX-License-Identifier: MIT */
/*
 * cover: the fewest of some sets that hold a share of a whole. A set is a bit
 * of a mask, and the whole is divided into parts, each of which is in the sets
 * of its mask.
 */
#ifndef WNDL_ANALYZE_HEAP_COVER_H
#define WNDL_ANALYZE_HEAP_COVER_H

#include <stddef.h>
#include <stdint.h>

enum { WNDL_COVER_SETS = 64 };

struct wndl_cover_part {
    uint64_t mask; /* of the sets that it is in */
    double weight;
};

struct wndl_cover {
    const struct wndl_cover_part *parts;
    size_t part_count;
    unsigned set_count;    /* at most WNDL_COVER_SETS */
    const double *heights; /* of each set: of one inside another, the lower
                            * is better */
};

/* The weight of the parts that are in one of the sets. */
double wndl_cover_weight(const struct wndl_cover *cover, uint64_t sets);

/*
 * The fewest sets that have at least `wanted` together; all that add something
 * if there are none. Up to three are searched for among all combinations, more
 * are chosen one by one. Of as many, those with the most weight, and then of
 * each the lowest set inside it that keeps `wanted`.
 */
uint64_t wndl_cover_fewest(const struct wndl_cover *cover, double wanted);

#endif
