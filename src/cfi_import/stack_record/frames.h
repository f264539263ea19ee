/* SPDX-License-Identifier: MIT */
/*
 * frames: the STACK records of Breakpad's symbol files, as call frame
 * information.
 */
#ifndef WNDL_CFI_IMPORT_STACK_RECORD_FRAMES_H
#define WNDL_CFI_IMPORT_STACK_RECORD_FRAMES_H

#include "cfi_import/core/source.h"

/* For Breakpad's symbol files. NOT_FOUND for others, and if there are none. */
enum wndl_status wndl_stack_record_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
