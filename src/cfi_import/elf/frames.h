/* SPDX-License-Identifier: MIT */
/*
 * frames: the call frame information of ELF files: .eh_frame, and .debug_frame
 * for the code that it leaves out.
 */
#ifndef WNDL_CFI_IMPORT_ELF_FRAMES_H
#define WNDL_CFI_IMPORT_ELF_FRAMES_H

#include "cfi_import/core/source.h"

/*
 * Opens what there is of both sections, as in cfi_import/open.h. Where both
 * have rules, those of .eh_frame are used: programs run by them. If there are
 * rules in both, .debug_frame's come as records of an .eh_frame after the end
 * of the real one (`more_from`). Records without code left are omitted.
 */
enum wndl_status wndl_elf_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Adds the .debug_frame of the object's debug file (obj/find/debugfile.h, which
 * describes `dirs`), unless the object has one itself. 32-bit Arm is left
 * alone: there a .debug_frame is used instead of the index, and the debug files
 * of distributions have it for little of the code. OK also if there is none;
 * NOMEM.
 */
enum wndl_status wndl_elf_cfi_add_debug_file(struct wndl_object *object,
    const char *const *dirs, struct wndl_mem *mem) WNDL_MUST_USE;

#endif
