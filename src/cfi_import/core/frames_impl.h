/* SPDX-License-Identifier: MIT */
/*
 * frames_impl: what the readers of frames share, one file a form.
 *
 *   pe_frames.c    Windows: the list of functions (.pdata)
 *   pe_unwind.c    what one of them does to the stack (.xdata)
 *   pe_epilogue.c  where it takes that back
 *   pe_arm64.c     what one of ARM64 does
 *   pe_arm64_frames.c  the list of these
 *   macho_frames.c Apple's: __unwind_info
 *   x64_rows.c     rows of both
 *   arm_frames.c   32-bit Arm: .ARM.exidx and the code
 *   sym_frames.c   Breakpad's symbol files: STACK records
 */
#ifndef WNDL_CFI_IMPORT_CORE_FRAMES_IMPL_H
#define WNDL_CFI_IMPORT_CORE_FRAMES_IMPL_H

#include "cfi_import/core/frame_writer.h"
#include "cfi_import/core/frames.h"

/* Counts a record that is left out for what is in `why`. */
void wndl_frames_lose(struct wndl_frames *frames, const struct wndl_error *why);

/* An end to what was being written: its bytes and origins are the frames'. */
enum wndl_status wndl_frames_finish(struct wndl_frames *frames,
    struct wndl_frame_writer *w, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

/* Windows' of x86-64. NOT_FOUND for others, and when there is none. */
enum wndl_status wndl_pe_frames(struct wndl_frames *frames,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

/* Windows' of ARM64, likewise; of 32-bit Arm UNSUPPORTED. */
enum wndl_status wndl_pe_arm64_frames(struct wndl_frames *frames,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

/* 32-bit Arm's. NOT_FOUND for others, and when there is none. */
enum wndl_status wndl_arm_frames(struct wndl_frames *frames,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

/* Apple's. NOT_FOUND when there is none. */
enum wndl_status wndl_macho_frames(struct wndl_frames *frames,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

/* Of Breakpad's symbol files. NOT_FOUND for others, and when it has none. */
enum wndl_status wndl_sym_frames(struct wndl_frames *frames,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
