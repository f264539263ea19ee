/* SPDX-License-Identifier: MIT */
/* source_impl: how the readers of a form fill in a source. */
#ifndef WNDL_CFI_IMPORT_CORE_SOURCE_IMPL_H
#define WNDL_CFI_IMPORT_CORE_SOURCE_IMPL_H

#include "cfi_import/core/frame_writer.h"
#include "cfi_import/core/source.h"

/* Counts a record that is left out for the reason in `why`. */
void wndl_cfi_source_lose(
    struct wndl_cfi_source *cfi, const struct wndl_error *why);

/* Ends the writer, and moves its bytes and origins to the source. */
enum wndl_status wndl_cfi_source_finish(struct wndl_cfi_source *cfi,
    struct wndl_frame_writer *w, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
