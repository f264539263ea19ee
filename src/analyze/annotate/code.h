/* SPDX-License-Identifier: MIT */
/*
 * annotate_code: the instructions of a function, from its binary, and which
 * lines they belong to.
 */
#ifndef WNDL_ANALYZE_ANNOTATE_CODE_H
#define WNDL_ANALYZE_ANNOTATE_CODE_H

#include "analyze/names/profile_names.h"
#include "model/annotated.h"

struct wndl_annotate_code {
    const struct wndl_symbol_sources *sources;
    bool intel; /* syntax */
};

/*
 * Fills in a->code without costs, or a->code_problem. The code is that of all
 * parts of the function in which the recording has a frame; of a function that
 * was inlined, the instructions that came from it. Of more than 2^18
 * instructions the rest is left out, which code_problem says. If memory or
 * descriptors are out where code is read, `lack` of the symbolized says so.
 * False when memory is out elsewhere.
 */
bool wndl_annotate_read_code(struct wndl_annotation *of,
    struct wndl_annotated *a, const struct wndl_annotate_code *how);

#endif
