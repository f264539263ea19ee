/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf/type_die.h"

#include "base/status.h"

#include <inttypes.h>

/* Structs in structs, and members of one name. */
enum { DEPTH_LIMIT = 32, LIST_LIMIT = 4 };

/* Bytes [at, end) of a type, and the name so far. */
struct place {
    struct wndl_types *t;
    struct wndl_buf *out;
    const struct wndl_type *type;
    uint64_t at, end;
    bool needs_dot;
};

static uint64_t end_of(struct wndl_types *t, const struct wndl_type_member *m,
    enum wndl_status *status)
{
    uint64_t size = 0, end;
    if (m->bits != 0)
        return m->bit_at / 8 + (m->bit_at % 8 + m->bits + 7) / 8;
    *status = wndl_types_size(t, m->type, &size);
    return __builtin_add_overflow(m->bit_at / 8, size, &end) ? UINT64_MAX : end;
}

/*
 * The first member with bytes of the place, in a union the one that has the
 * most of them. NULL: there is none.
 */
static const struct wndl_type_member *first_member(const struct place *p,
    const struct wndl_type_member *members, size_t count,
    enum wndl_status *status)
{
    const struct wndl_type_member *best = NULL;
    uint64_t best_end = 0;
    for (size_t i = 0; i < count && *status == WNDL_OK; i++) {
        const struct wndl_type_member *m = &members[i];
        uint64_t end = end_of(p->t, m, status);
        end = end < p->end ? end : p->end;
        const uint64_t start = m->bit_at / 8;
        if (start >= p->end || end <= p->at || end <= start)
            continue;
        if (best == NULL || m->bit_at < best->bit_at ||
            (m->bit_at == best->bit_at && end > best_end)) {
            best = m;
            best_end = end;
        }
    }
    return best;
}

static void add_dot(struct place *p)
{
    if (p->needs_dot)
        wndl_buf_byte(p->out, '.');
    p->needs_dot = false;
}

static void add_member_name(struct place *p, const struct wndl_type_member *m)
{
    if (m->is_base) {
        add_dot(p);
        wndl_buf_add(p->out, m->type->name.data, m->type->name.size);
        wndl_buf_text(p->out, "::");
    } else if (m->name.size != 0) {
        add_dot(p);
        wndl_buf_add(p->out, m->name.data, m->name.size);
        p->needs_dot = true;
    }
}

/* Adds the other members with bytes of the place, if `m` ends before it. */
static enum wndl_status add_others(struct place *p,
    const struct wndl_type_member *members, size_t count,
    const struct wndl_type_member *m)
{
    unsigned listed = 1;
    enum wndl_status status = WNDL_OK;
    for (size_t i = (size_t)(m - members) + 1; i < count; i++) {
        const struct wndl_type_member *other = &members[i];
        if (other->bit_at / 8 >= p->end ||
            end_of(p->t, other, &status) <= p->at || other->name.size == 0 ||
            other->bit_at <= m->bit_at)
            continue;
        if (status != WNDL_OK)
            return status;
        if (listed++ == LIST_LIMIT) {
            wndl_buf_text(p->out, ",...");
            break;
        }
        wndl_buf_byte(p->out, ',');
        wndl_buf_add(p->out, other->name.data, other->name.size);
    }
    return status;
}

static void add_remainder(struct place *p)
{
    if (p->at != 0)
        wndl_buf_printf(p->out, "+%" PRIu64, p->at);
}

/* Goes into a member. NOT_FOUND: none has the bytes; else OK and *more: there
 * is a type to go into. */
static enum wndl_status enter_struct(struct place *p, bool *more)
{
    const struct wndl_type_member *members;
    size_t count;
    enum wndl_status status =
        wndl_types_members(p->t, p->type, &members, &count);
    if (status != WNDL_OK)
        return status;
    const struct wndl_type_member *m = first_member(p, members, count, &status);
    if (status != WNDL_OK || m == NULL)
        return status == WNDL_OK ? WNDL_NOT_FOUND : status;
    const uint64_t start = m->bit_at / 8, end = end_of(p->t, m, &status);
    const bool is_part = p->end <= end && p->at >= start && m->bits == 0;
    add_member_name(p, m);
    *more = is_part;
    if (!is_part || status != WNDL_OK)
        return p->type->kind == WNDL_TYPE_UNION || status != WNDL_OK
                   ? status
                   : add_others(p, members, count, m);
    p->type = m->type;
    p->at -= start;
    p->end -= start;
    return WNDL_OK;
}

static void add_index(struct place *p, uint64_t index)
{
    const uint64_t *counts = p->type->counts;
    uint64_t inner = 1;
    for (uint32_t i = 1; i < p->type->dimensions; i++)
        if (__builtin_mul_overflow(inner, counts[i], &inner) || inner == 0)
            inner = 1;
    for (uint32_t i = 0; i < p->type->dimensions; i++) {
        wndl_buf_printf(p->out, "[%" PRIu64 "]", index / inner);
        index %= inner;
        if (i + 1 < p->type->dimensions && counts[i + 1] != 0)
            inner /= counts[i + 1];
        inner = inner == 0 ? 1 : inner;
    }
}

static enum wndl_status enter_array(struct place *p, bool *more)
{
    const struct wndl_type *element;
    uint64_t size = 0;
    enum wndl_status status = wndl_types_target(p->t, p->type, &element);
    if (status == WNDL_OK)
        status = wndl_types_size(p->t, element, &size);
    if (status != WNDL_OK || size == 0)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    const uint64_t first = p->at / size, last = (p->end - 1) / size;
    if (first != last && p->type->dimensions == 1)
        wndl_buf_printf(p->out, "[%" PRIu64 "..%" PRIu64 "]", first, last);
    else
        add_index(p, first);
    p->needs_dot = true;
    *more = first == last;
    p->end -= p->at / size * size;
    p->at %= size;
    p->type = element;
    return WNDL_OK;
}

static enum wndl_status step(struct place *p, bool *more)
{
    enum wndl_status status = wndl_types_strip(p->t, p->type, &p->type);
    *more = false;
    if (status != WNDL_OK)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    if (p->type->kind == WNDL_TYPE_ARRAY)
        return enter_array(p, more);
    if (p->type->kind == WNDL_TYPE_STRUCT || p->type->kind == WNDL_TYPE_UNION)
        return enter_struct(p, more);
    add_remainder(p);
    return WNDL_OK;
}

enum wndl_status wndl_types_path(struct wndl_types *types,
    const struct wndl_type *type, uint64_t offset, uint64_t size,
    struct wndl_buf *out)
{
    const size_t before = out->size;
    struct place p = {.t = types, .out = out, .type = type, .at = offset};
    bool more = true;
    enum wndl_status status = WNDL_OK;
    if (size == 0 || __builtin_add_overflow(offset, size, &p.end))
        return WNDL_NOT_FOUND;
    for (int i = 0; i < DEPTH_LIMIT && more && status == WNDL_OK; i++)
        status = step(&p, &more);
    if (out->failed)
        return WNDL_NOMEM;
    if (status != WNDL_OK)
        out->size = before;
    return status == WNDL_OK && out->size == before ? WNDL_NOT_FOUND : status;
}
