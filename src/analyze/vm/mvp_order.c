/* SPDX-License-Identifier: MIT */
#include "analyze/vm/mvp_order.h"

enum { MAX_ALIGN = 16, MAX_TYPES = 4096 };

/* The members of a struct. */
struct members {
    struct wndl_types *types;
    const struct wndl_type_member *at;
    size_t count;
};

/* A search; damaged structs may hold themselves. */
struct search {
    struct wndl_types *types;
    unsigned visited; /* types, at most MAX_TYPES */
};

static uint64_t round_up(uint64_t at, uint64_t align)
{
    return (at + align - 1) / align * align;
}

/* ---- alignment */

static uint64_t find_align(struct search *s, const struct wndl_type *type);

/* That of the member with the largest one. */
static uint64_t align_of_members(struct search *s, const struct wndl_type *type)
{
    struct members m;
    uint64_t largest = 1;
    if (wndl_types_members(s->types, type, &m.at, &m.count) != WNDL_OK)
        return 0;
    for (size_t i = 0; i < m.count; i++) {
        const uint64_t align = find_align(s, m.at[i].type);
        if (align == 0)
            return 0;
        if (align > largest)
            largest = align;
    }
    return largest;
}

static uint64_t find_align(struct search *s, const struct wndl_type *type)
{
    if (s->visited++ >= MAX_TYPES ||
        wndl_types_strip(s->types, type, &type) != WNDL_OK)
        return 0;
    switch (type->kind) {
    case WNDL_TYPE_STRUCT:
    case WNDL_TYPE_UNION:
        return align_of_members(s, type);
    case WNDL_TYPE_ARRAY:
        return wndl_types_target(s->types, type, &type) == WNDL_OK
                   ? find_align(s, type)
                   : 0;
    case WNDL_TYPE_BASE:
    case WNDL_TYPE_ENUM:
    case WNDL_TYPE_POINTER:
        return type->size > MAX_ALIGN || (type->size & (type->size - 1)) != 0
                   ? 0
                   : type->size;
    default:
        return 0;
    }
}

/* The usual alignment of a member; 0: not known. */
static uint64_t align_of(const struct members *m, size_t i)
{
    struct search search = {.types = m->types};
    return find_align(&search, m->at[i].type);
}

/* ---- order */

/*
 * Lays the members out as they are declared, which is to be as they lie: else
 * the alignments are not those that are used here. The sum of their bytes, then
 * rounded up to the largest alignment; 0: not known.
 */
static uint64_t size_without_holes(const struct members *m, uint64_t whole)
{
    uint64_t at = 0, sum = 0, largest = 1;
    for (size_t i = 0; i < m->count; i++) {
        uint64_t size;
        const uint64_t align = align_of(m, i);
        if (m->at[i].is_base || m->at[i].bits != 0 || align == 0 ||
            wndl_types_size(m->types, m->at[i].type, &size) != WNDL_OK ||
            size > whole)
            return 0;
        at = round_up(at, align);
        if (m->at[i].bit_at != 8 * at)
            return 0;
        at += size;
        sum += size;
        if (align > largest)
            largest = align;
    }
    return round_up(at, largest) == whole ? round_up(sum, largest) : 0;
}

static void add_names(const struct members *m, struct wndl_buf *out)
{
    const char *before = "";
    for (uint64_t align = MAX_ALIGN; align > 0; align /= 2)
        for (size_t i = 0; i < m->count; i++) {
            const struct wndl_bytes name = m->at[i].name;
            if (align_of(m, i) != align)
                continue;
            wndl_buf_text(out, before);
            if (name.size == 0)
                wndl_buf_text(out, "without a name");
            wndl_buf_add(out, name.data, name.size);
            before = ", ";
        }
}

enum wndl_status wndl_mvp_order_find(struct wndl_types *types,
    const struct wndl_type *type, uint64_t *size, struct wndl_buf *out)
{
    struct members m = {.types = types};
    *size = 0;
    enum wndl_status status = wndl_types_strip(types, type, &type);
    if (status == WNDL_OK && type->kind == WNDL_TYPE_STRUCT)
        status = wndl_types_members(types, type, &m.at, &m.count);
    if (status != WNDL_OK)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    const uint64_t ordered = size_without_holes(&m, type->size);
    if (ordered == 0 || ordered >= type->size)
        return WNDL_OK;
    *size = ordered;
    add_names(&m, out);
    return WNDL_OK;
}
