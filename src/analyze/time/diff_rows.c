/* SPDX-License-Identifier: MIT */
/* The rows of a diff: the keys that pass the filters, in order. */
#define _GNU_SOURCE 1
#include "analyze/time/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- filters, by bits */

static bool text_holds(
    const struct wndl_diff *d, uint32_t text, const char *what)
{
    struct wndl_bytes in = wndl_intern_get(&d->strings, text);
    return memmem(in.data, in.size, what, strlen(what)) != NULL;
}

static uint32_t held_by_key(const struct wndl_diff *d,
    const struct wndl_diff_key *key, const char *const *filters)
{
    uint32_t held = 0;
    for (size_t i = 0; filters[i] != NULL; i++) {
        bool marked = filters[i][0] == '!' || filters[i][0] == '\\';
        const char *what = filters[i] + marked;
        held |= (uint32_t)(text_holds(d, key->name, what) ||
                           text_holds(d, key->module, what) ||
                           text_holds(d, key->file, what))
                << i;
    }
    return held;
}

static bool passes_filters(uint32_t held, const char *const *filters)
{
    for (size_t i = 0; filters[i] != NULL; i++) {
        if ((held >> i & 1) == (filters[i][0] == '!'))
            return false;
    }
    return true;
}

/* ---- rows */

static double range_of(const struct wndl_diff *d, uint32_t key)
{
    struct wndl_diff_place place = {d->subject, WNDL_DIFF_SELF, key};
    double least = INFINITY, most = -INFINITY;
    for (uint32_t i = 0; i < d->groups; i++) {
        double mean = wndl_diff_value(d, place, i).mean;
        least = fmin(least, mean);
        most = fmax(most, mean);
    }
    return most - least;
}

static bool is_known(const struct wndl_diff *d, uint32_t key)
{
    for (size_t i = 0; i < d->recordings.len; i++) {
        const struct wndl_diff_recording *r = wndl_diff_recording_at(d, i);
        if (key >= r->sums.len)
            continue;
        const struct wndl_diff_sum *sum = wndl_vec_at(&r->sums, key);
        if (sum->cost[WNDL_DIFF_TOTAL] > 0)
            return true;
    }
    return false;
}

static bool add_row(struct wndl_diff *d, uint32_t key)
{
    struct wndl_diff_row *row = wndl_vec_push(&d->rows);
    if (row == NULL)
        return false;
    row->key = key;
    row->range = range_of(d, key);
    for (unsigned cost = 0; cost < WNDL_DIFF_COSTS; cost++)
        row->change[cost] =
            wndl_diff_change(d, (struct wndl_diff_place){d->subject,
                                    (enum wndl_diff_cost)cost, key});
    return true;
}

/* ---- order */

/* More is less: it comes first. */
static int compare_numbers(double a, double b)
{
    return (a < b) - (a > b);
}

static int compare_texts(const struct wndl_diff *d, uint32_t a, uint32_t b)
{
    struct wndl_bytes x = wndl_intern_get(&d->strings, a);
    struct wndl_bytes y = wndl_intern_get(&d->strings, b);
    int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order != 0 ? order : (x.size > y.size) - (x.size < y.size);
}

/*
 * Keys are numbered in order of occurrence, which is the same for the same
 * files.
 */
static int compare_keys(const struct wndl_diff *d, uint32_t a, uint32_t b)
{
    struct wndl_diff_key x = wndl_diff_key_at(d, a);
    struct wndl_diff_key y = wndl_diff_key_at(d, b);
    int order = compare_texts(d, x.name, y.name);
    if (order == 0)
        order = compare_texts(d, x.module, y.module);
    return order != 0 ? order : (a > b) - (a < b);
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct wndl_diff *d = context;
    const struct wndl_diff_row *x = a, *y = b;
    const struct wndl_diff_change *of_x = x->change, *of_y = y->change;
    int order = 0;
    if (d->groups == 2)
        order =
            (int)of_y[WNDL_DIFF_SELF].beyond - (int)of_x[WNDL_DIFF_SELF].beyond;
    if (order == 0)
        order = compare_numbers(x->range, y->range);
    if (order == 0)
        order = compare_numbers(fabs(of_x[WNDL_DIFF_TOTAL].change),
            fabs(of_y[WNDL_DIFF_TOTAL].change));
    return order != 0 ? order : compare_keys(d, x->key, y->key);
}

bool wndl_diff_finish(struct wndl_diff *d, const char *const *filters)
{
    struct wndl_arena scratch;
    uint32_t count = wndl_intern_count(&d->keys);
    wndl_arena_init(&scratch, d->arena.mem);
    uint32_t *held = wndl_arena_calloc(&scratch, count, sizeof *held);
    bool made = held != NULL;
    for (uint32_t i = 1; i < count && made; i++) {
        struct wndl_diff_key key = wndl_diff_key_at(d, i);
        held[i] = held_by_key(d, &key, filters) | held[key.caller];
        if (passes_filters(held[i], filters) && is_known(d, i))
            made = add_row(d, i);
    }
    wndl_arena_free(&scratch);
    if (made && d->rows.len > 1)
        qsort_r(d->rows.data, d->rows.len, d->rows.element, compare_rows, d);
    return made;
}
