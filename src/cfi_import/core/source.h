/* SPDX-License-Identifier: MIT */
/*
 * source: the call frame information of a binary, whatever form it is in, as a
 * section that src/cfi reads: .eh_frame or .debug_frame as they are; Windows'
 * .pdata, Apple's __unwind_info and Breakpad's STACK records put into the words
 * of .debug_frame.
 */
#ifndef WNDL_CFI_IMPORT_CORE_SOURCE_H
#define WNDL_CFI_IMPORT_CORE_SOURCE_H

#include "base/vec.h"
#include "cfi/cfi.h"
#include "obj/core/object.h"

/* Under which name the text of a Breakpad symbol file is an object's section
 * (stack_record/object.h). */
#define WNDL_STACK_RECORD_SECTION "STACK"

/* Records that nothing was made of. */
struct wndl_cfi_source_lost {
    uint64_t count;
    struct wndl_error first; /* of the first */
};

struct wndl_cfi_source {
    const char *name; /* ".eh_frame", ".pdata", "STACK", ... */
    struct wndl_cfi_section frame;
    uint64_t size;           /* bytes of what was read */
    struct wndl_vec origins; /* struct wndl_frame_origin; empty: used as is */
    struct wndl_cfi_source_lost damaged, unsupported;
};

/* One section, ".eh_frame" or ".debug_frame"; for a zeroed source. NOT_FOUND,
 * and nothing said, when there is none. */
enum wndl_status wndl_cfi_source_find(struct wndl_cfi_source *cfi,
    struct wndl_object *object, const char *name,
    struct wndl_error *err) WNDL_MUST_USE;

/* Where in `name` the record is that the FDE at that offset was made of. */
uint64_t wndl_cfi_source_origin(
    const struct wndl_cfi_source *cfi, uint64_t fde);

#endif
