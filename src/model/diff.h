/* SPDX-License-Identifier: MIT */
/*
 * diff: the costs of the same things in several recordings. Things are matched
 * by their names alone, since addresses differ in each build. The recordings
 * stand in groups; a group has the recordings of one build or setting. A group
 * is compared by the mean of its recordings.
 *
 * Memory is bounded by what is distinct: 32 bytes for each recording.
 */
#ifndef WNDL_MODEL_DIFF_H
#define WNDL_MODEL_DIFF_H

#include "base/intern.h"

/* The kind of the rows. */
enum wndl_diff_key_kind {
    WNDL_DIFF_BY_FUNCTION,
    WNDL_DIFF_BY_LINE,
    WNDL_DIFF_BY_MODULE,
    WNDL_DIFF_BY_THREAD,
    WNDL_DIFF_BY_PATH,
};

/* The quantity that is compared. */
enum wndl_diff_subject {
    WNDL_DIFF_SHARE, /* percent of all that the recording spent */
    WNDL_DIFF_AMOUNT,
};

enum wndl_diff_unit { WNDL_DIFF_NS, WNDL_DIFF_BYTES, WNDL_DIFF_BLOCKS };

enum wndl_diff_cost { WNDL_DIFF_SELF, WNDL_DIFF_TOTAL, WNDL_DIFF_COSTS };

/* Ids of strings; 0: none, or not known. All keys are distinct. */
struct wndl_diff_key {
    uint32_t caller; /* by path: the key of the caller; 0: none */
    uint32_t name;   /* of the function, module, thread, or a label */
    uint32_t module;
    uint32_t file; /* by line: the last part of its path */
    uint32_t line;
};

/*
 * The cost of a key in one recording. A variance is that of the cost as an
 * estimate: for samples, the sum of their squares.
 */
struct wndl_diff_sum {
    double cost[WNDL_DIFF_COSTS];
    double variance[WNDL_DIFF_COSTS];
};

struct wndl_diff_recording {
    const char *file;
    uint32_t group;
    bool whole;           /* neither cut short nor damaged */
    uint64_t count;       /* samples, or blocks, that were counted */
    struct wndl_vec sums; /* struct wndl_diff_sum by key, as far as known */
};

struct wndl_diff_change {
    double change; /* the last group's cost minus the first's */
    double noise;  /* a change of this size may be by chance; >= 0 */
    bool beyond;   /* the change is larger than the noise */
};

struct wndl_diff_row {
    uint32_t key;
    struct wndl_diff_change change[WNDL_DIFF_COSTS];
    double range; /* the largest self cost of a group minus the smallest */
};

/* Key 0 is everything; its total is all that the recording spent. */
struct wndl_diff {
    struct wndl_arena arena;
    struct wndl_intern strings;
    struct wndl_intern keys;    /* of the bytes of struct wndl_diff_key */
    struct wndl_vec recordings; /* struct wndl_diff_recording, by group */
    /* struct wndl_diff_row; filled by analyze/time/diff.h */
    struct wndl_vec rows;
    uint32_t groups;
    enum wndl_diff_key_kind by;
    enum wndl_diff_subject subject;
    enum wndl_diff_unit unit;
    /* "CPU", "live": the time, or the blocks; static string */
    const char *what;
    bool of_samples; /* costs are estimates from samples of time */
};

/*
 * Makes it empty; it must not move, and ends with wndl_diff_free even when this
 * fails. False when memory is out.
 */
bool wndl_diff_init(struct wndl_diff *d, struct wndl_mem *mem);
void wndl_diff_free(struct wndl_diff *d);

/* The number of the key, added if new. False when memory is out. */
bool wndl_diff_key(
    struct wndl_diff *d, const struct wndl_diff_key *key, uint32_t *index);
struct wndl_diff_key wndl_diff_key_at(const struct wndl_diff *d, uint32_t key);

/*
 * Adds a recording to `group`, which is at least the last recording's. NULL
 * when memory is out. `file` is borrowed and outlives `d`. The result is valid
 * until the next call.
 */
struct wndl_diff_recording *wndl_diff_recording(
    struct wndl_diff *d, const char *file, uint32_t group);

/* The recording at `index`, which is below the count. */
static inline const struct wndl_diff_recording *wndl_diff_recording_at(
    const struct wndl_diff *d, size_t index)
{
    return (const struct wndl_diff_recording *)wndl_vec_at(
        &d->recordings, index);
}

/*
 * The sum of a key in a recording, to be added to. NULL when memory is out.
 * Valid until the next call.
 */
struct wndl_diff_sum *wndl_diff_sum(
    struct wndl_diff_recording *recording, uint32_t key);

/* The figure to compute. */
struct wndl_diff_place {
    enum wndl_diff_subject subject;
    enum wndl_diff_cost cost;
    uint32_t key;
};

/* That figure over the recordings of a group: percent, or the diff's unit. */
struct wndl_diff_value {
    uint32_t recordings;
    double mean;
    double spread; /* standard deviation of the recordings; 0 if there is one */
    double sampling; /* standard error of the mean, from sampling alone */
};

/* The figure `place` over the recordings of `group`. */
struct wndl_diff_value wndl_diff_value(
    const struct wndl_diff *d, struct wndl_diff_place place, uint32_t group);

/*
 * The change from the first group to the last. The noise is the half-width of a
 * 99 % confidence interval: from the sampling error, or by Student's t from the
 * spread of the recordings in either group, whichever is larger (docs/diff.md).
 */
struct wndl_diff_change wndl_diff_change(
    const struct wndl_diff *d, struct wndl_diff_place place);

/*
 * Fills `keys` (uint32_t) with the path from `key` out to the key without a
 * caller. False when memory is out.
 */
bool wndl_diff_path_keys(
    const struct wndl_diff *d, uint32_t key, struct wndl_vec *keys);

#endif
