/* SPDX-License-Identifier: MIT */
/*
 * frames: what .ARM.exidx and the code of 32-bit Arm say, as call frame
 * information.
 */
#ifndef WNDL_CFI_IMPORT_ARM_FRAMES_H
#define WNDL_CFI_IMPORT_ARM_FRAMES_H

#include "cfi_import/core/source.h"

/* 32-bit Arm's. NOT_FOUND for others, and when there is none. */
enum wndl_status wndl_arm_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
