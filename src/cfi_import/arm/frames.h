/* SPDX-License-Identifier: MIT */
/*
 * frames: the rules of .ARM.exidx and 32-bit Arm code, as call frame
 * information.
 */
#ifndef WNDL_CFI_IMPORT_ARM_FRAMES_H
#define WNDL_CFI_IMPORT_ARM_FRAMES_H

#include "cfi_import/core/source.h"

/* For 32-bit Arm. NOT_FOUND for others, and if there is none. */
enum wndl_status wndl_arm_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
