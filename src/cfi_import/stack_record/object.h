/* SPDX-License-Identifier: MIT */
/*
 * object: a Breakpad symbol file in the place of the binary that it is of,
 * for who wants its call frame information.
 */
#ifndef WNDL_CFI_IMPORT_STACK_RECORD_OBJECT_H
#define WNDL_CFI_IMPORT_STACK_RECORD_OBJECT_H

#include "obj/core/object.h"

/*
 * Opens what `source` is, a binary or a Breakpad symbol file. The latter has
 * one section, of its text (WNDL_STACK_RECORD_SECTION), code from the first to
 * the last address that its records are of, and image base 0, from which its
 * addresses count. Its build-id is what INFO CODE_ID says; of Windows and
 * macOS, what the debug id is made of; else it has none. As
 * wndl_object_open_source.
 */
enum wndl_status wndl_symbol_file_object_open(
    const struct wndl_object_source *source, struct wndl_mem *mem,
    struct wndl_object **out, struct wndl_error *err) WNDL_MUST_USE;

#endif
