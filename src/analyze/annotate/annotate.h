/* SPDX-License-Identifier: MIT */
/*
 * annotate: the cost of each line and each instruction of a function, and of
 * its callers. It costs a few passes over samples, blocks and stack nodes, and
 * one over the nodes for each function that is filled in. It reads no files.
 */
#ifndef WNDL_ANALYZE_ANNOTATE_ANNOTATE_H
#define WNDL_ANALYZE_ANNOTATE_ANNOTATE_H

#include "analyze/heap/report.h"
#include "analyze/time/node_walk.h"
#include "model/annotated.h"

struct wndl_annotator {
    struct wndl_annotation *of;
    struct wndl_arena arena;
    struct wndl_node_walk walk;
    struct wndl_cost *self, *total; /* by stack node */
};

struct wndl_annotate_choice {
    const char
        *name; /* of functions, as in wndl_function_is_named; NULL: all */
    enum wndl_time time;
    const struct wndl_heap_choice *heap; /* NULL: of samples and blocks */
};

/*
 * Finds the functions of this name, with self and total only. `of` must not
 * move, and `s` outlives it. Both `of` and the annotator end with
 * wndl_annotator_free, also after a failure. False when memory is out.
 */
bool wndl_annotator_init(struct wndl_annotator *x, struct wndl_annotation *of,
    struct wndl_symbolized *s, const struct wndl_annotate_choice *choice);
void wndl_annotator_free(struct wndl_annotator *x);

/*
 * Fills in the costs of one of its functions: lines, inlined code, callers, and
 * those of `code`, which is in place before. Its files are listed, but not
 * read. False when memory is out.
 */
bool wndl_annotator_fill(struct wndl_annotator *x, struct wndl_annotated *a);

#endif
