/* SPDX-License-Identifier: MIT */
#include "wndl/reader.h"

uint32_t wndl_reader_known(const struct wndl_vec *map, uint64_t number)
{
    if (number >= map->len)
        return WNDL_NO_INDEX;
    return *(const uint32_t *)wndl_vec_at(map, number);
}

enum wndl_status wndl_reader_skip(
    struct wndl_reader *r, struct wndl_vec *map, uint64_t number)
{
    if (number < map->len || number - map->len > r->gap_budget)
        return WNDL_MALFORMED;
    r->gap_budget -= number - map->len;
    while (map->len < number) {
        uint32_t *lost = wndl_vec_push(map);
        if (lost == NULL)
            return WNDL_NOMEM;
        *lost = WNDL_NO_INDEX;
    }
    return WNDL_OK;
}

enum wndl_status wndl_reader_announce(
    struct wndl_reader *r, struct wndl_vec *map, uint64_t number, size_t ours)
{
    enum wndl_status status = wndl_reader_skip(r, map, number);
    if (status != WNDL_OK)
        return status;
    uint32_t *slot = wndl_vec_push(map);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = (uint32_t)ours;
    return WNDL_OK;
}

uint8_t wndl_reader_walk_end(uint64_t end)
{
    return end < WNDL_WALK_OTHER ? (uint8_t)end : WNDL_WALK_OTHER;
}

uint32_t wndl_reader_narrow(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}
