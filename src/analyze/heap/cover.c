/* SPDX-License-Identifier: MIT */
#include "analyze/heap/cover.h"

#include <stdbool.h>

enum { TRIED = 3 };

static uint64_t bit(unsigned set)
{
    return UINT64_C(1) << set;
}

double wndl_cover_weight(const struct wndl_cover *c, uint64_t sets)
{
    double weight = 0;
    for (size_t i = 0; i < c->part_count; i++)
        weight += (c->parts[i].mask & sets) != 0 ? c->parts[i].weight : 0;
    return weight;
}

/* Sums of the same parts in another order may differ by a rounding error. */
static bool is_more(double a, double b)
{
    return a > b * (1 + 1e-12);
}

/* The sum of the sets' heights. */
static double height_of(const struct wndl_cover *c, uint64_t sets)
{
    double height = 0;
    for (unsigned i = 0; i < c->set_count; i++)
        height += (sets & bit(i)) != 0 ? c->heights[i] : 0;
    return height;
}

static bool is_better(const struct wndl_cover *c, uint64_t sets, uint64_t than)
{
    const double a = wndl_cover_weight(c, sets);
    const double b = wndl_cover_weight(c, than);
    if (is_more(a, b) || is_more(b, a))
        return is_more(a, b);
    return height_of(c, sets) < height_of(c, than);
}

/* The best of `sets` and `count` more, from set `first` on. */
static uint64_t best_of(
    const struct wndl_cover *c, uint64_t sets, unsigned first, unsigned count)
{
    uint64_t best = 0;
    if (count == 0)
        return sets;
    for (unsigned i = first; i < c->set_count; i++) {
        const uint64_t found = best_of(c, sets | bit(i), i + 1, count - 1);
        if (found != 0 && (best == 0 || is_better(c, found, best)))
            best = found;
    }
    return best;
}

/* One set more: that with which they have most. */
static uint64_t add_best(const struct wndl_cover *c, uint64_t sets)
{
    uint64_t best = sets;
    for (unsigned i = 0; i < c->set_count; i++) {
        const uint64_t found = sets | bit(i);
        if (found != sets &&
            is_more(wndl_cover_weight(c, found), wndl_cover_weight(c, sets)) &&
            (best == sets || is_better(c, found, best)))
            best = found;
    }
    return best;
}

/* Whether every part of `inner` is in `outer`. */
static bool is_inside(
    const struct wndl_cover *c, unsigned inner, unsigned outer)
{
    for (size_t i = 0; i < c->part_count; i++) {
        const uint64_t mask = c->parts[i].mask;
        if ((mask & bit(inner)) != 0 && (mask & bit(outer)) == 0)
            return false;
    }
    return true;
}

/* The sets with one that is lower in place of `set`, if one fits. */
static uint64_t lower(
    const struct wndl_cover *c, uint64_t sets, unsigned set, double wanted)
{
    uint64_t best = sets;
    for (unsigned i = 0; i < c->set_count; i++) {
        const uint64_t found = (sets & ~bit(set)) | bit(i);
        if ((sets & bit(i)) != 0 || c->heights[i] >= c->heights[set] ||
            !is_inside(c, i, set) ||
            is_more(wanted, wndl_cover_weight(c, found)))
            continue;
        if (best == sets || is_better(c, found, best))
            best = found;
    }
    return best;
}

/* Each step lowers a set, so that it ends. */
static uint64_t lower_all(
    const struct wndl_cover *c, uint64_t sets, double wanted)
{
    uint64_t before;
    do {
        before = sets;
        for (unsigned i = 0; i < c->set_count && sets == before; i++)
            if ((sets & bit(i)) != 0)
                sets = lower(c, sets, i, wanted);
    } while (sets != before);
    return sets;
}

uint64_t wndl_cover_fewest(const struct wndl_cover *c, double wanted)
{
    uint64_t sets = 0;
    for (unsigned count = 1; count <= TRIED; count++) {
        sets = best_of(c, 0, 0, count);
        if (sets != 0 && !is_more(wanted, wndl_cover_weight(c, sets)))
            return lower_all(c, sets, wanted);
    }
    sets = 0;
    for (;;) {
        const uint64_t more = add_best(c, sets);
        if (more == sets || !is_more(wanted, wndl_cover_weight(c, more)))
            return lower_all(c, more, wanted);
        sets = more;
    }
}
