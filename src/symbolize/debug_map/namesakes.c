/* SPDX-License-Identifier: MIT */
/*
 * Members of an archive that have the same name. Their functions show which one
 * was linked: each member is opened once for the names of its functions, and a
 * name that only one of them has leads to it. So the cost is that of the
 * members, however many sources there are.
 */
#include "symbolize/debug_map/impl.h"

/* In `namesakes`: a name that several have. */
enum { SEVERAL = 1 };

/*
 * The most members that are compared with the linked code if no name
 * distinguishes them.
 */
enum { MOST_COMPARED = 64 };

static uint64_t key_of(const struct wndl_ar_member *first, uint64_t name)
{
    return name ^ wndl_hash_u64((uintptr_t)first);
}

/*
 * Reads the names; none if the member is not usable. False when memory is out.
 */
static bool read_names(const struct wndl_debug_map *map,
    const struct wndl_ar_member *member, struct wndl_map *names)
{
    const struct wndl_object_source from = {
        member->bytes, "", map->has_arch ? map->arch : NULL};
    struct wndl_debug_map_object object = {.names = *names};
    enum wndl_status status =
        wndl_debug_map_object_open(map, &from, &object, NULL);
    wndl_object_close(object.object);
    if (status == WNDL_OK)
        *names = object.names;
    return status != WNDL_NOMEM;
}

static bool add_name(struct wndl_debug_map *map, uint64_t key,
    const struct wndl_ar_member *member)
{
    uint64_t *known = wndl_map_put(&map->namesakes, key);
    if (known == NULL)
        return false;
    bool is_new = *known == 0 || *known == (uintptr_t)member;
    *known = is_new ? (uintptr_t)member : SEVERAL;
    return true;
}

static bool add_names(struct wndl_debug_map *map,
    const struct wndl_ar_member *first, const struct wndl_ar_member *member,
    struct wndl_arena *scratch)
{
    struct wndl_map names;
    wndl_map_init(&names, scratch);
    if (!read_names(map, member, &names))
        return false;
    size_t slots = names.slots == NULL ? 0 : (size_t)1 << names.log2;
    for (size_t i = 0; i < slots; i++) {
        uint64_t name = names.slots[i].key;
        if (name != 0 && !add_name(map, key_of(first, name), member))
            return false;
    }
    return true;
}

/* Collects the names of a list of members, once. */
static bool need_names(
    struct wndl_debug_map *map, const struct wndl_ar_member *first)
{
    uint64_t whole = key_of(first, 0);
    bool has_memory = true;
    if (wndl_map_get(&map->namesakes, whole) != NULL)
        return true;
    for (const struct wndl_ar_member *m = first; m != NULL && has_memory;
         m = m->next) {
        struct wndl_arena scratch;
        wndl_arena_init(&scratch, map->mem);
        has_memory = add_names(map, first, m, &scratch);
        wndl_arena_free(&scratch);
    }
    return has_memory && add_name(map, whole, first);
}

/*
 * The member found by a function of the source that no other member has; else
 * NULL.
 */
static const struct wndl_ar_member *find_by_name(
    const struct wndl_debug_map *map, const struct wndl_ar_member *first,
    uint32_t source)
{
    for (uint32_t i = map->first_of[source]; i < map->first_of[source + 1];
         i++) {
        struct wndl_bytes name = wndl_debug_map_linked_of(map, i)->name;
        const uint64_t *known = wndl_map_get(&map->namesakes,
            key_of(first, wndl_hash_bytes(name.data, name.size)));
        if (known != NULL && *known != SEVERAL)
            return (const struct wndl_ar_member *)(uintptr_t)*known;
    }
    return NULL;
}

static enum wndl_status check_names(const struct wndl_debug_map *map,
    const struct wndl_ar_member *member, uint32_t source)
{
    struct wndl_arena scratch;
    struct wndl_map names;
    wndl_arena_init(&scratch, map->mem);
    wndl_map_init(&names, &scratch);
    enum wndl_status status =
        read_names(map, member, &names) ? WNDL_OK : WNDL_NOMEM;
    for (uint32_t i = map->first_of[source];
         i < map->first_of[source + 1] && status == WNDL_OK; i++) {
        struct wndl_bytes name = wndl_debug_map_linked_of(map, i)->name;
        if (wndl_map_get(&names, wndl_hash_bytes(name.data, name.size)) == NULL)
            status = WNDL_NOT_FOUND;
    }
    wndl_arena_free(&scratch);
    return status;
}

const struct wndl_ar_member *wndl_debug_map_namesake_find(
    struct wndl_debug_map *map, const struct wndl_ar_member *first,
    uint32_t source)
{
    if (!need_names(map, first))
        return NULL;
    const struct wndl_ar_member *found = find_by_name(map, first, source);
    const struct wndl_ar_member *m = first;
    for (int i = 0; found == NULL && m != NULL && i < MOST_COMPARED;
         i++, m = m->next) {
        enum wndl_status status = check_names(map, m, source);
        if (status == WNDL_NOMEM)
            return NULL;
        if (status == WNDL_OK)
            found = m;
    }
    return found == NULL ? first : found;
}
