/* SPDX-License-Identifier: MIT */
/*
 * map: a hash table from 64-bit keys to 64-bit values, with open addressing, in
 * an arena. Keys are never removed one by one.
 */
#ifndef WNDL_BASE_MAP_H
#define WNDL_BASE_MAP_H

#include "base/arena.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

struct wndl_map_slot {
    uint64_t key;
    uint64_t value;
};

/*
 * Invariants: slots is NULL or has 1 << log2 slots, of which at most three
 * quarters are used; a slot is used if its key is not 0. Key 0 is stored
 * outside of the slots.
 */
struct wndl_map {
    struct wndl_map_slot *slots;
    struct wndl_arena *arena;
    uint64_t zero_value;
    size_t count; /* keys, key 0 included */
    uint8_t log2;
    bool has_zero;
};

static inline void wndl_map_init(struct wndl_map *map, struct wndl_arena *arena)
{
    *map = (struct wndl_map){.arena = arena};
}

/* The value of `key`, or NULL. Valid until the next wndl_map_put. */
uint64_t *wndl_map_get(const struct wndl_map *map, uint64_t key);

/* The value of `key`, which is added as 0 if it is new. NULL without memory. */
uint64_t *wndl_map_put(struct wndl_map *map, uint64_t key);

#endif
