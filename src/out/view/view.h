/* SPDX-License-Identifier: MIT */
/*
 * view: recordings as a page for a browser (docs/formats/view.md). The page
 * itself, which shows them, is made elsewhere and handed in.
 */
#ifndef WNDL_OUT_VIEW_VIEW_H
#define WNDL_OUT_VIEW_VIEW_H

#include "base/buf.h"
#include "model/heap.h"
#include "model/merged.h"

#include <stdio.h>

/* What the page has where the recordings belong, once. */
#define WNDL_VIEW_MARKER "<!--windlass-data-->"

/* What is worth a look in a heap. */
struct wndl_view_finding {
    uint32_t heap; /* of the recording's; they come in this order */
    const char *kind, *title;
    struct wndl_bytes detail; /* a line for people */
    uint64_t bytes, blocks;   /* usable bytes */
    uint32_t node;            /* of the recording's, 0: no stack */
};

/* A file that code was made of. */
struct wndl_view_source {
    struct wndl_bytes file, text;
};

struct wndl_view_recording {
    const char *file; /* what to call it */
    const struct wndl_symbolized *symbolized;
    struct wndl_bytes summary;       /* lines on how good it is, for people */
    const struct wndl_vec *findings; /* struct wndl_view_finding, or NULL */
    const struct wndl_vec *sources;  /* struct wndl_view_source, or NULL */
};

/* One, or an earlier and a later one that are compared. */
struct wndl_viewed {
    struct wndl_view_recording recordings[WNDL_MERGED_MAX];
    size_t count;
    struct wndl_bytes page; /* has the marker */
};

/*
 * Writes the page. False when memory is out; trouble with `out` is the
 * caller's to find, by ferror.
 */
bool wndl_view_write(
    FILE *out, const struct wndl_viewed *view, struct wndl_mem *mem);

/* ---- for the other files of view alone */

/* Columns of numbers, and what the head says of them. */
struct wndl_view_columns {
    struct wndl_buf data;
    struct wndl_buf head; /* elements of an array, in JSON */
};

/* A source by its strings in the page. */
struct wndl_view_source_ids {
    uint32_t file, text;
};

struct wndl_view_writer {
    const struct wndl_viewed *view;
    struct wndl_arena arena;
    struct wndl_merged merged;
    struct wndl_view_columns columns;
    struct wndl_vec sources; /* struct wndl_view_source_ids */
    /* Of each recording, in the numbers of the page: */
    uint32_t first_process[WNDL_MERGED_MAX], first_thread[WNDL_MERGED_MAX];
    uint64_t *numbers; /* as many as the longest column has */
    int64_t cpu_left;  /* ns that rounding took, at least -500 */
    bool failed;       /* memory is out */
};

/* A column of bytes. */
void wndl_view_bytes(struct wndl_view_columns *c, const char *name,
    const uint8_t *values, size_t count);

/* One of numbers below 2^53; `delta`: each less the one before it. */
void wndl_view_numbers(struct wndl_view_columns *c, const char *name,
    const uint64_t *values, size_t count, bool delta);

static inline const struct wndl_profile *wndl_view_profile(
    const struct wndl_view_writer *w, size_t recording)
{
    return w->merged.parts[recording].symbolized->profile;
}

/* The id of a text in the page's strings. */
uint32_t wndl_view_string(struct wndl_view_writer *w, struct wndl_bytes text);

/* The column of all strings; last, for all others may add to them. */
void wndl_view_add_strings(struct wndl_view_writer *w);

/* Samples, blocks, marks and pauses. */
void wndl_view_add_times(struct wndl_view_writer *w);

/* Curves and stacks of heaps. */
void wndl_view_add_heaps(struct wndl_view_writer *w);

/* The object that says what all of it is; the columns must be whole. */
void wndl_view_put_head(struct wndl_view_writer *w, struct wndl_buf *to);

#endif
