/* SPDX-License-Identifier: MIT */
/*
 * diff: what several recordings spent on the same things, which are told
 * apart by their names alone: addresses are other ones in each build. The
 * recordings stand in groups, of which each has those that were made of the
 * same; a group is compared by the mean of its recordings.
 *
 * Memory is bounded by what is distinct, 32 bytes for each recording.
 */
#ifndef WNDL_MODEL_DIFF_H
#define WNDL_MODEL_DIFF_H

#include "base/intern.h"

/* What the rows are. */
enum wndl_diff_key_kind {
    WNDL_DIFF_BY_FUNCTION,
    WNDL_DIFF_BY_LINE,
    WNDL_DIFF_BY_MODULE,
    WNDL_DIFF_BY_THREAD,
    WNDL_DIFF_BY_PATH,
};

/* What of them is compared. */
enum wndl_diff_subject {
    WNDL_DIFF_SHARE, /* percent of all that the recording spent */
    WNDL_DIFF_AMOUNT,
};

enum wndl_diff_unit { WNDL_DIFF_NS, WNDL_DIFF_BYTES, WNDL_DIFF_BLOCKS };

enum wndl_diff_cost { WNDL_DIFF_SELF, WNDL_DIFF_TOTAL, WNDL_DIFF_COSTS };

/* Ids of strings; 0: none, or not known. No two keys have the same. */
struct wndl_diff_key {
    uint32_t caller; /* by path: the key that called it; 0: nothing did */
    uint32_t name;   /* of the function, module, thread, or a label */
    uint32_t module;
    uint32_t file; /* by line: the last part of its path */
    uint32_t line;
};

/*
 * What one recording spent on a key. A cost's variance is that of its
 * estimate: of samples the sum of their squares.
 */
struct wndl_diff_sum {
    double cost[WNDL_DIFF_COSTS];
    double variance[WNDL_DIFF_COSTS];
};

struct wndl_diff_recording {
    const char *file;
    uint32_t group;
    bool whole;           /* it is neither cut short nor damaged */
    uint64_t count;       /* samples, or blocks, that were told of */
    struct wndl_vec sums; /* struct wndl_diff_sum by key, as far as known */
};

struct wndl_diff_change {
    double change; /* of the last group less the first */
    double noise;  /* a change of no more may be by chance; >= 0 */
    bool beyond;   /* it is more */
};

struct wndl_diff_row {
    uint32_t key;
    struct wndl_diff_change change[WNDL_DIFF_COSTS];
    double range; /* the largest self cost of a group less the smallest */
};

/* Key 0 is everything, whose total is what the recording spent. */
struct wndl_diff {
    struct wndl_arena arena;
    struct wndl_intern strings;
    struct wndl_intern keys;    /* of the bytes of struct wndl_diff_key */
    struct wndl_vec recordings; /* struct wndl_diff_recording, by group */
    struct wndl_vec rows;       /* struct wndl_diff_row; analyze/time/diff.h */
    uint32_t groups;
    enum wndl_diff_key_kind by;
    enum wndl_diff_subject subject;
    enum wndl_diff_unit unit;
    const char *what; /* "CPU", "live": which time, or blocks; static */
    bool of_samples;  /* costs are estimates from samples of time */
};

/* Empty, stays where it is, ends with wndl_diff_free in any case. False when
 * memory is out. */
bool wndl_diff_init(struct wndl_diff *d, struct wndl_mem *mem);
void wndl_diff_free(struct wndl_diff *d);

/* The number of the key, added if new. False when memory is out. */
bool wndl_diff_key(
    struct wndl_diff *d, const struct wndl_diff_key *key, uint32_t *index);
struct wndl_diff_key wndl_diff_key_at(const struct wndl_diff *d, uint32_t key);

/* A recording of a group, not smaller than the last one's; NULL when memory
 * is out. `file` is kept. Valid until the next. */
struct wndl_diff_recording *wndl_diff_recording(
    struct wndl_diff *d, const char *file, uint32_t group);

static inline const struct wndl_diff_recording *wndl_diff_recording_at(
    const struct wndl_diff *d, size_t index)
{
    return (const struct wndl_diff_recording *)wndl_vec_at(
        &d->recordings, index);
}

/* The sum of a key, to add to; NULL when memory is out. Valid until the next
 * is asked for. */
struct wndl_diff_sum *wndl_diff_sum(
    struct wndl_diff_recording *recording, uint32_t key);

/* What is looked at. */
struct wndl_diff_place {
    enum wndl_diff_subject subject;
    enum wndl_diff_cost cost;
    uint32_t key;
};

/* Of the recordings of a group; percent or the unit. */
struct wndl_diff_value {
    uint32_t recordings;
    double mean;
    double spread;   /* standard deviation of the recordings; 0 of one */
    double sampling; /* standard error of the mean, by sampling alone */
};

struct wndl_diff_value wndl_diff_value(
    const struct wndl_diff *d, struct wndl_diff_place place, uint32_t group);

/*
 * From the first group to the last. The noise is a confidence interval of
 * 99 %: by what sampling lets one expect, or by Student's t of how far the
 * recordings of either group are apart, whichever is more (docs/diff.md).
 */
struct wndl_diff_change wndl_diff_change(
    const struct wndl_diff *d, struct wndl_diff_place place);

/* Fills `keys` (uint32_t) with the path from `key` out to what nothing called.
 * False when memory is out. */
bool wndl_diff_path_keys(
    const struct wndl_diff *d, uint32_t key, struct wndl_vec *keys);

#endif
