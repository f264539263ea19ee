/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <string.h>

enum { FIRST_LOG2 = 4 };

uint64_t wndl_hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t hash = size * WNDL_GOLDEN;
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = wndl_hash_u64(hash ^ word);
    }
    uint64_t last = 0;
    if (size != 0)
        memcpy(&last, p, size);
    return wndl_hash_u64(hash ^ last);
}

/* The slot that holds `key`, or the free one where it belongs. */
static struct wndl_map_slot *slot_of(const struct wndl_map *map, uint64_t key)
{
    size_t mask = ((size_t)1 << map->log2) - 1;
    size_t i = (size_t)wndl_hash_u64(key) & mask;
    while (map->slots[i].key != key && map->slots[i].key != 0)
        i = (i + 1) & mask;
    return &map->slots[i];
}

uint64_t *wndl_map_get(const struct wndl_map *map, uint64_t key)
{
    if (key == 0)
        return map->has_zero ? (uint64_t *)&map->zero_value : NULL;
    if (map->slots == NULL)
        return NULL;
    struct wndl_map_slot *slot = slot_of(map, key);
    return slot->key == 0 ? NULL : &slot->value;
}

static bool rehash(struct wndl_map *map)
{
    struct wndl_map old = *map;
    map->log2 = old.slots == NULL ? FIRST_LOG2 : old.log2 + 1;
    map->slots = wndl_arena_calloc(
        map->arena, (size_t)1 << map->log2, sizeof *map->slots);
    if (map->slots == NULL) {
        *map = old;
        return false;
    }
    size_t size = old.slots == NULL ? 0 : (size_t)1 << old.log2;
    for (size_t i = 0; i < size; i++) {
        if (old.slots[i].key != 0)
            *slot_of(map, old.slots[i].key) = old.slots[i];
    }
    return true;
}

static uint64_t *put_zero(struct wndl_map *map)
{
    map->count += !map->has_zero;
    map->has_zero = true;
    return &map->zero_value;
}

/* Whether one more key would exceed the limit of the slots. */
static bool is_full(const struct wndl_map *map)
{
    size_t size = (size_t)1 << map->log2;
    return (map->count + 1) * 4 > size * 3;
}

uint64_t *wndl_map_put(struct wndl_map *map, uint64_t key)
{
    if (key == 0)
        return put_zero(map);
    if (map->slots == NULL && !rehash(map))
        return NULL;
    struct wndl_map_slot *slot = slot_of(map, key);
    if (slot->key != 0)
        return &slot->value;
    if (is_full(map)) {
        if (!rehash(map))
            return NULL;
        slot = slot_of(map, key);
    }
    slot->key = key;
    map->count++;
    return &slot->value;
}
