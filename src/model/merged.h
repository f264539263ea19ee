/* SPDX-License-Identifier: MIT */
/*
 * merged: the stacks of one recording, or of several that shall be compared,
 * by what their frames are called: functions, files and lines in place of
 * addresses. What is called the same in two recordings is one.
 */
#ifndef WNDL_MODEL_MERGED_H
#define WNDL_MODEL_MERGED_H

#include "model/symbolized.h"

enum { WNDL_MERGED_MAX = 2 };

/* One recording, by its own numbers. */
struct wndl_merged_part {
    const struct wndl_symbolized *symbolized;
    uint32_t *nodes;     /* the number of each node here */
    uint32_t *modules;   /* the same of modules, */
    uint32_t *functions; /* functions, */
    uint32_t *locations; /* and locations */
};

/*
 * Of `profile` there are nodes alone, with a location for a frame; inlined
 * ones are nodes below what they are inlined into. Parents come first.
 */
struct wndl_merged {
    struct wndl_profile profile;
    struct wndl_symbolized symbolized; /* no frames, no spans */
    struct wndl_vec hows;    /* uint8_t: by node, of several the least sure */
    struct wndl_vec origins; /* struct wndl_merged_origin, by module */
    struct wndl_merged_part parts[WNDL_MERGED_MAX];
    size_t count;                 /* of parts */
    struct wndl_map module_index; /* id of the name -> number + 1 */
};

struct wndl_merged_origin {
    struct wndl_bytes build_id; /* of the first recording that has it */
    uint32_t next;              /* module of the same name, + 1 */
};

/*
 * Empty; stays where it is and ends with wndl_merged_free. False when memory
 * is out.
 */
bool wndl_merged_init(struct wndl_merged *m, struct wndl_mem *mem);
void wndl_merged_free(struct wndl_merged *m);

/*
 * Adds a recording, which must outlive it: at most WNDL_MERGED_MAX. Modules
 * are the same when their files are called the same; of those of one recording
 * none is. False when memory is out.
 */
bool wndl_merged_add(
    struct wndl_merged *m, const struct wndl_symbolized *symbolized);

#endif
