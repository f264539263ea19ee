/* SPDX-License-Identifier: MIT */
#include "analyze/names/block_type.h"

#include <string.h>

/* The one struct that is wanted, if it is one. */
struct choice {
    struct wndl_types *types;
    uint64_t size; /* bytes of the wanted one */
    const struct wndl_type *type, *named;
    bool is_ambiguous;
};

/* The same struct may be described in several units. */
static bool are_same(const struct wndl_type *a, const struct wndl_type *b)
{
    return a == b || (a->kind == b->kind && a->size == b->size &&
                         a->name.size != 0 && a->name.size == b->name.size &&
                         memcmp(a->name.data, b->name.data, a->name.size) == 0);
}

static void consider(struct choice *c, const struct wndl_type *type,
    const struct wndl_type *named)
{
    if ((type->kind != WNDL_TYPE_STRUCT && type->kind != WNDL_TYPE_UNION) ||
        type->size != c->size)
        return;
    if (c->type != NULL && !are_same(c->type, type))
        c->is_ambiguous = true;
    c->type = type;
    c->named = named;
}

static struct choice choose_by_line(
    const struct wndl_vec *pointers, uint32_t line, const struct choice *start)
{
    struct choice c = *start;
    for (size_t i = 0; i < pointers->len; i++) {
        const struct wndl_type_pointer *p = wndl_vec_at(pointers, i);
        if (line != 0 && p->line == line)
            consider(&c, p->target, p->named);
    }
    return c;
}

static struct choice choose_by_depth(
    const struct wndl_vec *pointers, const struct choice *start)
{
    struct choice best = *start;
    uint32_t depth = 0;
    for (size_t i = 0; i < pointers->len; i++) {
        const struct wndl_type_pointer *p = wndl_vec_at(pointers, i);
        struct choice c = *start;
        consider(&c, p->target, p->named);
        if (c.type == NULL || p->depth < depth)
            continue;
        if (p->depth > depth)
            best = *start;
        depth = p->depth;
        consider(&best, p->target, p->named);
    }
    return best;
}

static enum wndl_status consider_members(
    struct choice *c, const struct wndl_type *type)
{
    const struct wndl_type_member *members;
    size_t count;
    enum wndl_status status =
        wndl_types_members(c->types, type, &members, &count);
    for (size_t i = 0; i < count && status == WNDL_OK; i++) {
        const struct wndl_type *at, *named, *target;
        status = wndl_types_strip(c->types, members[i].type, &at);
        if (status == WNDL_OK && at->kind == WNDL_TYPE_POINTER)
            status = wndl_types_target(c->types, at, &named);
        else if (status == WNDL_OK)
            continue;
        if (status == WNDL_OK)
            status = wndl_types_strip(c->types, named, &target);
        if (status == WNDL_OK)
            consider(c, target, named);
        else if (status == WNDL_NOT_FOUND)
            status = WNDL_OK;
    }
    return status;
}

static enum wndl_status choose_by_member(
    const struct wndl_vec *pointers, struct choice *c)
{
    enum wndl_status status = WNDL_OK;
    for (size_t i = 0; i < pointers->len && status == WNDL_OK; i++) {
        const struct wndl_type_pointer *p = wndl_vec_at(pointers, i);
        status = consider_members(c, p->target);
    }
    return status;
}

static enum wndl_status choose(
    const struct wndl_vec *pointers, uint32_t line, struct choice *c)
{
    const struct choice start = *c;
    *c = choose_by_line(pointers, line, &start);
    if (c->type == NULL)
        *c = choose_by_depth(pointers, &start);
    return c->type == NULL ? choose_by_member(pointers, c) : WNDL_OK;
}

enum wndl_status wndl_block_type_infer(struct wndl_types *types,
    struct wndl_arena *arena, const struct wndl_block_code *code,
    const struct wndl_type **named)
{
    struct wndl_vec pointers;
    struct choice choice = {.types = types, .size = code->size};
    wndl_vec_init(&pointers, arena, sizeof(struct wndl_type_pointer));
    enum wndl_status status =
        wndl_types_pointers_at(types, code->address, &pointers);
    if (status == WNDL_OK)
        status = choose(&pointers, code->line, &choice);
    if (status != WNDL_OK)
        return status;
    *named = choice.named;
    return choice.type != NULL && !choice.is_ambiguous ? WNDL_OK
                                                       : WNDL_NOT_FOUND;
}
