/* SPDX-License-Identifier: MIT */
/*
 * firefox: a processed profile for profiler.firefox.com
 * (docs/formats/firefox.md). Out of memory is told; nothing else can fail.
 */
#ifndef WNDL_OUT_FIREFOX_FIREFOX_H
#define WNDL_OUT_FIREFOX_FIREFOX_H

#include "base/intern.h"
#include "model/exported.h"
#include "out/core/sink.h"

#include <inttypes.h>

/*
 * Writes all processes, their threads, marks and heaps; samples have stacks
 * if they are of the time that is shown. False when memory is out; trouble
 * with `out` is the caller's to find, by ferror.
 */
bool wndl_firefox_write(
    FILE *out, const struct wndl_exported *e, struct wndl_mem *mem);

/* ---- for the other files of firefox alone */

/*
 * A string's number is its id in the symbolized's strings; ours come after
 * those. A function's is its index, and after all functions come labels.
 *
 * Rows of the frame table are the frame_locations, but of each span the
 * outermost comes first: row span.first + depth. Labels come after them.
 *
 * The stack table has nodes of the recording once below each label that they
 * occur with, parents first; stacks[label][node] is the number of a node's
 * innermost row + 1, 0 if it has none, [label][0] that of the label itself.
 */
struct wndl_firefox {
    const struct wndl_exported *e;
    const struct wndl_symbolized *s;
    const struct wndl_profile *p;
    struct wndl_arena arena;
    struct wndl_sink sink;
    struct wndl_intern ours;
    uint32_t *stacks[WNDL_LABELS]; /* NULL: no stack has that label */
    uint32_t stack_rows;
    bool failed;
};

/* ---- put.c: columns, "name":[...], of a table that ends with its length */

struct wndl_firefox_column {
    struct wndl_firefox *w;
    bool first;
};

struct wndl_firefox_column wndl_firefox_open(
    struct wndl_firefox *w, const char *name);
void wndl_firefox_number(struct wndl_firefox_column *column, uint64_t number);
/* As milliseconds. */
void wndl_firefox_time(struct wndl_firefox_column *column, uint64_t ns);
void wndl_firefox_text(struct wndl_firefox_column *column, const char *text);
void wndl_firefox_close(struct wndl_firefox_column *column);

/* A column of `count` times the same. */
void wndl_firefox_repeat(
    struct wndl_firefox *w, const char *name, size_t count, const char *text);

/* "length":count} */
void wndl_firefox_length(struct wndl_firefox *w, size_t count);

void wndl_firefox_put_ms(struct wndl_buf *to, uint64_t ns);

/* "4711", or "4711.1" after an exec. */
void wndl_firefox_put_pid(struct wndl_firefox *w, uint32_t process);

/* The number of a string of ours, added if new. */
uint64_t wndl_firefox_string(struct wndl_firefox *w, struct wndl_bytes text);

/* ---- parts */

/* Finds out which stacks there are; before all others. */
bool wndl_firefox_collect_stacks(struct wndl_firefox *w);

/* The row + 1 of a stack that was collected; 0: it has none. */
static inline uint32_t wndl_firefox_stack(
    const struct wndl_firefox *w, uint32_t node, unsigned label)
{
    return w->stacks[label] == NULL ? 0 : w->stacks[label][node];
}

/* "libs":..., and the members of "shared" but its strings. */
void wndl_firefox_write_libs(struct wndl_firefox *w);
void wndl_firefox_write_tables(struct wndl_firefox *w);

/* "threads":... and "counters":... */
void wndl_firefox_write_threads(struct wndl_firefox *w);

/* ,"nativeAllocations":{...} of a heap that counts, by its main thread. */
void wndl_firefox_write_allocations(
    struct wndl_firefox *w, const struct wndl_process_heap *heap, uint32_t tid);

/* The curve of a heap, as an element of "counters". */
void wndl_firefox_write_counter(struct wndl_firefox *w,
    const struct wndl_process_heap *heap, size_t main_thread);

#endif
