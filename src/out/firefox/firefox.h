/* SPDX-License-Identifier: MIT */
/*
 * firefox: a processed profile for profiler.firefox.com
 * (docs/formats/firefox.md). The only failure is that memory is out.
 */
#ifndef WNDL_OUT_FIREFOX_FIREFOX_H
#define WNDL_OUT_FIREFOX_FIREFOX_H

#include "base/intern.h"
#include "model/exported.h"
#include "out/core/sink.h"

#include <inttypes.h>

/*
 * Writes all processes, their threads, marks and heaps; samples have stacks if
 * they belong to the time that is shown. False when memory is out. The caller
 * checks `out` with ferror.
 */
bool wndl_firefox_write(
    FILE *out, const struct wndl_exported *e, struct wndl_mem *mem);

/* ---- private to the files of firefox */

/*
 * A writer. A string's number is its id in the symbolized's strings; our own
 * strings come after those. A function's number is its index; labels come after
 * all functions. The rows of the frame table are the frame_locations, but of
 * each span the outermost comes first: row span.first + depth. Labels come
 * after them. The stack table has each node of the recording once below each
 * label with which it occurs, parents first. stacks[label][node] is the number
 * of a node's innermost row + 1, or 0 if it has none; [label][0] is that of the
 * label itself.
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

/* Opens a column, adds values to it, and closes it. */
struct wndl_firefox_column wndl_firefox_open(
    struct wndl_firefox *w, const char *name);
void wndl_firefox_number(struct wndl_firefox_column *column, uint64_t number);
/* Adds `ns` as milliseconds. */
void wndl_firefox_time(struct wndl_firefox_column *column, uint64_t ns);
void wndl_firefox_text(struct wndl_firefox_column *column, const char *text);
void wndl_firefox_close(struct wndl_firefox_column *column);

/* Writes a column of `count` equal values. */
void wndl_firefox_repeat(
    struct wndl_firefox *w, const char *name, size_t count, const char *text);

/* "length":count} */
void wndl_firefox_length(struct wndl_firefox *w, size_t count);

/* Appends `ns` as milliseconds, without zeros at its end. */
void wndl_firefox_put_ms(struct wndl_buf *to, uint64_t ns);

/* "4711", or "4711.1" after an exec. */
void wndl_firefox_put_pid(struct wndl_firefox *w, uint32_t process);

/* The number of a string of our own, added if new. */
uint64_t wndl_firefox_string(struct wndl_firefox *w, struct wndl_bytes text);

/* ---- parts */

/* Finds the stacks that occur; to be called before all others. */
bool wndl_firefox_collect_stacks(struct wndl_firefox *w);

/* The row + 1 of a collected stack; 0: none. */
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

/* Writes ,"nativeAllocations":{...} of a selected heap, for its main thread. */
void wndl_firefox_write_allocations(
    struct wndl_firefox *w, const struct wndl_process_heap *heap, uint32_t tid);

/* Writes the sizes of a process, if there are any, the same way. */
void wndl_firefox_write_sizes(
    struct wndl_firefox *w, uint32_t process, size_t main_thread, bool *first);

/* Writes the curve of a heap, as an element of "counters". */
void wndl_firefox_write_counter(struct wndl_firefox *w,
    const struct wndl_process_heap *heap, size_t main_thread);

#endif
