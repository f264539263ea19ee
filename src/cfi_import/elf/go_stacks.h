/* SPDX-License-Identifier: MIT */
/*
 * go_stacks: where stacks of Go begin. Go's runtime starts goroutines, and
 * changes to its own stacks, in functions that nobody has called, but whose
 * records in .debug_frame name a caller as all others do.
 */
#ifndef WNDL_CFI_IMPORT_ELF_GO_STACKS_H
#define WNDL_CFI_IMPORT_ELF_GO_STACKS_H

#include "cfi_import/core/source.h"

/*
 * Makes the return address of these functions undefined in a copy of `frame`,
 * which is the object's .debug_frame. Other binaries than Go's are left as they
 * are. The copy is the arena's. NOMEM.
 */
enum wndl_status wndl_go_begin_stacks(struct wndl_cfi_section *frame,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
