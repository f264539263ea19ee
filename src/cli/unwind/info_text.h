/* SPDX-License-Identifier: MIT */
/* unwind_info_text: the output of `windlass unwind-info`. */
#ifndef WNDL_CLI_UNWIND_INFO_TEXT_H
#define WNDL_CLI_UNWIND_INFO_TEXT_H

#include "analyze/binary/unwind_info.h"

/* Prints the totals as text. */
void wndl_unwind_info_say(
    struct wndl_buf *out, const struct wndl_unwind_info *info);

/*
 * Prints the totals as one JSON object, with the rules at each of `count`
 * addresses (svma) in "lookups".
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

/* Prints the rule at `svma`, in one or two lines. */
void wndl_unwind_info_say_at(
    struct wndl_buf *out, const struct wndl_unwind_info *info, uint64_t svma);

/* "[0x1000 .. 0x1003]: let cfa=..." */
void wndl_unwind_info_say_range(struct wndl_buf *out,
    const struct wndl_unwind_info *info, const struct wndl_unwind_range *range);

#endif
