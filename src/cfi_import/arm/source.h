/* SPDX-License-Identifier: MIT */
/*
 * source: what .ARM.exidx and the code of a binary say together: the rows
 * of each function of 32-bit Arm.
 */
#ifndef WNDL_CFI_IMPORT_ARM_SOURCE_H
#define WNDL_CFI_IMPORT_ARM_SOURCE_H

#include "obj/core/object.h"
#include "unwind/arm/rows.h"

/* Bytes are the object's. */
struct wndl_arm_source {
    struct wndl_exidx exidx;
    struct wndl_bytes code; /* .text; prologues elsewhere are not followed */
    uint64_t code_addr;
};

/* NOT_FOUND when `object` has no .ARM.exidx, or is not of 32-bit Arm; MALFORMED
 * when its entries are so far out of order that following them all would take
 * too long; else as wndl_object_section_bytes. */
enum wndl_status wndl_arm_source_open(struct wndl_arm_source *source,
    struct wndl_object *object, struct wndl_error *err) WNDL_MUST_USE;

/* Where function `i` < wndl_exidx_count ends: where the next one starts, the
 * last one of .text with that. At or below its start: there is no code. */
uint64_t wndl_arm_source_end(const struct wndl_arm_source *source, size_t i);

/*
 * Calls visit for each row of function `i` in order until it returns false.
 * Fails as wndl_exidx_read and wndl_exidx_row, with where in .ARM.exidx.
 */
enum wndl_status wndl_arm_source_rows(const struct wndl_arm_source *source,
    size_t i, bool (*visit)(void *context, const struct wndl_cfi_row *row),
    void *context, struct wndl_error *err) WNDL_MUST_USE;

#endif
