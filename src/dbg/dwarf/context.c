/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf/context.h"

#include <string.h>

enum wndl_status wndl_dw_damage(struct wndl_dwarf *d, const char *section,
    uint64_t offset, const char *what)
{
    return wndl_fail_at(&d->detail, WNDL_MALFORMED, section, offset, what);
}

void wndl_dw_count_damage(struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    if (unit->is_counted)
        return;
    unit->is_counted = true;
    d->stats.units_damaged++;
    if (d->stats.first_damage.status != WNDL_OK)
        return;
    d->stats.first_damage = d->detail;
    wndl_error_set_file(&d->stats.first_damage, d->in.path);
}

enum wndl_status wndl_dw_lose_if_damaged(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit, enum wndl_status status)
{
    if (status == WNDL_OK || status == WNDL_NOT_FOUND || status == WNDL_NOMEM)
        return status;
    wndl_dw_count_damage(d, unit);
    unit->root_state = WNDL_DW_UNIT_LOST;
    return WNDL_NOT_FOUND;
}

void wndl_dw_release_pages_after(struct wndl_dwarf *d, uint64_t bytes)
{
    d->touched += bytes;
    if (d->touched < d->release_after || d->in.memory.give_up == NULL)
        return;
    d->in.memory.give_up(d->in.memory.context);
    d->touched = 0;
}

bool wndl_dw_copy_vec(const struct wndl_vec *from, struct wndl_vec *to)
{
    wndl_vec_init(to, from->arena, from->element);
    if (from->len == 0)
        return true;
    to->data = wndl_arena_calloc(from->arena, from->len, from->element);
    if (to->data == NULL)
        return false;
    memcpy(to->data, from->data, from->len * from->element);
    to->len = to->cap = from->len;
    return true;
}
