/* SPDX-License-Identifier: MIT */
/*
 * object: a Breakpad symbol file in place of its binary, for users of its call
 * frame information.
 */
#ifndef WNDL_CFI_IMPORT_STACK_RECORD_OBJECT_H
#define WNDL_CFI_IMPORT_STACK_RECORD_OBJECT_H

#include "obj/core/object.h"

/*
 * Opens `source`, a binary or a Breakpad symbol file. The latter becomes an
 * object with one section, its text (WNDL_STACK_RECORD_SECTION). It has code
 * from the first to the last address of its records, and image base 0, from
 * which its addresses count. Its build-id is INFO CODE_ID; for Windows and
 * macOS it is derived from the debug id; else it has none. Errors as for
 * wndl_object_open_source.
 */
enum wndl_status wndl_symbol_file_object_open(
    const struct wndl_object_source *source, struct wndl_mem *mem,
    struct wndl_object **out, struct wndl_error *err) WNDL_MUST_USE;

#endif
