/* SPDX-License-Identifier: MIT */
/* heap_tags: the blocks of a heap by their tags, as a table. */
#ifndef WNDL_OUT_REPORT_TEXT_HEAP_TAGS_H
#define WNDL_OUT_REPORT_TEXT_HEAP_TAGS_H

#include "base/buf.h"
#include "model/heap_report.h"

/* `which`: the set of blocks, as in struct wndl_heap_report. */
void wndl_report_text_heap_tags(const struct wndl_heap_tag_sum *sums,
    size_t count, const char *which, struct wndl_buf *out);

#endif
