/* SPDX-License-Identifier: MIT */
/*
 * frames: Windows' lists of functions (.pdata), of x86-64 and ARM64, as call
 * frame information.
 */
#ifndef WNDL_CFI_IMPORT_PE_FRAMES_H
#define WNDL_CFI_IMPORT_PE_FRAMES_H

#include "cfi_import/core/source.h"

/* For Windows on x86-64. NOT_FOUND for others, and if there is none. */
enum wndl_status wndl_pe_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

/* The same for ARM64. UNSUPPORTED for 32-bit Arm. */
enum wndl_status wndl_pe_arm64_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
