/* SPDX-License-Identifier: MIT */
/*
 * merged: the stacks of one recording, or of several that are compared, by the
 * names of their frames: functions, files and lines instead of addresses. Equal
 * names in two recordings become one.
 */
#ifndef WNDL_MODEL_MERGED_H
#define WNDL_MODEL_MERGED_H

#include "model/symbolized.h"

enum { WNDL_MERGED_MAX = 2 };

/* One recording; the arrays are indexed by its own numbers. */
struct wndl_merged_part {
    const struct wndl_symbolized *symbolized;
    uint32_t *nodes;     /* here, by node of the recording */
    uint32_t *modules;   /* the same for modules, */
    uint32_t *functions; /* functions, */
    uint32_t *locations; /* and locations */
};

/*
 * `profile` has nodes only, with a location for a frame; inlined functions are
 * nodes below the one that they are inlined into. Parents come first.
 */
struct wndl_merged {
    struct wndl_profile profile;
    struct wndl_symbolized symbolized; /* no frames, no spans */
    /* uint8_t: enum wndl_frame_how by node; the least sure of several */
    struct wndl_vec hows;
    struct wndl_vec origins; /* struct wndl_merged_origin, by module */
    struct wndl_merged_part parts[WNDL_MERGED_MAX];
    size_t count;                 /* of parts */
    struct wndl_map module_index; /* id of the name -> number + 1 */
};

struct wndl_merged_origin {
    struct wndl_bytes build_id; /* of the first recording that has it */
    uint32_t next; /* number of another module of this name + 1; 0: none */
};

/*
 * Makes it empty; it must not move, and ends with wndl_merged_free. False when
 * memory is out.
 */
bool wndl_merged_init(struct wndl_merged *m, struct wndl_mem *mem);
void wndl_merged_free(struct wndl_merged *m);

/*
 * Adds a recording, which must outlive `m`: at most WNDL_MERGED_MAX. Modules of
 * two recordings are the same when their files have the same name; modules of
 * one recording never are. False when memory is out.
 */
bool wndl_merged_add(
    struct wndl_merged *m, const struct wndl_symbolized *symbolized);

#endif
