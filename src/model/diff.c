/* SPDX-License-Identifier: MIT */
#include "model/diff.h"

#include <math.h>
#include <string.h>

bool wndl_diff_init(struct wndl_diff *d, struct wndl_mem *mem)
{
    *d = (struct wndl_diff){0};
    wndl_arena_init(&d->arena, mem);
    wndl_vec_init(
        &d->recordings, &d->arena, sizeof(struct wndl_diff_recording));
    wndl_vec_init(&d->rows, &d->arena, sizeof(struct wndl_diff_row));
    return wndl_intern_init(&d->strings, &d->arena) &&
           wndl_intern_init(&d->keys, &d->arena);
}

void wndl_diff_free(struct wndl_diff *d)
{
    wndl_arena_free(&d->arena);
}

bool wndl_diff_key(
    struct wndl_diff *d, const struct wndl_diff_key *key, uint32_t *index)
{
    struct wndl_bytes bytes = {(const uint8_t *)key, sizeof *key};
    return wndl_intern_add(&d->keys, bytes, index);
}

struct wndl_diff_key wndl_diff_key_at(const struct wndl_diff *d, uint32_t key)
{
    struct wndl_diff_key found = {0};
    struct wndl_bytes bytes = wndl_intern_get(&d->keys, key);
    if (bytes.size == sizeof found)
        memcpy(&found, bytes.data, sizeof found);
    return found;
}

struct wndl_diff_recording *wndl_diff_recording(
    struct wndl_diff *d, const char *file, uint32_t group)
{
    struct wndl_diff_recording *recording = wndl_vec_push(&d->recordings);
    if (recording == NULL)
        return NULL;
    recording->file = file;
    recording->group = group;
    d->groups = group + 1;
    wndl_vec_init(&recording->sums, &d->arena, sizeof(struct wndl_diff_sum));
    return recording;
}

struct wndl_diff_sum *wndl_diff_sum(
    struct wndl_diff_recording *recording, uint32_t key)
{
    while (recording->sums.len <= key) {
        if (wndl_vec_push(&recording->sums) == NULL)
            return NULL;
    }
    return wndl_vec_at(&recording->sums, key);
}

/* ---- of one recording */

static struct wndl_diff_sum sum_of(
    const struct wndl_diff_recording *recording, uint32_t key)
{
    const struct wndl_diff_sum none = {0};
    return key < recording->sums.len
               ? *(const struct wndl_diff_sum *)wndl_vec_at(
                     &recording->sums, key)
               : none;
}

static double value_of(const struct wndl_diff_recording *recording,
    const struct wndl_diff_place *place)
{
    double all = sum_of(recording, 0).cost[WNDL_DIFF_TOTAL];
    double cost = sum_of(recording, place->key).cost[place->cost];
    if (place->subject == WNDL_DIFF_AMOUNT)
        return cost;
    return all > 0 ? 100 * cost / all : 0;
}

/*
 * The variance of a share. The cost in it and the cost outside of it are
 * independent, and each weighs in by the other's size, so that p and 1 - p are
 * known equally well. One sample of the usual size is added to either, so that
 * a cost of 0 is not certain. The share of everything is exactly 1.
 */
static double share_variance(const struct wndl_diff *d,
    const struct wndl_diff_recording *recording,
    const struct wndl_diff_place *place)
{
    struct wndl_diff_sum all = sum_of(recording, 0);
    struct wndl_diff_sum own = sum_of(recording, place->key);
    double whole = all.cost[WNDL_DIFF_TOTAL];
    if (whole <= 0 || place->key == 0)
        return 0;
    double share = own.cost[place->cost] / whole;
    double in = own.variance[place->cost];
    double out = fmax(all.variance[WNDL_DIFF_TOTAL] - in, 0);
    double one = d->of_samples && recording->count > 0
                     ? whole / (double)recording->count
                     : 0;
    double sum = (1 - share) * (1 - share) * (in + one * one) +
                 share * share * (out + one * one);
    return sum / (whole * whole);
}

/*
 * The total time of a recording is known, not estimated: only shares of it are
 * estimates. The blocks of a heap are estimated one by one.
 */
static double variance_of(const struct wndl_diff *d,
    const struct wndl_diff_recording *recording,
    const struct wndl_diff_place *place)
{
    double whole = sum_of(recording, 0).cost[WNDL_DIFF_TOTAL];
    if (place->subject == WNDL_DIFF_SHARE)
        return 100 * 100 * share_variance(d, recording, place);
    if (d->of_samples)
        return whole * whole * share_variance(d, recording, place);
    return sum_of(recording, place->key).variance[place->cost];
}

/* ---- of groups */

struct moments {
    uint32_t count;
    double mean;
    double squares;  /* sum of squared deviations from the mean */
    double variance; /* of the mean, by sampling */
};

static struct moments moments_of(const struct wndl_diff *d,
    const struct wndl_diff_place *place, uint32_t group)
{
    struct moments m = {0};
    for (size_t i = 0; i < d->recordings.len; i++) {
        const struct wndl_diff_recording *r = wndl_diff_recording_at(d, i);
        if (r->group != group)
            continue;
        double value = value_of(r, place);
        double off = value - m.mean;
        m.count++;
        m.mean += off / m.count;
        m.squares += off * (value - m.mean);
        m.variance += variance_of(d, r, place);
    }
    if (m.count != 0)
        m.variance /= (double)m.count * m.count;
    return m;
}

struct wndl_diff_value wndl_diff_value(
    const struct wndl_diff *d, struct wndl_diff_place place, uint32_t group)
{
    struct moments m = moments_of(d, &place, group);
    return (struct wndl_diff_value){
        .recordings = m.count,
        .mean = m.mean,
        .spread = m.count > 1 ? sqrt(m.squares / (m.count - 1)) : 0,
        .sampling = sqrt(m.variance),
    };
}

/*
 * The normal distribution's: 0.5 % are above it and 0.5 % below its negative.
 */
static const double normal = 2.5758293;

/* The same for Student's t. */
static double student_t(uint32_t freedom)
{
    static const double table[] = {0, 63.657, 9.925, 5.841, 4.604, 4.032, 3.707,
        3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921,
        2.898, 2.878, 2.861, 2.845};
    enum { KNOWN = sizeof table / sizeof table[0] };
    if (freedom < KNOWN)
        return table[freedom];
    /* Cornish and Fisher: off by less than 0.001 from here on. */
    double z = normal, n = freedom;
    return z + (z * z * z + z) / (4 * n) +
           (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
}

struct wndl_diff_change wndl_diff_change(
    const struct wndl_diff *d, struct wndl_diff_place place)
{
    struct moments a = moments_of(d, &place, 0);
    struct moments b = moments_of(d, &place, d->groups - 1);
    struct wndl_diff_change c = {
        .change = b.mean - a.mean,
        .noise = normal * sqrt(a.variance + b.variance),
    };
    if (a.count != 0 && b.count != 0 && a.count + b.count > 2) {
        uint32_t freedom = a.count + b.count - 2;
        double squares = (a.squares + b.squares) / freedom;
        double noise = student_t(freedom) *
                       sqrt(squares * (1.0 / a.count + 1.0 / b.count));
        c.noise = noise > c.noise ? noise : c.noise;
    }
    if (place.subject == WNDL_DIFF_SHARE)
        c.noise = fmin(c.noise, 100);
    c.beyond = fabs(c.change) > c.noise;
    return c;
}

/* ---- paths */

bool wndl_diff_path_keys(
    const struct wndl_diff *d, uint32_t key, struct wndl_vec *keys)
{
    keys->len = 0;
    while (key != 0) {
        uint32_t *slot = wndl_vec_push(keys);
        if (slot == NULL)
            return false;
        *slot = key;
        key = wndl_diff_key_at(d, key).caller;
    }
    return true;
}
