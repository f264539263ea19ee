/* SPDX-License-Identifier: MIT */
#include "model/merged.h"

#include "model/certainty.h"

bool wndl_merged_init(struct wndl_merged *m, struct wndl_mem *mem)
{
    *m = (struct wndl_merged){0};
    if (!wndl_profile_init(&m->profile, mem))
        return false;
    struct wndl_arena *arena = &m->profile.arena;
    wndl_vec_init(&m->hows, arena, sizeof(uint8_t));
    wndl_vec_init(&m->origins, arena, sizeof(struct wndl_merged_origin));
    wndl_map_init(&m->module_index, arena);
    if (!wndl_symbolized_init(&m->symbolized, &m->profile, mem)) {
        wndl_profile_free(&m->profile);
        return false;
    }
    m->symbolized.modules.len = 0; /* each recording has one for no file */
    *(struct wndl_node *)wndl_vec_at(&m->profile.nodes, 0) =
        (struct wndl_node){0};
    if (wndl_vec_push(&m->hows) != NULL)
        return true;
    wndl_merged_free(m);
    return false;
}

void wndl_merged_free(struct wndl_merged *m)
{
    wndl_symbolized_free(&m->symbolized);
    wndl_profile_free(&m->profile);
}

static bool copy_text(struct wndl_merged *m,
    const struct wndl_merged_part *part, uint32_t id, uint32_t *copy)
{
    *copy = 0;
    return id == 0 ||
           wndl_intern_add(&m->symbolized.strings,
               wndl_intern_get(&part->symbolized->strings, id), copy);
}

/* ---- modules */

static bool new_module(
    struct wndl_merged *m, const struct wndl_merged_part *part, uint32_t module)
{
    const struct wndl_module *from =
        wndl_vec_at(&part->symbolized->modules, module);
    const struct wndl_vec *images = &part->symbolized->profile->images;
    struct wndl_module *to = wndl_vec_push(&m->symbolized.modules);
    struct wndl_merged_origin *origin = wndl_vec_push(&m->origins);
    if (to == NULL || origin == NULL)
        return false;
    *to = *from;
    if (module < images->len) {
        const struct wndl_image *image = wndl_vec_at(images, module);
        origin->build_id = image->build_id;
    }
    return copy_text(m, part, from->name, &to->name) &&
           copy_text(m, part, from->path, &to->path) &&
           copy_text(m, part, from->detail, &to->detail);
}

/* The next module of that name in earlier recordings, else a new one. */
static bool place_module(
    struct wndl_merged *m, const struct wndl_merged_part *part, uint32_t module)
{
    const struct wndl_module *from =
        wndl_vec_at(&part->symbolized->modules, module);
    uint32_t name;
    if (!copy_text(m, part, from->name, &name))
        return false;
    uint64_t *first = wndl_map_put(&m->module_index, name);
    if (first == NULL)
        return false;
    if (*first != 0) {
        const struct wndl_merged_origin *origin =
            wndl_vec_at(&m->origins, *first - 1);
        part->modules[module] = (uint32_t)*first - 1;
        *first = origin->next;
        return true;
    }
    part->modules[module] = (uint32_t)m->symbolized.modules.len;
    return new_module(m, part, module);
}

/*
 * Indexes the modules by name for the next recording, in the order of their
 * numbers.
 */
static bool index_modules(struct wndl_merged *m)
{
    wndl_map_init(&m->module_index, &m->profile.arena);
    for (size_t i = m->symbolized.modules.len; i-- > 0;) {
        const struct wndl_module *module =
            wndl_vec_at(&m->symbolized.modules, i);
        struct wndl_merged_origin *origin = wndl_vec_at(&m->origins, i);
        uint64_t *first = wndl_map_put(&m->module_index, module->name);
        if (first == NULL)
            return false;
        origin->next = (uint32_t)*first;
        *first = i + 1;
    }
    return true;
}

static bool add_modules(
    struct wndl_merged *m, const struct wndl_merged_part *part)
{
    if (!index_modules(m))
        return false;
    for (uint32_t i = 0; i < part->symbolized->modules.len; i++) {
        if (!place_module(m, part, i))
            return false;
    }
    return true;
}

/* ---- functions, locations, nodes */

static bool add_functions(
    struct wndl_merged *m, const struct wndl_merged_part *part)
{
    for (size_t i = 0; i < part->symbolized->functions.len; i++) {
        struct wndl_function function =
            *(const struct wndl_function *)wndl_vec_at(
                &part->symbolized->functions, i);
        bool fresh;
        function.module = part->modules[function.module];
        if (!copy_text(m, part, function.name, &function.name) ||
            !copy_text(m, part, function.file, &function.file) ||
            !wndl_symbolized_function(
                &m->symbolized, function, &part->functions[i], &fresh))
            return false;
    }
    return true;
}

static bool add_locations(
    struct wndl_merged *m, const struct wndl_merged_part *part)
{
    for (size_t i = 0; i < part->symbolized->locations.len; i++) {
        struct wndl_location location =
            *(const struct wndl_location *)wndl_vec_at(
                &part->symbolized->locations, i);
        location.function = part->functions[location.function];
        if (!copy_text(m, part, location.file, &location.file) ||
            !wndl_symbolized_place(
                &m->symbolized, &location, &part->locations[i]))
            return false;
    }
    return true;
}

static bool add_node(struct wndl_merged *m, uint32_t parent, uint32_t location,
    uint8_t how, uint32_t *node)
{
    if (!wndl_profile_node(&m->profile, parent, location, node))
        return false;
    if (*node == m->hows.len && wndl_vec_push(&m->hows) == NULL)
        return false;
    uint8_t *so_far = wndl_vec_at(&m->hows, *node);
    if (wndl_certainty_of_how(how) > wndl_certainty_of_how(*so_far) ||
        (wndl_certainty_of_how(how) == wndl_certainty_of_how(*so_far) &&
            how > *so_far))
        *so_far = how;
    return true;
}

/* Inlined functions come before the one that they are inlined into. */
static bool add_nodes(
    struct wndl_merged *m, const struct wndl_merged_part *part)
{
    const struct wndl_symbolized *s = part->symbolized;
    const uint32_t *frame_locations = s->frame_locations.data;
    for (uint32_t i = 1; i < s->profile->nodes.len; i++) {
        const struct wndl_node *node = wndl_vec_at(&s->profile->nodes, i);
        const struct wndl_span *span = wndl_vec_at(&s->spans, node->frame);
        const struct wndl_frame_key *key =
            wndl_vec_at(&s->profile->frames, node->frame);
        uint32_t at = part->nodes[node->parent];
        for (uint32_t k = span->count; k-- > 0;) {
            uint32_t location = frame_locations[span->first + k];
            if (!add_node(m, at, part->locations[location], key->how, &at))
                return false;
        }
        part->nodes[i] = at;
    }
    return true;
}

static uint32_t *numbers(struct wndl_merged *m, size_t count)
{
    return wndl_arena_calloc(&m->profile.arena, count + 1, sizeof(uint32_t));
}

bool wndl_merged_add(
    struct wndl_merged *m, const struct wndl_symbolized *symbolized)
{
    struct wndl_merged_part *part = &m->parts[m->count];
    *part = (struct wndl_merged_part){
        .symbolized = symbolized,
        .nodes = numbers(m, symbolized->profile->nodes.len),
        .modules = numbers(m, symbolized->modules.len),
        .functions = numbers(m, symbolized->functions.len),
        .locations = numbers(m, symbolized->locations.len),
    };
    bool added = part->nodes != NULL && part->modules != NULL &&
                 part->functions != NULL && part->locations != NULL &&
                 add_modules(m, part) && add_functions(m, part) &&
                 add_locations(m, part) && add_nodes(m, part);
    m->count++;
    return added;
}
