/* SPDX-License-Identifier: MIT */
/* names: the functions and lines of a snapshot's frames. */
#ifndef WNDL_CLI_STACK_NAMES_H
#define WNDL_CLI_STACK_NAMES_H

#include "analyze/names/profile_names.h"
#include "snapshot/snapshot.h"

/* A place in the source: one of the functions at an address. */
struct wndl_stack_place {
    const char *function; /* "": not known */
    const char *file;     /* "": not known */
    uint32_t line;        /* 0: not known */
    bool inlined;         /* into the next place */
};

struct wndl_stack_names {
    struct wndl_profile profile;
    struct wndl_symbolized symbolized;
    struct wndl_map frames; /* of address and kind, the frame's index + 1 */
};

/*
 * Names all frames of a snapshot. It also reads the files in which the
 * process's runtime named generated code. Its size must not move; it ends with
 * wndl_stack_names_free. NOMEM: there is nothing to free.
 */
enum wndl_status wndl_stack_names_find(struct wndl_stack_names *names,
    const struct wndl_snapshot *snapshot,
    const struct wndl_symbol_sources *sources,
    struct wndl_error *err) WNDL_MUST_USE;
void wndl_stack_names_free(struct wndl_stack_names *names);

/* The number of places of a frame, at least 1. `names` NULL: 1. */
size_t wndl_stack_place_count(const struct wndl_stack_names *names,
    const struct wndl_snapshot_frame *frame);

/* Place `index` of a frame, innermost first; without `names` an empty one. */
struct wndl_stack_place wndl_stack_place(const struct wndl_stack_names *names,
    const struct wndl_snapshot_frame *frame, size_t index);

#endif
