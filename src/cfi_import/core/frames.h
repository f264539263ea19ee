/* SPDX-License-Identifier: MIT */
/*
 * frames: the call frame information of a binary, whatever form it is in, as a
 * section that src/cfi reads: .eh_frame or .debug_frame as they are; Windows'
 * .pdata, Apple's __unwind_info and Breakpad's STACK records put into the words
 * of .debug_frame.
 */
#ifndef WNDL_CFI_IMPORT_CORE_FRAMES_H
#define WNDL_CFI_IMPORT_CORE_FRAMES_H

#include "base/vec.h"
#include "cfi/cfi.h"
#include "obj/core/object.h"

/* Under which name the text of a Breakpad symbol file is an object's section
 * (sym_object.h). */
#define WNDL_SYM_SECTION "STACK"

/* Records that nothing was made of. */
struct wndl_frames_lost {
    uint64_t count;
    struct wndl_error first; /* of the first */
};

struct wndl_frames {
    const char *name; /* ".eh_frame", ".pdata", "STACK", ... */
    struct wndl_cfi_section frame;
    uint64_t size;           /* bytes of what was read */
    struct wndl_vec origins; /* struct wndl_frame_origin; empty: used as is */
    struct wndl_frames_lost damaged, unsupported;
};

/*
 * NOT_FOUND when there is none, NOMEM, and what a section's bytes may fail of.
 * Memory is the arena's, whose owner keeps the object open meanwhile. The
 * functions may lie anywhere, overlap, and come in any order.
 */
enum wndl_status wndl_frames_open(struct wndl_frames *frames,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

/* One section, ".eh_frame" or ".debug_frame"; for zeroed frames. NOT_FOUND, and
 * nothing said, when there is none. */
enum wndl_status wndl_frames_find(struct wndl_frames *frames,
    struct wndl_object *object, const char *name,
    struct wndl_error *err) WNDL_MUST_USE;

/* Where in `name` the record is that the FDE at that offset was made of. */
uint64_t wndl_frames_origin(const struct wndl_frames *frames, uint64_t fde);

#endif
