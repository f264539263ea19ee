/* SPDX-License-Identifier: MIT */
/* The address of a place, before and after a move. */
#include "dbg/pdb/internal.h"

uint32_t wndl_pdb_address(
    const struct wndl_pdb *pdb, struct wndl_cv_place place)
{
    if (place.section == 0 || place.section > pdb->sections.len)
        return (uint32_t)WNDL_PDB_NOWHERE;
    const struct wndl_pdb_section *section =
        wndl_vec_at(&pdb->sections, place.section - 1u);
    uint32_t address;
    if (place.offset >= section->size ||
        __builtin_add_overflow(section->start, place.offset, &address))
        return (uint32_t)WNDL_PDB_NOWHERE;
    return address;
}

uint32_t wndl_pdb_section_end(const struct wndl_pdb *pdb, uint32_t address)
{
    for (size_t i = 0; i < pdb->sections.len; i++) {
        const struct wndl_pdb_section *s = wndl_vec_at(&pdb->sections, i);
        if (address - s->start < s->size)
            return s->start + s->size;
    }
    return 0;
}

ptrdiff_t wndl_pdb_last_before(const struct wndl_vec *list, uint32_t address)
{
    size_t low = 0;
    size_t high = list->len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const uint32_t *start = wndl_vec_at(list, mid);
        if (*start <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return (ptrdiff_t)low - 1;
}

const struct wndl_pdb_contribution *wndl_pdb_contribution_at(
    const struct wndl_pdb *pdb, uint32_t address)
{
    ptrdiff_t i = wndl_pdb_last_before(&pdb->contributions, address);
    if (i < 0)
        return NULL;
    const struct wndl_pdb_contribution *c =
        wndl_vec_at(&pdb->contributions, (size_t)i);
    return address < c->end ? c : NULL;
}

struct moved {
    uint32_t from;
    uint32_t to; /* 0: it was dropped */
};

static struct moved entry(const struct wndl_pdb_moved *moved, size_t i)
{
    struct wndl_cursor c = wndl_cursor_at(moved->piece.bytes, 8 * i, false);
    uint32_t from = wndl_cursor_u32(&c);
    return (struct moved){from, wndl_cursor_u32(&c)};
}

/* The number of entries that begin at or before `address`. */
static size_t entries_to(const struct wndl_pdb_moved *moved, uint64_t address)
{
    size_t low = 0;
    size_t high = moved->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (entry(moved, mid).from <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static uint32_t move(const struct wndl_pdb_moved *moved, uint64_t address)
{
    uint32_t result;
    if (address >= UINT32_MAX)
        return (uint32_t)WNDL_PDB_NOWHERE;
    if (moved->count == 0)
        return (uint32_t)address;
    size_t before = entries_to(moved, address);
    struct moved e = before == 0 ? (struct moved){0} : entry(moved, before - 1);
    if (e.to == 0 ||
        __builtin_add_overflow(e.to, (uint32_t)address - e.from, &result))
        return (uint32_t)WNDL_PDB_NOWHERE;
    return result;
}

uint32_t wndl_pdb_to_linked(const struct wndl_pdb *pdb, uint64_t rva)
{
    return move(&pdb->to_linked, rva);
}

uint32_t wndl_pdb_from_linked(const struct wndl_pdb *pdb, uint32_t address)
{
    return move(&pdb->from_linked, address);
}

static struct wndl_pdb_stretch stretch_in(
    const struct wndl_pdb_moved *moved, uint64_t address, uint64_t end)
{
    size_t next = entries_to(moved, address);
    struct wndl_pdb_stretch stretch = {address, end, move(moved, address)};
    if (next < moved->count && entry(moved, next).from < end)
        stretch.end = entry(moved, next).from;
    return stretch;
}

struct wndl_pdb_stretch wndl_pdb_stretch_at(
    const struct wndl_pdb *pdb, uint64_t rva, uint64_t end)
{
    return stretch_in(&pdb->to_linked, rva, end);
}

struct wndl_pdb_stretch wndl_pdb_stretch_from(
    const struct wndl_pdb *pdb, uint64_t address, uint64_t end)
{
    return stretch_in(&pdb->from_linked, address, end);
}
