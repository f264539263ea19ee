/* SPDX-License-Identifier: MIT */
#include "base/search.h"
#include "cfi_import/core/source_impl.h"

#include <elf.h>
#include <string.h>

void wndl_cfi_source_lose(
    struct wndl_cfi_source *cfi, const struct wndl_error *why)
{
    struct wndl_cfi_source_lost *lost =
        why->status == WNDL_UNSUPPORTED ? &cfi->unsupported : &cfi->damaged;
    if (lost->count++ == 0)
        lost->first = *why;
}

enum wndl_status wndl_cfi_source_finish(struct wndl_cfi_source *cfi,
    struct wndl_frame_writer *w, struct wndl_arena *arena,
    struct wndl_error *err)
{
    cfi->origins = w->origins;
    if (!wndl_frame_writer_take(w, arena, &cfi->frame))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    return WNDL_OK;
}

enum wndl_status wndl_cfi_source_find(struct wndl_cfi_source *cfi,
    struct wndl_object *object, const char *name, struct wndl_error *err)
{
    struct wndl_section section;
    struct wndl_cfi_section *frame = &cfi->frame;
    if (!wndl_object_has_section(object, name))
        return WNDL_NOT_FOUND;
    enum wndl_status status =
        wndl_object_section_bytes(object, name, &frame->bytes, &section, err);
    if (status != WNDL_OK)
        return status;
    cfi->name = name;
    cfi->size = frame->bytes.size;
    frame->addr = section.addr.v;
    frame->address_size = (uint8_t)wndl_object_address_size(object);
    frame->big_endian = wndl_object_is_big_endian(object);
    frame->debug_frame = strcmp(name, ".eh_frame") != 0;
    frame->family = wndl_object_machine(object) == EM_AARCH64 ? WNDL_CFI_AARCH64
                                                              : WNDL_CFI_X86;
    return frame->bytes.size == 0 ? WNDL_NOT_FOUND : WNDL_OK;
}

const char *wndl_cfi_source_section(
    const struct wndl_cfi_source *cfi, uint64_t fde)
{
    if (cfi->code_from != 0 && fde >= cfi->code_from)
        return WNDL_CODE_RULES_SECTION;
    if (cfi->origins.len == 0 || (cfi->more == NULL && cfi->code_from == 0))
        return cfi->name;
    return cfi->more != NULL && fde >= cfi->more_from ? cfi->more : ".eh_frame";
}

uint64_t wndl_cfi_source_origin(const struct wndl_cfi_source *cfi, uint64_t fde)
{
    const struct wndl_frame_origin *list = cfi->origins.data;
    if (cfi->origins.len == 0)
        return fde;
    const size_t at =
        wndl_search_up_to(&list->fde, sizeof *list, cfi->origins.len, fde);
    return at != 0 && list[at - 1].fde == fde ? list[at - 1].origin : fde;
}
