/* SPDX-License-Identifier: MIT */
/* The pointers that code could keep a new block in. */
#include "dbg/dwarf/type_die.h"

#include "base/status.h"

enum { ORIGIN_LIMIT = 16 };

struct scope {
    struct wndl_types *t;
    struct wndl_dw_type_unit *unit; /* of the function */
    struct wndl_dw_unit *dw_unit;
    uint64_t address;
    struct wndl_vec *pointers;
    uint64_t depth;                     /* of the next DIE */
    uint32_t calls;                     /* inlined ones around it */
    uint64_t ends[WNDL_DW_CHAIN_LIMIT]; /* depth of each such call */
};

/* Follows origins to the DIE with a type. NOT_FOUND: there is none. */
static enum wndl_status typed_die(
    struct scope *s, struct wndl_dw_type_at *die, uint32_t *line)
{
    enum wndl_status status = WNDL_OK;
    for (int i = 0; i < ORIGIN_LIMIT && status == WNDL_OK; i++) {
        struct wndl_dw_type_unit *unit;
        uint64_t offset;
        if (*line == 0)
            *line = (uint32_t)wndl_dw_type_number(die, WNDL_DW_T_LINE, 0);
        if (wndl_dw_type_has(die, WNDL_DW_T_TYPE))
            return WNDL_OK;
        if (!wndl_dw_type_has(die, WNDL_DW_T_ORIGIN))
            return WNDL_NOT_FOUND;
        struct wndl_dw_type_unit *from = die->unit;
        status = wndl_dw_type_refer(
            s->t, from, die->slots[WNDL_DW_T_ORIGIN], &unit, &offset);
        if (status == WNDL_OK) {
            struct wndl_cursor c = wndl_dw_type_cursor(unit, offset);
            status = wndl_dw_read_type_die(s->t, unit, &c, die);
            from = unit;
        }
        status = wndl_dw_type_lose(s->t, from->d, status);
    }
    return status == WNDL_OK ? WNDL_NOT_FOUND : status;
}

static enum wndl_status add_pointer(
    struct scope *s, const struct wndl_dw_type_at *die)
{
    struct wndl_types *t = s->t;
    struct wndl_dw_type_at typed = *die;
    struct wndl_type_pointer found = {.depth = s->calls};
    const struct wndl_type *type, *stripped;
    enum wndl_status status = typed_die(s, &typed, &found.line);
    if (status == WNDL_OK)
        status = wndl_dw_type_in(t, &typed, &type);
    if (status == WNDL_OK)
        status = wndl_types_strip(t, type, &stripped);
    if (status != WNDL_OK || stripped->kind != WNDL_TYPE_POINTER)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    status = wndl_types_target(t, stripped, &found.named);
    if (status == WNDL_OK)
        status = wndl_types_strip(t, found.named, &found.target);
    if (status != WNDL_OK)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    struct wndl_type_pointer *slot = wndl_vec_push(s->pointers);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = found;
    return WNDL_OK;
}

/* Whether the inlined call at `offset` has the address. */
static enum wndl_status covers(struct scope *s, uint64_t offset, bool *is_here)
{
    struct wndl_dwarf *d = s->unit->d;
    struct wndl_dw_die die;
    struct wndl_cursor c = wndl_dw_cursor_at(d, s->dw_unit, offset);
    *is_here = false;
    enum wndl_status status = wndl_dw_read_die(d, s->dw_unit, &c, &die);
    d->ranges.len = 0;
    if (status == WNDL_OK)
        status = wndl_dw_add_ranges(d, s->dw_unit, &die, 0);
    for (size_t i = 0; status == WNDL_OK && i < d->ranges.len; i++) {
        const struct wndl_dw_range *range = wndl_vec_at(&d->ranges, i);
        *is_here |= range->start <= s->address && s->address < range->end;
    }
    return status;
}

static enum wndl_status enter_call(
    struct scope *s, const struct wndl_dw_type_at *die, struct wndl_cursor *c)
{
    bool is_here;
    enum wndl_status status = covers(s, die->offset, &is_here);
    if (status != WNDL_OK)
        return status;
    if (!is_here || !die->children || s->calls == WNDL_DW_CHAIN_LIMIT)
        return wndl_dw_skip_children(s->t, die, c);
    s->ends[s->calls++] = s->depth++;
    return add_pointer(s, die);
}

static enum wndl_status step(struct scope *s, struct wndl_cursor *c)
{
    struct wndl_dw_type_at die;
    enum wndl_status status = wndl_dw_read_type_die(s->t, s->unit, c, &die);
    if (status != WNDL_OK)
        return status;
    switch (die.tag) {
    case 0:
        s->depth--;
        if (s->calls != 0 && s->ends[s->calls - 1] == s->depth)
            s->calls--;
        return WNDL_OK;
    case WNDL_DW_TAG_VARIABLE:
    case WNDL_DW_TAG_PARAMETER:
        status = add_pointer(s, &die);
        break;
    case WNDL_DW_TAG_BLOCK:
        s->depth += die.children;
        return WNDL_OK;
    case WNDL_DW_TAG_INLINED:
        return enter_call(s, &die, c);
    default:
        break;
    }
    return status == WNDL_OK ? wndl_dw_skip_children(s->t, &die, c) : status;
}

static enum wndl_status walk_function(struct scope *s, uint64_t function)
{
    struct wndl_dw_type_at die;
    struct wndl_cursor c = wndl_dw_type_cursor(s->unit, function);
    enum wndl_status status = wndl_dw_read_type_die(s->t, s->unit, &c, &die);
    if (status == WNDL_OK)
        status = add_pointer(s, &die);
    s->depth = status == WNDL_OK && die.children ? 1 : 0;
    while (status == WNDL_OK && s->depth > 0 && wndl_cursor_left(&c) > 0)
        status = step(s, &c);
    return wndl_dw_type_lose(s->t, s->unit->d, status);
}

enum wndl_status wndl_types_pointers_at(
    struct wndl_types *types, wndl_svma code, struct wndl_vec *pointers)
{
    struct wndl_dwarf *d = types->d;
    struct wndl_dw_func *func;
    struct scope s = {.t = types, .address = code.v, .pointers = pointers};
    enum wndl_status status = wndl_dw_find_unit(d, code.v, true, &s.dw_unit);
    if (status == WNDL_OK)
        status = wndl_dw_find_code(&d, &s.dw_unit);
    if (status == WNDL_OK)
        status = wndl_dw_lose_if_damaged(
            d, s.dw_unit, wndl_dw_find_func(d, s.dw_unit, code.v, &func));
    if (status == WNDL_OK)
        status = wndl_dw_type_unit(types, d, s.dw_unit, &s.unit);
    if (status != WNDL_OK)
        return status;
    status = walk_function(&s, func->die);
    return status == WNDL_NOMEM ? status : WNDL_OK;
}
