/* SPDX-License-Identifier: MIT */
/*
 * symbolizer: the part of windlass/symbolize.h that is for this repository
 * only.
 */
#ifndef WNDL_SYMBOLIZE_SYMBOLIZER_H
#define WNDL_SYMBOLIZE_SYMBOLIZER_H

#include "base/mem.h"

#include <windlass/symbolize.h>

/* wndl_symbolizer_open on a heap of the caller's, which must outlive it. */
enum wndl_status wndl_symbolizer_open_with(struct wndl_mem *mem,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer **out, struct wndl_error *err) WNDL_MUST_USE;

/* wndl_symbolizer_open_reader in the same way. */
enum wndl_status wndl_symbolizer_open_reader_with(struct wndl_mem *mem,
    const struct wndl_symbolizer_reader *reader,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
