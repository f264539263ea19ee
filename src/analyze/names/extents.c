/* SPDX-License-Identifier: MIT */
#include "analyze/names/extents.h"

/* A section that is absent has no bytes. */
static enum wndl_status load_section(struct wndl_extents *x, const char *name,
    struct wndl_cfi_section *section, struct wndl_error *err)
{
    struct wndl_section info;
    *section = (struct wndl_cfi_section){
        .address_size = (uint8_t)wndl_object_address_size(x->object),
        .big_endian = wndl_object_is_big_endian(x->object),
    };
    enum wndl_status status =
        wndl_object_section_bytes(x->object, name, &section->bytes, &info, err);
    if (status != WNDL_OK) {
        section->bytes = (struct wndl_bytes){0};
        return status;
    }
    section->addr = info.addr.v;
    return WNDL_OK;
}

enum wndl_status wndl_extents_try(struct wndl_extents *x, const char *path,
    struct wndl_mem *mem, struct wndl_error *err)
{
    *x = (struct wndl_extents){0};
    enum wndl_status status = wndl_file_open(path, &x->file, err);
    if (status != WNDL_OK)
        return status;
    status = wndl_object_open(x->file.bytes, path, mem, &x->object, err);
    if (status != WNDL_OK) {
        x->object = NULL;
        return status;
    }
    if (load_section(x, ".eh_frame_hdr", &x->header, err) == WNDL_NOMEM ||
        load_section(x, ".eh_frame", &x->frame, err) == WNDL_NOMEM)
        return WNDL_NOMEM;
    return WNDL_OK;
}

void wndl_extents_open(
    struct wndl_extents *x, const char *path, struct wndl_mem *mem)
{
    enum wndl_status status = wndl_extents_try(x, path, mem, NULL);
    (void)status; /* lookups find nothing */
}

void wndl_extents_close(struct wndl_extents *x)
{
    if (x->object != NULL)
        wndl_object_close(x->object);
    wndl_file_close(&x->file);
    *x = (struct wndl_extents){0};
}

static uint64_t svma_of(const struct wndl_extents *x, wndl_rva at)
{
    return wndl_svma_of_rva(at, wndl_object_image_base(x->object)).v;
}

static bool find_fde(
    const struct wndl_extents *x, uint64_t pc, struct wndl_fde *fde)
{
    uint64_t offset;
    if (x->header.bytes.size == 0)
        return wndl_fde_scan(&x->frame, pc, fde, NULL) == WNDL_OK;
    return wndl_eh_frame_hdr_find(&x->header, &x->frame, pc, &offset) ==
               WNDL_OK &&
           wndl_fde_parse(&x->frame, offset, fde, NULL, NULL) == WNDL_OK &&
           pc >= fde->start && pc < fde->end;
}

bool wndl_extents_find(
    const struct wndl_extents *x, wndl_rva at, wndl_rva *start)
{
    struct wndl_fde fde;
    if (x->object == NULL || x->header.bytes.size == 0 ||
        !find_fde(x, svma_of(x, at), &fde))
        return false;
    *start = wndl_rva_of_svma(
        (wndl_svma){fde.start}, wndl_object_image_base(x->object));
    return true;
}

bool wndl_extents_range(
    const struct wndl_extents *x, wndl_rva at, wndl_rva *start, wndl_rva *end)
{
    struct wndl_fde fde;
    if (x->object == NULL || x->frame.bytes.size == 0 ||
        !find_fde(x, svma_of(x, at), &fde))
        return false;
    const wndl_svma base = wndl_object_image_base(x->object);
    *start = wndl_rva_of_svma((wndl_svma){fde.start}, base);
    *end = wndl_rva_of_svma((wndl_svma){fde.end}, base);
    return true;
}

/* Bytes of the assembly code at which ld.so starts, at most. */
enum { START_CODE = 64 };

static bool is_at_entry(const struct wndl_extents *x, uint64_t pc)
{
    const uint64_t entry = wndl_object_entry(x->object).v;
    return entry != 0 && pc >= entry && pc - entry < START_CODE;
}

bool wndl_extents_is_outermost(const struct wndl_extents *x, wndl_rva at)
{
    struct wndl_fde fde;
    struct wndl_cfi_row row;
    if (x->object == NULL)
        return false;
    const uint64_t pc = svma_of(x, at);
    if (!find_fde(x, pc, &fde))
        return is_at_entry(x, pc);
    return wndl_cfi_row_at(&x->frame, &fde, pc, &row, NULL) == WNDL_OK &&
           row.regs[row.ra_reg].kind == WNDL_RULE_UNDEFINED;
}
