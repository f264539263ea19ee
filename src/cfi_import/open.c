/* SPDX-License-Identifier: MIT */
#include "cfi_import/open.h"

#include "cfi_import/arm/frames.h"
#include "cfi_import/elf/frames.h"
#include "cfi_import/macho/frames.h"
#include "cfi_import/pe/frames.h"
#include "cfi_import/stack_record/frames.h"
#include "obj/pe/pe.h"

#include <elf.h>

/* On Arm, .eh_frame has only the stubs of .plt. */
static enum wndl_status open_debug_frame_of_arm(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    (void)arena;
    return wndl_object_machine(object) == EM_ARM
               ? wndl_cfi_source_find(cfi, object, ".debug_frame", err)
               : WNDL_NOT_FOUND;
}

/* The first form that a binary has is used. */
static enum wndl_status (*const forms[])(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) = {
    wndl_stack_record_cfi_open,
    open_debug_frame_of_arm,
    wndl_arm_cfi_open,
    wndl_pe_cfi_open,
    wndl_pe_arm64_cfi_open,
    wndl_macho_cfi_open,
    wndl_elf_cfi_open,
};

static const char *nothing_in(const struct wndl_object *object)
{
    if (wndl_object_has_added(object, WNDL_STACK_RECORD_SECTION))
        return "has no rules for unwinding (STACK records)";
    if (wndl_object_is_pe(object) && wndl_object_machine(object) != EM_386)
        return "has no call frame information (.pdata, .eh_frame, "
               ".debug_frame)";
    if (wndl_object_has_section(object, "__text"))
        return "has no call frame information (__unwind_info)";
    return "has no call frame information (.eh_frame, .debug_frame)";
}

enum wndl_status wndl_cfi_source_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    enum wndl_status status = WNDL_NOT_FOUND;
    *cfi = (struct wndl_cfi_source){0};
    for (size_t i = 0;
         status == WNDL_NOT_FOUND && i < sizeof forms / sizeof *forms; i++)
        status = forms[i](cfi, object, arena, err);
    if (status == WNDL_NOT_FOUND)
        return wndl_fail(err, status, "%s", nothing_in(object));
    return status;
}
