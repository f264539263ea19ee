/* SPDX-License-Identifier: MIT */
/*
 * heap_tags: whose the blocks of a recorded heap are. A site's tag is the name
 * that the program gave. Else it is that of the library (HLIB) whose module is
 * nearer to the allocation than any of the program's own; else whose the thread
 * is, by the stack that created it.
 */
#ifndef WNDL_ANALYZE_HEAP_TAGS_H
#define WNDL_ANALYZE_HEAP_TAGS_H

#include "analyze/heap/report.h"

/*
 * Decides for all sites of the profile's heaps: their `tag` is then a number in
 * p->tag_names. Each such site's stack gets a frame "tag: NAME" as its
 * outermost one, so that all that shows stacks also shows tags. Once, after
 * frames have their names. False when memory is out.
 */
bool wndl_heap_tags_apply(struct wndl_profile *p, struct wndl_symbolized *s);

/*
 * Drops the counts of all sites but those whose tag matches a pattern of
 * fnmatch(3). Returns whether any has such a tag.
 */
bool wndl_heap_tags_keep(struct wndl_profile *p, const char *pattern);

/*
 * Appends the sums of the chosen blocks to `sums` (struct wndl_heap_tag_sum),
 * most bytes first; tags without any are left out. False when memory is out.
 */
bool wndl_heap_tags_sum(const struct wndl_profile *p,
    const struct wndl_heap_choice *choice, struct wndl_vec *sums);

#endif
