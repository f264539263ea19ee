/* SPDX-License-Identifier: MIT */
#include "analyze/vm/mvp_data.h"

#include "analyze/vm/mvp_layout.h"
#include "analyze/vm/vm_sites.h"

#include <stdlib.h>
#include <string.h>

/* The heaps that one line allocates, and what was done with their blocks. */
struct group {
    struct wndl_mvp_data data;
    uint64_t element; /* as all calls of calloc were told, or 0 */
    uint64_t largest; /* bytes of a block */
    struct wndl_mvp_type_site site;
    struct wndl_mvp_block_type type;
    size_t heaps; /* so far */
    size_t first_use, use_count;
    size_t first_equal, equal_count;
};

struct finder {
    struct wndl_mvp_found *found;
    const struct wndl_mvp *mvp;
    const struct wndl_vm_places *places;
    struct wndl_callgraph *g;
    struct wndl_mvp_types *types;
    struct wndl_vec groups;           /* struct group */
    uint32_t *group_of;               /* by index of heap */
    uint8_t *up;                      /* by index of heap: frames of wrappers */
    const struct wndl_mvp_use **uses; /* by group */
    const struct wndl_mvp_equal **equals; /* by group */
};

static struct group *group_at(const struct finder *f, size_t index)
{
    return wndl_vec_at(&f->groups, index);
}

/* ---- groups */

static void join(struct group *group, const struct wndl_mvp_heap *heap)
{
    struct wndl_mvp_data *data = &group->data;
    const uint64_t size = heap->smallest == heap->largest ? heap->largest : 0;
    if (group->heaps++ == 0) {
        data->size = size;
        group->element = heap->element;
    }
    if (data->size != size)
        data->size = 0;
    if (group->element != heap->element)
        group->element = 0;
    if (heap->largest > group->largest)
        group->largest = heap->largest;
    data->blocks += heap->blocks;
    data->bytes += heap->bytes;
}

static struct wndl_vm_site_at place_of(
    const struct finder *f, const struct wndl_mvp_heap *heap, uint32_t up)
{
    return wndl_vm_site_place(f->places, f->g,
        (struct wndl_vm_stack_ips){heap->ips, heap->ip_count}, up);
}

static bool find_group(struct finder *f, struct wndl_map *index, size_t i)
{
    const struct wndl_mvp_heap *heap = wndl_vec_at(&f->mvp->heaps, i);
    const struct wndl_vm_site_at at = place_of(f, heap, f->up[i]);
    uint32_t text;
    if (!wndl_vm_site_text(f->g, at.place, &text))
        return false;
    uint64_t *number = wndl_map_put(index, text);
    if (number == NULL)
        return false;
    if (*number == 0) {
        struct group *group = wndl_vec_push(&f->groups);
        if (group == NULL)
            return false;
        const char *name = wndl_intern_text(&f->g->strings, text);
        *group = (struct group){.data = {.text = name, .type = "", .order = ""},
            .site = {
                at.ip, wndl_callgraph_place_at(f->g, at.place)->line, name}};
        *number = f->groups.len;
    }
    f->group_of[i] = (uint32_t)(*number - 1);
    join(group_at(f, f->group_of[i]), heap);
    return true;
}

static bool find_groups(struct finder *f)
{
    struct wndl_map index;
    wndl_map_init(&index, &f->g->arena);
    wndl_vec_init(&f->groups, &f->g->arena, sizeof(struct group));
    bool whole = true;
    for (size_t i = 0; i < f->mvp->heaps.len && whole; i++)
        whole = find_group(f, &index, i);
    return whole;
}

/* ---- wrappers of malloc that have no known name */

/* The most frames that such wrappers have. */
enum { MOST_UP = 6 };

/* Blocks of a group that were allocated through one place outside it. */
struct part {
    uint32_t group;
    uint64_t size; /* of each; 0: they differ */
    uint64_t blocks;
};

static bool add_to_part(struct wndl_map *index, struct wndl_vec *parts,
    uint64_t key, const struct part *more)
{
    uint64_t *number = wndl_map_put(index, key);
    if (number == NULL)
        return false;
    if (*number != 0) {
        struct part *part = wndl_vec_at(parts, *number - 1);
        part->blocks += more->blocks;
        part->size = part->size == more->size ? part->size : 0;
        return true;
    }
    struct part *part = wndl_vec_push(parts);
    if (part == NULL)
        return false;
    *part = *more;
    *number = parts->len;
    return true;
}

/* Splits groups whose blocks have several sizes by the places `up` frames
 * outside. */
static bool find_parts(
    const struct finder *f, uint32_t up, struct wndl_vec *parts)
{
    struct wndl_map index;
    wndl_map_init(&index, &f->g->arena);
    wndl_vec_init(parts, &f->g->arena, sizeof(struct part));
    for (size_t i = 0; i < f->mvp->heaps.len; i++) {
        const struct wndl_mvp_heap *heap = wndl_vec_at(&f->mvp->heaps, i);
        const struct part part = {f->group_of[i],
            heap->smallest == heap->largest ? heap->largest : 0, heap->blocks};
        if (f->up[i] != 0 || group_at(f, part.group)->data.size != 0)
            continue;
        const uint64_t key =
            (uint64_t)part.group << 32 | place_of(f, heap, up).place;
        if (!add_to_part(&index, parts, key, &part))
            return false;
    }
    return true;
}

/* How many places a group's blocks were allocated through. */
struct callers {
    uint64_t all, of_one_size;
};

/* Where most of the callers ask for one size each, the line is a wrapper's. (A
 * caller of one block says nothing.) */
static bool is_wrapper(const struct callers *c)
{
    return c->all >= 3 && 2 * c->of_one_size >= c->all;
}

static bool rise(struct finder *f, uint32_t up)
{
    struct wndl_vec parts;
    struct callers *callers =
        wndl_arena_alloc(&f->g->arena, (f->groups.len + 1) * sizeof *callers);
    if (callers == NULL || !find_parts(f, up, &parts))
        return false;
    for (size_t i = 0; i < parts.len; i++) {
        const struct part *part = wndl_vec_at(&parts, i);
        callers[part->group].all += part->blocks > 1;
        callers[part->group].of_one_size += part->blocks > 1 && part->size != 0;
    }
    for (size_t i = 0; i < f->mvp->heaps.len; i++)
        if (f->up[i] == 0 && group_at(f, f->group_of[i])->data.size == 0 &&
            is_wrapper(&callers[f->group_of[i]]))
            f->up[i] = (uint8_t)up;
    return true;
}

/* Groups by lines that are in no wrapper. */
static bool find_lines(struct finder *f)
{
    const size_t count = f->mvp->heaps.len;
    f->group_of =
        wndl_arena_alloc(&f->g->arena, (count + 1) * sizeof *f->group_of);
    f->up = wndl_arena_alloc(&f->g->arena, count + 1);
    if (f->group_of == NULL || f->up == NULL || !find_groups(f))
        return false;
    for (uint32_t up = 1; up <= MOST_UP; up++)
        if (!rise(f, up))
            return false;
    return find_groups(f);
}

/* The group of a heap by its number; NULL: there is no such heap. */
static struct group *group_of_heap(const struct finder *f, uint64_t number)
{
    size_t low = 0, high = f->mvp->heaps.len;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct wndl_mvp_heap *heap = wndl_vec_at(&f->mvp->heaps, middle);
        if (heap->number == number)
            return group_at(f, f->group_of[middle]);
        if (heap->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- uses and equal fields by group */

static void place_groups(const struct finder *f)
{
    size_t use = 0, equal = 0;
    for (size_t i = 0; i < f->groups.len; i++) {
        struct group *group = group_at(f, i);
        group->first_use = use;
        group->first_equal = equal;
        use += group->use_count;
        equal += group->equal_count;
        group->use_count = group->equal_count = 0;
    }
}

static void sort_uses(const struct finder *f, bool counts_only)
{
    for (size_t i = 0; i < f->mvp->uses.len; i++) {
        const struct wndl_mvp_use *use = wndl_vec_at(&f->mvp->uses, i);
        struct group *group = group_of_heap(f, use->heap);
        if (group == NULL)
            continue;
        if (!counts_only)
            f->uses[group->first_use + group->use_count] = use;
        group->use_count++;
    }
}

static void sort_equals(const struct finder *f, bool counts_only)
{
    for (size_t i = 0; i < f->mvp->equals.len; i++) {
        const struct wndl_mvp_equal *equal = wndl_vec_at(&f->mvp->equals, i);
        struct group *group = group_of_heap(f, equal->heap);
        if (group == NULL)
            continue;
        if (!counts_only)
            f->equals[group->first_equal + group->equal_count] = equal;
        group->equal_count++;
    }
}

static bool sort_all(struct finder *f)
{
    f->uses = wndl_arena_alloc(
        &f->g->arena, (f->mvp->uses.len + 1) * sizeof *f->uses);
    f->equals = wndl_arena_alloc(
        &f->g->arena, (f->mvp->equals.len + 1) * sizeof *f->equals);
    if (f->uses == NULL || f->equals == NULL)
        return false;
    sort_uses(f, true);
    sort_equals(f, true);
    place_groups(f);
    sort_uses(f, false);
    sort_equals(f, false);
    return true;
}

/* ---- data */

static int compare_data(const void *a, const void *b)
{
    const struct wndl_mvp_data *x = a, *y = b;
    if (x->saved != y->saved)
        return x->saved > y->saved ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return strcmp(x->text, y->text);
}

static void add_saved(uint64_t *sum, uint64_t saved)
{
    if (__builtin_add_overflow(*sum, saved, sum))
        *sum = UINT64_MAX;
}

/* A type that the user gives says how large the elements of arrays are. */
static enum wndl_status take_given_type(struct finder *f, struct group *group)
{
    enum wndl_status status = wndl_mvp_types_given(
        f->types, &group->site, group->largest, &group->type);
    const uint64_t size = group->type.size;
    if (size != 0 && size < group->largest && group->largest % size == 0)
        group->element = size;
    return status;
}

static enum wndl_status name_members(struct finder *f, struct group *group)
{
    enum wndl_status status = WNDL_OK;
    if (group->type.types == NULL)
        status = wndl_mvp_types_infer(
            f->types, &group->site, group->data.size, &group->type);
    return status == WNDL_OK
               ? wndl_mvp_types_name(f->types, &group->type, &group->data)
               : status;
}

static enum wndl_status find_data(struct finder *f)
{
    struct wndl_vec *data = &f->found->data;
    wndl_vec_init(data, &f->g->arena, sizeof(struct wndl_mvp_data));
    for (size_t i = 0; i < f->groups.len; i++) {
        struct group *group = group_at(f, i);
        if (take_given_type(f, group) != WNDL_OK)
            return WNDL_NOMEM;
        const struct wndl_mvp_layout layout = {
            .arena = &f->g->arena,
            .uses = f->uses + group->first_use,
            .use_count = group->use_count,
            .equals = f->equals + group->first_equal,
            .equal_count = group->equal_count,
            .element = group->element,
        };
        struct wndl_mvp_data *row = wndl_vec_push(data);
        if (row == NULL ||
            wndl_mvp_layout_find(&group->data, &layout) != WNDL_OK ||
            name_members(f, group) != WNDL_OK)
            return WNDL_NOMEM;
        *row = group->data;
        add_saved(&f->found->view.saved, row->saved);
        add_saved(&f->found->view.pointer_bits, row->pointer_bits);
    }
    if (data->len != 0)
        qsort(data->data, data->len, data->element, compare_data);
    return WNDL_OK;
}

/* ---- twins */

/* Bytes that malloc takes for a block: its size and a header of 8 bytes, in
 * steps of 16, at least 32. */
static uint64_t chunk_of(uint64_t size)
{
    const uint64_t chunk = (size + 8 + 15) / 16 * 16;
    return chunk < 32 ? 32 : chunk;
}

static uint64_t saved_by_merging(uint64_t size, uint64_t child)
{
    const uint64_t merged = chunk_of(size + child - 8);
    const uint64_t apart = chunk_of(size) + chunk_of(child);
    return size < 8 || apart < merged ? 0 : apart - merged;
}

/* Blocks of several sizes have a mean one. */
static uint64_t size_of(const struct wndl_mvp_data *data)
{
    return data->blocks == 0 ? 0 : data->bytes / data->blocks;
}

static bool add_pair(struct finder *f, const struct wndl_mvp_pair *pair)
{
    const struct group *group = group_of_heap(f, pair->heap);
    const struct group *child = group_of_heap(f, pair->child);
    struct wndl_vec *twins = &f->found->twins;
    if (group == NULL || child == NULL)
        return true;
    struct wndl_mvp_twins *row = NULL;
    for (size_t i = 0; i < twins->len && row == NULL; i++) {
        struct wndl_mvp_twins *at = wndl_vec_at(twins, i);
        if (at->text == group->data.text && at->child == child->data.text &&
            at->offset == pair->offset)
            row = at;
    }
    if (row == NULL) {
        row = wndl_vec_push(twins);
        if (row == NULL)
            return false;
        const char *name =
            wndl_mvp_types_member(f->types, &group->type, pair->offset, 1);
        if (name == NULL)
            return false;
        *row = (struct wndl_mvp_twins){group->data.text, child->data.text, name,
            pair->offset, size_of(&group->data), size_of(&child->data), 0, 0};
    }
    row->blocks += pair->blocks;
    row->saved += pair->blocks * saved_by_merging(row->size, row->child_size);
    return true;
}

static int compare_twins(const void *a, const void *b)
{
    const struct wndl_mvp_twins *x = a, *y = b;
    if (x->saved != y->saved)
        return x->saved > y->saved ? -1 : 1;
    const int order = strcmp(x->text, y->text);
    return order != 0 ? order : x->offset < y->offset ? -1 : 1;
}

static enum wndl_status find_twins(struct finder *f)
{
    struct wndl_vec *twins = &f->found->twins;
    wndl_vec_init(twins, &f->g->arena, sizeof(struct wndl_mvp_twins));
    for (size_t i = 0; i < f->mvp->pairs.len; i++)
        if (!add_pair(f, wndl_vec_at(&f->mvp->pairs, i)))
            return WNDL_NOMEM;
    if (twins->len != 0)
        qsort(twins->data, twins->len, twins->element, compare_twins);
    return WNDL_OK;
}

/* ---- all of it */

static void count_loads(const struct finder *f)
{
    struct wndl_mvp_heap_view *view = &f->found->view;
    for (size_t i = 0; i < f->mvp->uses.len; i++) {
        const struct wndl_mvp_use *use = wndl_vec_at(&f->mvp->uses, i);
        if (use->kind != WNDL_MVP_WRITE && use->ip != 0)
            add_saved(&view->loads_in_blocks, use->count);
    }
    view->loads = view->loads_in_blocks;
    for (size_t i = 0; i < f->mvp->mappings.len; i++) {
        const struct wndl_mvp_mapping *m = wndl_vec_at(&f->mvp->mappings, i);
        add_saved(&view->loads, m->loads);
    }
}

enum wndl_status wndl_mvp_data_find(struct wndl_mvp_found *found,
    const struct wndl_mvp_data_of *of, struct wndl_mvp_types *types,
    struct wndl_callgraph *g)
{
    struct finder f = {.found = found,
        .mvp = of->mvp,
        .places = of->places,
        .g = g,
        .types = types};
    if (!find_lines(&f) || !sort_all(&f))
        return WNDL_NOMEM;
    enum wndl_status status = find_data(&f);
    if (status == WNDL_OK)
        status = find_twins(&f);
    count_loads(&f);
    found->view.data = &found->data;
    found->view.twins = &found->twins;
    return status;
}
