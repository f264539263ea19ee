/* SPDX-License-Identifier: MIT */
/* unwind_info_text: what `windlass unwind-info` prints. */
#ifndef WNDL_CLI_UNWIND_INFO_TEXT_H
#define WNDL_CLI_UNWIND_INFO_TEXT_H

#include "analyze/binary/unwind_info.h"

/* The sums, for people. */
void wndl_unwind_info_say(
    struct wndl_buf *out, const struct wndl_unwind_info *info);

/*
 * The same as one JSON object, and in "lookups" what holds at each of `count`
 * addresses (svma).
 */
void wndl_unwind_info_json(struct wndl_buf *out,
    const struct wndl_unwind_info *info, const uint64_t *addresses,
    size_t count);

/* How much of the section .text, else of the largest one, has CFI. */
struct wndl_unwind_info_share {
    const char *section; /* NULL: there is no code; lives as `info` */
    uint32_t tenths;     /* of a percent, rounded down: 1000 is all of it */
};
struct wndl_unwind_info_share wndl_unwind_info_share(
    const struct wndl_unwind_info *info);

/* What holds at `svma`, in one or two lines. */
void wndl_unwind_info_say_at(
    struct wndl_buf *out, const struct wndl_unwind_info *info, uint64_t svma);

/* "[0x1000 .. 0x1003]: let cfa=..." */
void wndl_unwind_info_say_range(struct wndl_buf *out,
    const struct wndl_unwind_info *info, const struct wndl_unwind_range *range);

#endif
