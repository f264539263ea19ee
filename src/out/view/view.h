/* SPDX-License-Identifier: MIT */
/*
 * view: recordings as a page for a browser (docs/formats/view.md). The page
 * that shows them comes from the caller.
 */
#ifndef WNDL_OUT_VIEW_VIEW_H
#define WNDL_OUT_VIEW_VIEW_H

#include "base/buf.h"
#include "model/heap.h"
#include "model/heap_holders.h"
#include "model/memory_reports.h"
#include "model/merged.h"
#include "out/core/json_put.h"

#include <stdio.h>

/* The text that the page has once, at the place of the recordings. */
#define WNDL_VIEW_MARKER "<!--windlass-data-->"

/* A finding in a heap. */
struct wndl_view_finding {
    uint32_t heap; /* of the recording's; findings are in this order */
    const char *kind, *title;
    struct wndl_bytes detail; /* a line for people */
    uint64_t bytes, blocks;   /* usable bytes */
    uint32_t node;            /* of the recording's, 0: no stack */
};

/* A source file. */
struct wndl_view_source {
    struct wndl_bytes file, text;
};

/* A function's instructions, a line each (docs/formats/view.md). */
struct wndl_view_code {
    uint32_t function; /* of the recording's */
    struct wndl_bytes text;
};

/* The holders of the blocks of a heap. */
struct wndl_view_held {
    uint32_t heap;                           /* of the recording's */
    const struct wndl_heap_holders *holders; /* with trees */
};

/* Memory reports of one moment. */
struct wndl_view_report {
    const char *file; /* its name for people */
    const struct wndl_memory_reports *reports;
};

struct wndl_view_recording {
    const char *file; /* its name for people */
    const struct wndl_symbolized *symbolized;
    struct wndl_bytes summary;       /* lines on its quality, for people */
    const struct wndl_vec *findings; /* struct wndl_view_finding, or NULL */
    const struct wndl_vec *sources;  /* struct wndl_view_source, or NULL */
    const struct wndl_vec *codes;    /* struct wndl_view_code, or NULL */
    const struct wndl_vec *held;     /* struct wndl_view_held, or NULL */
};

/*
 * One recording, or an earlier and a later one that are compared; or none, and
 * memory reports.
 */
struct wndl_viewed {
    struct wndl_view_recording recordings[WNDL_MERGED_MAX];
    size_t count;
    const struct wndl_vec *memory; /* struct wndl_view_report, or NULL */
    struct wndl_bytes page;        /* has the marker */
};

/*
 * Writes the page. False when memory is out. The caller checks `out` with
 * ferror.
 */
bool wndl_view_write(
    FILE *out, const struct wndl_viewed *view, struct wndl_mem *mem);

/* ---- private to the files of view */

/* Columns of numbers, and their entries in the head. */
struct wndl_view_columns {
    struct wndl_buf data;
    struct wndl_buf head; /* elements of an array, in JSON */
    bool later;           /* readers need them after the others */
};

/* A source, by the ids of its strings in the page. */
struct wndl_view_source_ids {
    uint32_t file, text;
};

/* A function's code, by the numbers of the page. */
struct wndl_view_code_ids {
    uint32_t function, text;
};

struct wndl_view_writer {
    const struct wndl_viewed *view;
    struct wndl_arena arena;
    struct wndl_merged merged;
    struct wndl_view_columns columns;
    struct wndl_view_columns later;      /* those of samples and blocks */
    struct wndl_vec sources;             /* struct wndl_view_source_ids */
    struct wndl_vec codes;               /* struct wndl_view_code_ids */
    struct wndl_intern memory_processes; /* names; of memory reports */
    /* For each recording, in the numbers of the page: */
    uint32_t first_process[WNDL_MERGED_MAX], first_thread[WNDL_MERGED_MAX];
    uint64_t *numbers; /* with room for the longest column */
    int64_t cpu_left;  /* ns that rounding has left over, at least -500 */
    bool failed;       /* memory is out */
};

/* Adds a column of bytes. */
void wndl_view_bytes(struct wndl_view_columns *c, const char *name,
    const uint8_t *values, size_t count);

/*
 * Adds a column of numbers below 2^53; `delta`: as differences from the
 * previous one.
 */
void wndl_view_numbers(struct wndl_view_columns *c, const char *name,
    const uint64_t *values, size_t count, bool delta);

/* The profile of a recording of the page. */
static inline const struct wndl_profile *wndl_view_profile(
    const struct wndl_view_writer *w, size_t recording)
{
    return w->merged.parts[recording].symbolized->profile;
}

/* The id of a text in the page's strings. */
uint32_t wndl_view_string(struct wndl_view_writer *w, struct wndl_bytes text);

/*
 * Adds the column of all strings; to be called last, since the others add
 * strings.
 */
void wndl_view_add_strings(struct wndl_view_writer *w);

/* Adds samples, blocks, marks and pauses. */
void wndl_view_add_times(struct wndl_view_writer *w);

/* Adds curves and stacks of heaps. */
void wndl_view_add_heaps(struct wndl_view_writer *w);

/* Adds who holds the blocks of the heap `number` of the page. */
void wndl_view_add_held(struct wndl_view_writer *w, size_t number,
    const struct wndl_heap_holders *holders);

/* Adds memory reports, if there are any. */
void wndl_view_add_memory(struct wndl_view_writer *w);

/* Writes what the head says about them. */
void wndl_view_put_memory(
    const struct wndl_view_writer *w, struct wndl_json *j);

/* Appends the object that describes all columns, which must be complete. */
void wndl_view_put_head(struct wndl_view_writer *w, struct wndl_buf *to);

#endif
