/* SPDX-License-Identifier: MIT */
/*
 * dmd_text: heap records as text for people, in the layout of Mozilla's DMD:
 * a head, the records of each kind, and a summary. docs/formats/dmd.md has
 * it. It must not know where the records are from.
 */
#ifndef WNDL_OUT_DMD_TEXT_H
#define WNDL_OUT_DMD_TEXT_H

#include "base/buf.h"
#include "model/heap_records.h"

/* How a DMD file came about: $DMD as it was, with data NULL if not set. */
struct wndl_dmd_invocation {
    struct wndl_bytes env;
    enum wndl_heap_mode mode;
};

/*
 * A line of dashes, `command` as a comment, and the invocations: none, that
 * of one file, or those of two that are compared.
 */
void wndl_dmd_text_head(struct wndl_buf *out, const char *command,
    const struct wndl_dmd_invocation *invocations, size_t count);

/*
 * The records in their order, the first `max` of each kind, then the
 * summary. Numbers that were estimated from a sample have a ~ before them.
 */
void wndl_dmd_text_records(
    struct wndl_buf *out, const struct wndl_heap_records *records, size_t max);

#endif
