/* SPDX-License-Identifier: MIT */
/*
 * source: the call frame information of a binary in any form, as a section that
 * src/cfi reads. .eh_frame or .debug_frame alone are used as they are. Windows'
 * .pdata, Apple's __unwind_info and Breakpad's STACK records are converted to
 * .debug_frame.
 */
#ifndef WNDL_CFI_IMPORT_CORE_SOURCE_H
#define WNDL_CFI_IMPORT_CORE_SOURCE_H

#include "base/vec.h"
#include "cfi/cfi.h"
#include "obj/core/object.h"

/*
 * The name of the section that an object of a Breakpad symbol file has for its
 * text (stack_record/object.h).
 */
#define WNDL_STACK_RECORD_SECTION "STACK"

/*
 * The name of the section that an object has for rules that were made from its
 * code (code/frames.h), in the form of .debug_frame.
 */
#define WNDL_CODE_RULES_SECTION "code"

/* Records that could not be converted. */
struct wndl_cfi_source_lost {
    uint64_t count;
    struct wndl_error first; /* of the first */
};

struct wndl_cfi_source {
    const char *name; /* ".eh_frame", ".pdata", "STACK", ... or both of ELF */
    struct wndl_cfi_section frame;
    uint64_t size; /* bytes read */
    /* NULL, or the section of the records from offset `more_from` on */
    const char *more;
    uint64_t more_from;
    uint64_t code_from; /* the same of rules from code; 0: there are none */
    struct wndl_vec origins; /* struct wndl_frame_origin; empty: used as is */
    struct wndl_cfi_source_lost damaged, unsupported;
};

/*
 * Finds one section, ".eh_frame" or ".debug_frame", for a zeroed source.
 * NOT_FOUND, with `err` unchanged, if there is none.
 */
enum wndl_status wndl_cfi_source_find(struct wndl_cfi_source *cfi,
    struct wndl_object *object, const char *name,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The section, and the offset in it, of the record of which the FDE at that
 * offset was made.
 */
const char *wndl_cfi_source_section(
    const struct wndl_cfi_source *cfi, uint64_t fde);
uint64_t wndl_cfi_source_origin(
    const struct wndl_cfi_source *cfi, uint64_t fde);

#endif
