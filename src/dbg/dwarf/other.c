/* SPDX-License-Identifier: MIT */
/* Files with the functions of skeleton units: .dwo files, and packages. */
#include "base/status.h"
#include "dbg/dwarf/internal.h"

/* Requests the package, once. Only an unusable one is noted. */
static enum wndl_status load_package(struct wndl_dwarf *d)
{
    if (d->package_is_tried)
        return WNDL_OK;
    struct wndl_dw_package package = {0};
    struct wndl_error err = {0};
    enum wndl_status status =
        d->in.files->package(d->in.files->context, &package.in, &err);
    if (status == WNDL_OK)
        status = wndl_dw_read_package(&package, &err);
    if (status == WNDL_NOMEM)
        return status;
    d->package_is_tried = true;
    if (status == WNDL_OK)
        d->package = package;
    else if (status != WNDL_NOT_FOUND)
        wndl_dw_note_missing(d, &err);
    return WNDL_OK;
}

/* The unit of `other` with the skeleton's id; NULL when there is none. */
static enum wndl_status find_by_id(
    struct wndl_dwarf *other, uint64_t id, struct wndl_dw_unit **found)
{
    *found = NULL;
    for (size_t i = 0; i < other->units.len && *found == NULL; i++) {
        struct wndl_dw_unit *unit = wndl_dw_unit_at(other, i);
        struct wndl_dw_die root;
        enum wndl_status status = wndl_dw_load_root(other, unit, &root);
        if (status == WNDL_NOMEM)
            return status;
        if (status == WNDL_OK && wndl_dw_split_id(other, unit, &root) == id)
            *found = unit;
    }
    return WNDL_OK;
}

/* Opens a candidate. NOT_FOUND when it is of another build. */
static enum wndl_status try_candidate(struct wndl_dwarf *d,
    const struct wndl_dw_unit *skeleton, struct wndl_dwarf_sections *sections,
    struct wndl_error *err)
{
    struct wndl_dw_split *split = skeleton->split;
    struct wndl_dwarf *opened;
    struct wndl_dw_unit *unit;
    /* DWARF 5, 7.3.2.2: addresses stay in the first file, and before version
     * 5 range lists do. */
    sections->addr = d->in.addr;
    sections->ranges = d->in.ranges;
    enum wndl_status status =
        wndl_dw_open_other(d, sections, skeleton, &opened, err);
    if (status == WNDL_OK)
        status = find_by_id(opened, split->id, &unit);
    if (status != WNDL_OK)
        return status;
    if (unit == NULL) {
        wndl_error_set_file(err, sections->path);
        return wndl_fail(
            err, WNDL_NOT_FOUND, "the .dwo file belongs to another build");
    }
    split->dwarf = opened;
    split->unit = unit;
    return WNDL_OK;
}

static enum wndl_status try_package(struct wndl_dwarf *d,
    const struct wndl_dw_unit *skeleton, struct wndl_error *err)
{
    struct wndl_dwarf_sections sections;
    enum wndl_status status = load_package(d);
    if (status != WNDL_OK || d->package.slots == 0)
        return status == WNDL_OK ? WNDL_NOT_FOUND : status;
    status = wndl_dw_find_in_package(
        &d->package, skeleton->split->id, &sections, err);
    return status == WNDL_OK ? try_candidate(d, skeleton, &sections, err)
                             : status;
}

/* `err` is about the first candidate that was skipped, if any. */
static enum wndl_status try_files(struct wndl_dwarf *d,
    const struct wndl_dw_unit *skeleton, struct wndl_error *first)
{
    struct wndl_dwarf_split which = {
        skeleton->split->name, skeleton->comp_dir, skeleton->split->id};
    unsigned next = 0;
    for (;;) {
        struct wndl_dwarf_sections sections = {0};
        struct wndl_error err = {0};
        enum wndl_status status = d->in.files->split(
            d->in.files->context, &which, &next, &sections, &err);
        bool none_left = status != WNDL_OK;
        if (status == WNDL_OK)
            status = try_candidate(d, skeleton, &sections, &err);
        if (status == WNDL_OK || status == WNDL_NOMEM)
            return status;
        if (first->status == WNDL_OK)
            *first = err;
        if (none_left)
            return WNDL_NOT_FOUND;
    }
}

/* Sets split->dwarf and split->unit, or notes that they are missing. */
static enum wndl_status load_split(
    struct wndl_dwarf *d, const struct wndl_dw_unit *skeleton)
{
    struct wndl_error in_package = {0};
    struct wndl_error err = {0};
    enum wndl_status status = try_package(d, skeleton, &in_package);
    if (status == WNDL_NOT_FOUND)
        in_package = (struct wndl_error){0};
    if (status != WNDL_OK && status != WNDL_NOMEM)
        status = try_files(d, skeleton, &err);
    if (status == WNDL_NOMEM)
        return status;
    skeleton->split->is_tried = true;
    if (status != WNDL_OK)
        wndl_dw_note_missing(
            d, in_package.status == WNDL_OK ? &err : &in_package);
    return WNDL_OK;
}

enum wndl_status wndl_dw_find_code(
    struct wndl_dwarf **d, struct wndl_dw_unit **unit)
{
    enum wndl_status status = wndl_dw_load_unit(*d, *unit);
    struct wndl_dw_split *split = (*unit)->split;
    if (status != WNDL_OK || split == NULL)
        return status;
    if (!split->is_tried)
        status = load_split(*d, *unit);
    if (status != WNDL_OK || split->dwarf == NULL)
        return status;
    *d = split->dwarf;
    *unit = split->unit;
    return WNDL_OK;
}
