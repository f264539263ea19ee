/* SPDX-License-Identifier: MIT */
/*
 * top_live: a recording while it is written, summed up: what is kept is bounded
 * by what is distinct, not by how long it runs.
 */
#ifndef WNDL_CLI_TOP_LIVE_H
#define WNDL_CLI_TOP_LIVE_H

#include "analyze/names/profile_names.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/symbol_options.h"
#include "model/report.h"
#include "wndl/follow.h"

struct wndl_top_live {
    struct wndl_profile profile;
    struct wndl_follower follower;
    struct wndl_symbolized symbolized;
    bool is_named; /* `symbolized` is made */
    struct wndl_debug_dirs dirs;
    struct wndl_symbolizer_cache cache;
    struct wndl_symbol_sources sources;
    struct wndl_kept_symbols kept;
    /* Numbers + 1 of the summed samples and blocks, by thread and node. */
    struct wndl_map samples, blocks;
    size_t sample_count, block_count; /* that are summed */
    /* The profile has one kind of costs at a time; these are the other kind. */
    struct wndl_vec other_samples, other_blocks;
    bool shows_heap;            /* the profile's blocks are bytes of heaps */
    uint64_t started, named_at; /* monotonic, ns */
    uint64_t naming;            /* ns that names took the last time */
    size_t named_frames;        /* that were looked up then */
    int fd;                     /* of the file; -1: not there yet */
};

/* Must not move. False when memory is out; ends with wndl_top_live_free, even
 * then. */
bool wndl_top_live_init(
    struct wndl_top_live *live, const struct wndl_symbol_options *symbols);
void wndl_top_live_free(struct wndl_top_live *live);

/*
 * Chooses what the profile's costs are: bytes of heaps, or time. Reading leaves
 * it as it is.
 */
void wndl_top_live_show(struct wndl_top_live *live, bool heap);

/*
 * Reads what the recording at `path` got since the last call, and the names of
 * new frames, if that is not too soon: names take at most a hundredth of the
 * time after the first five seconds, unless `at_once`. OK if the file is not
 * there yet.
 */
enum wndl_status wndl_top_live_read(struct wndl_top_live *live,
    const char *path, bool at_once, struct wndl_error *err);

/* A function that calls another, and the cost of the other's stacks through
 * it. */
struct wndl_top_live_caller {
    uint32_t function;
    uint64_t cost;
};

/*
 * Fills `callers` (struct wndl_top_live_caller), the costliest first, with the
 * callers of `function`. False when memory is out.
 */
bool wndl_top_live_callers(const struct wndl_top_live *live,
    enum wndl_time time, uint32_t function, struct wndl_vec *callers);

#endif
