/* SPDX-License-Identifier: MIT */
/*
 * dmd_text: heap records as text for people, in the layout of Mozilla's DMD
 * (docs/formats/dmd.md): a head, the records of each kind, and a summary. It
 * must not know where the records come from.
 */
#ifndef WNDL_OUT_DMD_TEXT_H
#define WNDL_OUT_DMD_TEXT_H

#include "base/buf.h"
#include "model/heap_records.h"

/* The run that wrote a DMD file: $DMD, with data NULL if it was not set. */
struct wndl_dmd_invocation {
    struct wndl_bytes env;
    enum wndl_heap_mode mode;
};

/*
 * Appends a line of dashes, `command` as a comment, and the invocations: none,
 * that of one file, or those of two that are compared.
 */
void wndl_dmd_text_head(struct wndl_buf *out, const char *command,
    const struct wndl_dmd_invocation *invocations, size_t count);

/*
 * Appends the records in their order, the first `max` of each kind, then the
 * summary. Estimated numbers have a ~ before them.
 */
void wndl_dmd_text_records(
    struct wndl_buf *out, const struct wndl_heap_records *records, size_t max);

#endif
