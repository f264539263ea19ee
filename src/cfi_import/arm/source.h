/* SPDX-License-Identifier: MIT */
/*
 * source: the rows of each function of 32-bit Arm, from a binary's .ARM.exidx
 * and code.
 */
#ifndef WNDL_CFI_IMPORT_ARM_SOURCE_H
#define WNDL_CFI_IMPORT_ARM_SOURCE_H

#include "obj/core/object.h"
#include "unwind/arm/rows.h"

/* The bytes belong to the object. */
struct wndl_arm_source {
    struct wndl_exidx exidx;
    struct wndl_bytes code; /* .text; prologues elsewhere are not followed */
    uint64_t code_addr;
};

/*
 * NOT_FOUND if `object` has no .ARM.exidx, or is not of 32-bit Arm. MALFORMED
 * if its entries are so disordered that following them all would take too long.
 * Else as wndl_object_section_bytes.
 */
enum wndl_status wndl_arm_source_open(struct wndl_arm_source *source,
    struct wndl_object *object, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The end of function `i` < wndl_exidx_count. It is the start of the next one,
 * for the last one the end of .text. At or below its start: it has no code.
 */
uint64_t wndl_arm_source_end(const struct wndl_arm_source *source, size_t i);

/*
 * Calls `visit` for each row of function `i` in order, until it returns false.
 * Fails like wndl_exidx_read and wndl_exidx_row, with the place in .ARM.exidx.
 */
enum wndl_status wndl_arm_source_rows(const struct wndl_arm_source *source,
    size_t i, bool (*visit)(void *context, const struct wndl_cfi_row *row),
    void *context, struct wndl_error *err) WNDL_MUST_USE;

#endif
