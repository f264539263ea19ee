/* SPDX-License-Identifier: MIT */
/*
 * unwind_info_parts: the steps that fill a struct wndl_unwind_info: its code,
 * then its functions, then its rows.
 */
#ifndef WNDL_ANALYZE_BINARY_UNWIND_INFO_PARTS_H
#define WNDL_ANALYZE_BINARY_UNWIND_INFO_PARTS_H

#include "analyze/binary/unwind_info.h"

/* Bytes of an entry of .ARM.exidx. */
enum { WNDL_EXIDX_ENTRY = 8 };

/* The number of the function's entry of .ARM.exidx. */
static inline size_t wndl_unwind_info_entry_of(
    const struct wndl_unwind_function *function)
{
    return (size_t)(function->fde / WNDL_EXIDX_ENTRY);
}

/*
 * Counts a part that is not in `ranges`, with `bytes` of code; `why` may be
 * NULL.
 */
void wndl_unwind_info_count_reject(struct wndl_unwind_info *info,
    enum wndl_unwind_reject reason, uint64_t bytes,
    const struct wndl_error *why);

/* Fills `sections`. False, here and below, when memory is out. */
bool wndl_unwind_info_list_sections(struct wndl_unwind_info *info);

/* Whether any of [start, end) is in a section. */
bool wndl_unwind_info_touches_code(
    const struct wndl_unwind_info *info, uint64_t start, uint64_t end);

/* Counts [start, end) as covered, where it is in sections. */
void wndl_unwind_info_cover_code(
    struct wndl_unwind_info *info, uint64_t start, uint64_t end);

/* Fills `functions`, from the records of `frame` or the entries of `arm`. */
bool wndl_unwind_info_list_functions(struct wndl_unwind_info *info);

/* Fills `ranges` and `rules`, from the functions' rows. */
bool wndl_unwind_info_list_ranges(
    struct wndl_unwind_info *info, struct wndl_mem *mem);

#endif
