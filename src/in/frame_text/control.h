/* SPDX-License-Identifier: MIT */
/*
 * control: text without the control sequences of terminals (ECMA-48: colours,
 * links, titles), so that they may stand anywhere in a frame, and the way back
 * to the text as it was.
 */
#ifndef WNDL_IN_FRAME_TEXT_CONTROL_H
#define WNDL_IN_FRAME_TEXT_CONTROL_H

#include "base/buf.h"
#include "base/vec.h"

/* Whether there may be any. In JSON strings ESC is written as \u001b, too. */
bool wndl_frame_has_controls(struct wndl_bytes text, bool json);

/* At `at` of the plain text and from there on, `removed` bytes are missing. */
struct wndl_frame_cut {
    uint64_t at;
    uint64_t removed;
};

/*
 * Copies `text` without control sequences to `to`, which has room for all of
 * it, and appends to `cuts` (struct wndl_frame_cut; or NULL) where they were.
 * Returns the size of the copy. False in *complete when memory is out.
 */
size_t wndl_frame_strip_controls(struct wndl_bytes text, bool json, uint8_t *to,
    struct wndl_vec *cuts, bool *complete);

/* Where the byte `at` of the copy is in the text. */
size_t wndl_frame_uncut(const struct wndl_vec *cuts, size_t at);

/* Appends the control sequences of `text` to `out`. */
void wndl_frame_copy_controls(
    struct wndl_bytes text, bool json, struct wndl_buf *out);

#endif
