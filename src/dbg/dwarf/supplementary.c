/* SPDX-License-Identifier: MIT */
/*
 * Other files to which DWARF refers. Each is a struct wndl_dwarf of its own,
 * opened when it is first needed and closed with the one that needed it; they
 * refer to no further ones. The supplementary file has strings and names.
 */
#include "dbg/dwarf/context.h"

void wndl_dw_note_missing(struct wndl_dwarf *d, const struct wndl_error *err)
{
    d->stats.files_missing++;
    if (d->stats.first_missing.status == WNDL_OK)
        d->stats.first_missing = *err;
}

enum wndl_status wndl_dw_open_other(struct wndl_dwarf *d,
    struct wndl_dwarf_sections *sections, const struct wndl_dw_unit *skeleton,
    struct wndl_dwarf **out, struct wndl_error *err)
{
    struct wndl_dw_referrer referrer = {d, skeleton};
    sections->files = NULL;
    enum wndl_status status = d->open(sections, d->mem, &referrer, out, err);
    if (status != WNDL_OK)
        return status;
    (*out)->next_other = d->others;
    d->others = *out;
    return WNDL_OK;
}

enum wndl_status wndl_dw_load_supplementary(struct wndl_dwarf *d)
{
    if (d->supplementary_is_tried || d->in.files == NULL)
        return WNDL_OK;
    struct wndl_dwarf_sections sections = {0};
    struct wndl_dwarf *opened = NULL;
    struct wndl_error err = {0};
    enum wndl_status status =
        d->in.files->supplementary(d->in.files->context, &sections, &err);
    if (status == WNDL_OK)
        status = wndl_dw_open_other(d, &sections, NULL, &opened, &err);
    if (status == WNDL_NOMEM)
        return status;
    d->supplementary_is_tried = true;
    d->supplementary = opened;
    if (status != WNDL_OK)
        wndl_dw_note_missing(d, &err);
    return WNDL_OK;
}
