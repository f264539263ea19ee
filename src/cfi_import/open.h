/* SPDX-License-Identifier: MIT */
/*
 * open: finds the call frame information of a binary, whichever room reads its
 * form.
 */
#ifndef WNDL_CFI_IMPORT_OPEN_H
#define WNDL_CFI_IMPORT_OPEN_H

#include "cfi_import/core/source.h"

/*
 * NOT_FOUND if there is none, NOMEM, or the failure of a section's bytes.
 * Memory is the arena's, whose owner keeps the object open meanwhile. The
 * functions may lie anywhere, overlap, and come in any order.
 */
enum wndl_status wndl_cfi_source_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
