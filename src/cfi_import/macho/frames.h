/* SPDX-License-Identifier: MIT */
/*
 * frames: Apple's __unwind_info as call frame information.
 */
#ifndef WNDL_CFI_IMPORT_MACHO_FRAMES_H
#define WNDL_CFI_IMPORT_MACHO_FRAMES_H

#include "cfi_import/core/source.h"

/* For Apple's binaries. NOT_FOUND if there is none. */
enum wndl_status wndl_macho_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
