/* SPDX-License-Identifier: MIT */
#include "model/symbolized.h"

#include <string.h>

static bool add_module(struct wndl_symbolized *s, struct wndl_bytes path)
{
    struct wndl_module *module = wndl_vec_push(&s->modules);
    return module != NULL &&
           wndl_intern_add(&s->strings, path, &module->path) &&
           wndl_intern_add(&s->strings, wndl_path_name(path), &module->name);
}

static bool add_modules(struct wndl_symbolized *s)
{
    static const char nowhere[] = "[no file]";
    const struct wndl_image *images = s->profile->images.data;
    for (size_t i = 0; i < s->profile->images.len; i++) {
        if (!add_module(s, images[i].path))
            return false;
    }
    return add_module(
        s, (struct wndl_bytes){(const uint8_t *)nowhere, sizeof nowhere - 1});
}

bool wndl_symbolized_init(struct wndl_symbolized *s,
    const struct wndl_profile *profile, struct wndl_mem *mem)
{
    *s = (struct wndl_symbolized){.profile = profile};
    wndl_arena_init(&s->arena, mem);
    wndl_vec_init(&s->modules, &s->arena, sizeof(struct wndl_module));
    wndl_vec_init(&s->functions, &s->arena, sizeof(struct wndl_function));
    wndl_vec_init(&s->locations, &s->arena, sizeof(struct wndl_location));
    wndl_vec_init(&s->frame_locations, &s->arena, sizeof(uint32_t));
    wndl_vec_init(&s->spans, &s->arena, sizeof(struct wndl_span));
    wndl_map_init(&s->function_index, &s->arena);
    wndl_map_init(&s->location_index, &s->arena);
    bool made = wndl_intern_init(&s->strings, &s->arena) && add_modules(s) &&
                wndl_vec_reserve(&s->spans, profile->frames.len);
    if (!made) {
        wndl_symbolized_free(s);
        return false;
    }
    for (size_t i = 0; i < profile->frames.len; i++)
        (void)wndl_vec_push(&s->spans);
    return true;
}

void wndl_symbolized_free(struct wndl_symbolized *s)
{
    wndl_arena_free(&s->arena);
}

static bool same_function(const void *a, const void *b)
{
    const struct wndl_function *f = a, *g = b;
    return f->module == g->module && f->name == g->name && f->file == g->file;
}

static bool same_location(const void *a, const void *b)
{
    const struct wndl_location *f = a, *g = b;
    return f->function == g->function && f->file == g->file &&
           f->line == g->line && f->inlined == g->inlined;
}

/*
 * The slot for an element's (index + 1): 0 in it means that the element is new.
 * If another element has the hash, the next one is tried. NULL when memory is
 * out.
 */
static uint64_t *slot_of(struct wndl_map *map, uint64_t hash,
    const struct wndl_vec *vec, const void *element,
    bool (*same)(const void *a, const void *b))
{
    for (;; hash = wndl_hash_u64(hash + 1)) {
        uint64_t *slot = wndl_map_put(map, hash);
        if (slot == NULL || *slot == 0 ||
            same(wndl_vec_at(vec, *slot - 1), element))
            return slot;
    }
}

bool wndl_symbolized_function(struct wndl_symbolized *s,
    struct wndl_function function, uint32_t *index, bool *fresh)
{
    uint64_t hash = (uint64_t)function.module << 32 | function.name;
    hash = wndl_hash_u64(wndl_hash_u64(hash) + function.file);
    uint64_t *slot = slot_of(
        &s->function_index, hash, &s->functions, &function, same_function);
    if (slot == NULL)
        return false;
    *fresh = *slot == 0;
    if (*fresh) {
        struct wndl_function *added = wndl_vec_push(&s->functions);
        if (added == NULL || s->functions.len >= WNDL_NO_INDEX)
            return false;
        *added = function;
        *slot = s->functions.len;
    }
    *index = (uint32_t)(*slot - 1);
    return true;
}

bool wndl_symbolized_place(struct wndl_symbolized *s,
    const struct wndl_location *location, uint32_t *index)
{
    uint64_t hash = (uint64_t)location->function << 32 | location->file;
    hash = wndl_hash_u64(
        wndl_hash_u64(hash) + 2 * (uint64_t)location->line + location->inlined);
    uint64_t *slot = slot_of(
        &s->location_index, hash, &s->locations, location, same_location);
    if (slot == NULL)
        return false;
    if (*slot == 0) {
        struct wndl_location *added = wndl_vec_push(&s->locations);
        if (added == NULL || s->locations.len >= WNDL_NO_INDEX)
            return false;
        *added = *location;
        *slot = s->locations.len;
    }
    *index = (uint32_t)(*slot - 1);
    return true;
}

bool wndl_symbolized_append(struct wndl_symbolized *s, uint32_t frame,
    const struct wndl_location *location)
{
    struct wndl_span *span = wndl_vec_at(&s->spans, frame);
    uint32_t *slot = wndl_vec_push(&s->frame_locations);
    if (slot == NULL || s->frame_locations.len >= WNDL_NO_INDEX ||
        !wndl_symbolized_place(s, location, slot))
        return false;
    if (span->count == 0)
        span->first = (uint32_t)(s->frame_locations.len - 1);
    span->count++;
    return true;
}

bool wndl_symbolized_text(
    struct wndl_symbolized *s, const char *text, uint32_t *id)
{
    struct wndl_bytes bytes = {(const uint8_t *)text, strlen(text)};
    return wndl_intern_add(&s->strings, bytes, id);
}

const char *wndl_symbols_state_text(enum wndl_symbols_state state)
{
    static const char *const texts[] = {
        [WNDL_SYMBOLS_LINES] = "debug information",
        [WNDL_SYMBOLS_NAMES] = "symbol table, no debug information",
        [WNDL_SYMBOLS_EXPORTED] = "exported names only, no debug information",
        [WNDL_SYMBOLS_REPLACED] = "not used: replaced after the recording",
        [WNDL_SYMBOLS_UNREADABLE] = "not used: damaged or unknown format",
        [WNDL_SYMBOLS_NO_FILE] = "not used: cannot be opened",
        [WNDL_SYMBOLS_NOWHERE] = "in no file",
        [WNDL_SYMBOLS_GENERATED] = "named by a JIT map",
    };
    return texts[state];
}
