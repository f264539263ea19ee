/* SPDX-License-Identifier: MIT */
#include "cfi_import/core/frames_impl.h"
#include "obj/pe/pe.h"

#include <elf.h>

void wndl_frames_lose(struct wndl_frames *frames, const struct wndl_error *why)
{
    struct wndl_frames_lost *lost = why->status == WNDL_UNSUPPORTED
                                        ? &frames->unsupported
                                        : &frames->damaged;
    if (lost->count++ == 0)
        lost->first = *why;
}

enum wndl_status wndl_frames_finish(struct wndl_frames *frames,
    struct wndl_frame_writer *w, struct wndl_arena *arena,
    struct wndl_error *err)
{
    frames->origins = w->origins;
    if (!wndl_frame_writer_take(w, arena, &frames->frame))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    return WNDL_OK;
}

enum wndl_status wndl_frames_find(struct wndl_frames *frames,
    struct wndl_object *object, const char *name, struct wndl_error *err)
{
    struct wndl_section section;
    struct wndl_cfi_section *frame = &frames->frame;
    if (!wndl_object_has_section(object, name))
        return WNDL_NOT_FOUND;
    enum wndl_status status =
        wndl_object_section_bytes(object, name, &frame->bytes, &section, err);
    if (status != WNDL_OK)
        return status;
    frames->name = name;
    frames->size = frame->bytes.size;
    frame->addr = section.addr.v;
    frame->address_size = (uint8_t)wndl_object_address_size(object);
    frame->big_endian = wndl_object_is_big_endian(object);
    frame->debug_frame = name[1] == 'd';
    frame->family = wndl_object_machine(object) == EM_AARCH64 ? WNDL_CFI_AARCH64
                                                              : WNDL_CFI_X86;
    return frame->bytes.size == 0 ? WNDL_NOT_FOUND : WNDL_OK;
}

static const char *nothing_in(const struct wndl_object *object)
{
    if (wndl_object_has_added(object, WNDL_SYM_SECTION))
        return "has no rules for unwinding (STACK records)";
    if (wndl_object_is_pe(object) && wndl_object_machine(object) != EM_386)
        return "has no call frame information (.pdata, .eh_frame, "
               ".debug_frame)";
    if (wndl_object_has_section(object, "__text"))
        return "has no call frame information (__unwind_info)";
    return "has no call frame information (.eh_frame, .debug_frame)";
}

enum wndl_status wndl_frames_open(struct wndl_frames *frames,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    *frames = (struct wndl_frames){0};
    enum wndl_status status = wndl_sym_frames(frames, object, arena, err);
    /* .eh_frame of Arm has no more than the stubs of .plt. */
    if (status == WNDL_NOT_FOUND && wndl_object_machine(object) == EM_ARM)
        status = wndl_frames_find(frames, object, ".debug_frame", err);
    if (status == WNDL_NOT_FOUND)
        status = wndl_arm_frames(frames, object, arena, err);
    if (status == WNDL_NOT_FOUND)
        status = wndl_pe_frames(frames, object, arena, err);
    if (status == WNDL_NOT_FOUND)
        status = wndl_pe_arm64_frames(frames, object, arena, err);
    if (status == WNDL_NOT_FOUND)
        status = wndl_macho_frames(frames, object, arena, err);
    if (status == WNDL_NOT_FOUND)
        status = wndl_frames_find(frames, object, ".eh_frame", err);
    if (status == WNDL_NOT_FOUND)
        status = wndl_frames_find(frames, object, ".debug_frame", err);
    if (status == WNDL_NOT_FOUND)
        return wndl_fail(err, status, "%s", nothing_in(object));
    return status;
}

uint64_t wndl_frames_origin(const struct wndl_frames *frames, uint64_t fde)
{
    const struct wndl_frame_origin *list = frames->origins.data;
    size_t low = 0, high = frames->origins.len;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].fde == fde)
            return list[middle].origin;
        if (list[middle].fde < fde)
            low = middle + 1;
        else
            high = middle;
    }
    return fde;
}
