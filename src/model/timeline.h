/* SPDX-License-Identifier: MIT */
/*
 * timeline: the samples and blocks of a profile, by thread and in order of
 * time, 32 bytes each.
 */
#ifndef WNDL_MODEL_TIMELINE_H
#define WNDL_MODEL_TIMELINE_H

#include "model/costs.h"

struct wndl_moment {
    uint64_t time; /* ns; of the sample, or of the block's start */
    /* ns: CPU time since the previous sample, or the duration */
    uint64_t spent;
    uint32_t thread;
    uint32_t node; /* 0: no stack */
    uint8_t label; /* enum wndl_label */
    bool ran;      /* a sample, else a block */
};

/*
 * Invariant: moments [starts[t], starts[t + 1]) are thread t's; `starts` has
 * one element more than there are threads.
 */
struct wndl_timeline {
    struct wndl_moment *moments;
    size_t *starts;
};

/*
 * Fills `line` with the moments of `time`, in `arena`. False when memory is
 * out.
 */
bool wndl_timeline_make(struct wndl_timeline *line,
    const struct wndl_profile *p, enum wndl_time time,
    struct wndl_arena *arena);

#endif
