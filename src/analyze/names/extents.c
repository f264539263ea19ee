/* SPDX-License-Identifier: MIT */
#include "analyze/names/extents.h"

static bool load_section(
    struct wndl_extents *x, const char *name, struct wndl_cfi_section *section)
{
    struct wndl_section info;
    *section = (struct wndl_cfi_section){
        .address_size = (uint8_t)wndl_object_address_size(x->object),
        .big_endian = wndl_object_is_big_endian(x->object),
    };
    if (wndl_object_section_bytes(
            x->object, name, &section->bytes, &info, NULL) != WNDL_OK)
        return false;
    section->addr = info.addr.v;
    section->data_base = info.addr.v;
    return true;
}

void wndl_extents_open(
    struct wndl_extents *x, const char *path, struct wndl_mem *mem)
{
    *x = (struct wndl_extents){0};
    if (wndl_file_open(path, &x->file, NULL) != WNDL_OK)
        return;
    if (wndl_object_open(x->file.bytes, path, mem, &x->object, NULL) !=
        WNDL_OK) {
        x->object = NULL;
        return;
    }
    if (load_section(x, ".eh_frame_hdr", &x->header) &&
        load_section(x, ".eh_frame", &x->frame))
        return;
    wndl_object_close(x->object);
    x->object = NULL;
}

void wndl_extents_close(struct wndl_extents *x)
{
    if (x->object != NULL)
        wndl_object_close(x->object);
    wndl_file_close(&x->file);
    *x = (struct wndl_extents){0};
}

bool wndl_extents_find(
    const struct wndl_extents *x, wndl_rva at, wndl_rva *start)
{
    if (x->object == NULL)
        return false;
    wndl_svma base = wndl_object_image_base(x->object);
    uint64_t pc = wndl_svma_of_rva(at, base).v;
    uint64_t offset;
    struct wndl_fde fde;
    if (wndl_eh_frame_hdr_find(&x->header, &x->frame, pc, &offset) != WNDL_OK ||
        wndl_fde_parse(&x->frame, offset, &fde, NULL, NULL) != WNDL_OK ||
        pc < fde.start || pc >= fde.end)
        return false;
    *start = wndl_rva_of_svma((wndl_svma){fde.start}, base);
    return true;
}
