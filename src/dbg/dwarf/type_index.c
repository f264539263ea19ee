/* SPDX-License-Identifier: MIT */
/* Types by name: units are indexed one by one, as far as a search needs. */
#include "dbg/dwarf/type_die.h"

#include "base/status.h"

#include <string.h>

/* Deeper scopes have no names in the index. */
enum { SCOPE_LIMIT = 64 };

/* A walk over the scopes of a unit. */
struct walk {
    struct wndl_types *t;
    struct wndl_dw_type_unit *unit;
    struct wndl_buf name;        /* of the scope, with "::" at its end */
    size_t lengths[SCOPE_LIMIT]; /* of the names of outer scopes */
    unsigned depth;
};

static bool is_scope(uint32_t tag)
{
    return tag == WNDL_DW_TAG_NAMESPACE || tag == WNDL_DW_TAG_MODULE ||
           tag == WNDL_DW_TAG_STRUCT || tag == WNDL_DW_TAG_CLASS ||
           tag == WNDL_DW_TAG_UNION || tag == WNDL_DW_TAG_INTERFACE;
}

static bool is_tagged(uint32_t tag)
{
    return tag == WNDL_DW_TAG_STRUCT || tag == WNDL_DW_TAG_CLASS ||
           tag == WNDL_DW_TAG_UNION || tag == WNDL_DW_TAG_INTERFACE ||
           tag == WNDL_DW_TAG_ENUM;
}

static bool is_named_type(uint32_t tag)
{
    return is_tagged(tag) || tag == WNDL_DW_TAG_TYPEDEF ||
           tag == WNDL_DW_TAG_BASE;
}

/* ---- the index of a unit */

static enum wndl_status add_name(
    struct walk *w, const struct wndl_dw_type_at *die, uint32_t id)
{
    struct wndl_types *t = w->t;
    const bool is_complete =
        wndl_dw_type_number(die, WNDL_DW_T_DECLARATION, 0) == 0;
    uint64_t *name =
        wndl_map_put(&t->name_of, wndl_dw_type_key(w->unit, die->offset));
    if (name == NULL)
        return WNDL_NOMEM;
    *name = (uint64_t)id + 1;
    if (!is_complete || t->names.len >= UINT32_MAX - 1)
        return WNDL_OK;
    uint64_t *first = wndl_map_put(&t->by_name, id);
    struct wndl_dw_type_name *slot = wndl_vec_push(&t->names);
    if (first == NULL || slot == NULL)
        return WNDL_NOMEM;
    *slot = (struct wndl_dw_type_name){
        w->unit, die->offset, (uint32_t)*first, is_tagged(die->tag)};
    *first = t->names.len;
    return WNDL_OK;
}

/*
 * A type that was declared in a namespace may be defined outside of it, and
 * refers to its declaration. False: it does not.
 */
static bool declared_name(
    struct walk *w, const struct wndl_dw_type_at *die, uint32_t *id)
{
    struct wndl_dw_type_unit *unit;
    uint64_t offset;
    if (!wndl_dw_type_has(die, WNDL_DW_T_ORIGIN) ||
        wndl_dw_type_refer(w->t, w->unit, die->slots[WNDL_DW_T_ORIGIN], &unit,
            &offset) != WNDL_OK)
        return false;
    const uint64_t *known =
        wndl_map_get(&w->t->name_of, wndl_dw_type_key(unit, offset));
    if (known == NULL || *known == 0)
        return false;
    *id = (uint32_t)(*known - 1);
    return true;
}

/* Names the DIE. An anonymous namespace or struct adds nothing to names. */
static enum wndl_status name_die(
    struct walk *w, const struct wndl_dw_type_at *die, size_t *scope_length)
{
    struct wndl_bytes name;
    uint32_t id;
    const size_t length = w->name.size;
    *scope_length = length;
    enum wndl_status status = wndl_dw_type_name(die, &name);
    if (status != WNDL_OK || name.size == 0)
        return status;
    if (length == 0 && declared_name(w, die, &id))
        name = wndl_intern_get(&w->t->strings, id);
    wndl_buf_add(&w->name, name.data, name.size);
    if (w->name.failed)
        return WNDL_NOMEM;
    if (is_named_type(die->tag)) {
        const struct wndl_bytes whole = {w->name.data, w->name.size};
        status = wndl_intern_add(&w->t->strings, whole, &id)
                     ? add_name(w, die, id)
                     : WNDL_NOMEM;
    }
    wndl_buf_text(&w->name, "::");
    *scope_length = w->name.size;
    w->name.size = length;
    return w->name.failed ? WNDL_NOMEM : status;
}

static enum wndl_status walk_die(
    struct walk *w, const struct wndl_dw_type_at *die, struct wndl_cursor *c)
{
    size_t scope_length = w->name.size;
    enum wndl_status status = WNDL_OK;
    if (is_named_type(die->tag) || is_scope(die->tag))
        status = name_die(w, die, &scope_length);
    if (status != WNDL_OK)
        return status;
    if (!die->children || !is_scope(die->tag) || w->depth == SCOPE_LIMIT)
        return wndl_dw_skip_children(w->t, die, c);
    w->lengths[w->depth++] = w->name.size;
    w->name.size = scope_length;
    return WNDL_OK;
}

static enum wndl_status walk_unit(struct walk *w)
{
    struct wndl_dw_type_at die;
    struct wndl_cursor c = wndl_dw_type_cursor(w->unit, w->unit->unit->dies);
    enum wndl_status status = wndl_dw_read_type_die(w->t, w->unit, &c, &die);
    if (status != WNDL_OK || !die.children)
        return status;
    while (status == WNDL_OK && wndl_cursor_left(&c) > 0) {
        status = wndl_dw_read_type_die(w->t, w->unit, &c, &die);
        if (status == WNDL_OK && die.tag != 0)
            status = walk_die(w, &die, &c);
        else if (w->depth == 0)
            break;
        else
            w->name.size = w->lengths[--w->depth];
    }
    return status;
}

/* A damaged unit keeps the names that come before the damage. */
static enum wndl_status index_unit(
    struct wndl_types *t, struct wndl_dw_type_unit *unit)
{
    if (unit->is_indexed)
        return WNDL_OK;
    struct walk w = {.t = t, .unit = unit};
    wndl_buf_init(&w.name, t->mem);
    unit->is_indexed = true;
    enum wndl_status status = wndl_dw_type_lose(t, unit->d, walk_unit(&w));
    wndl_buf_free(&w.name);
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

/* ---- searches */

static bool look_up(const struct wndl_types *t, uint32_t id,
    const struct wndl_dw_type_unit *first, struct wndl_dw_type_name *found)
{
    const uint64_t *known = wndl_map_get(&t->by_name, id);
    const struct wndl_dw_type_name *best = NULL;
    for (uint64_t i = known == NULL ? 0 : *known; i != 0;) {
        const struct wndl_dw_type_name *at = wndl_vec_at(&t->names, i - 1);
        const bool is_near = at->unit == first;
        const bool best_is_near = best != NULL && best->unit == first;
        if (best == NULL || (is_near && !best_is_near) ||
            (is_near == best_is_near && at->is_tagged >= best->is_tagged))
            best = at;
        i = at->next;
    }
    if (best != NULL)
        *found = *best;
    return best != NULL;
}

/* Indexes one more unit. NOT_FOUND: there is none. */
static enum wndl_status index_next(struct wndl_types *t)
{
    struct wndl_dw_type_unit *unit;
    if (t->next_unit < t->d->units.len) {
        struct wndl_dwarf *d = t->d;
        struct wndl_dw_unit *of = wndl_dw_unit_at(d, t->next_unit++);
        enum wndl_status status = wndl_dw_find_code(&d, &of);
        if (status == WNDL_OK)
            status = wndl_dw_type_unit(t, d, of, &unit);
        if (status == WNDL_OK)
            status = index_unit(t, unit);
        return status == WNDL_NOMEM ? status : WNDL_OK;
    }
    enum wndl_status status = wndl_dw_load_type_units(t);
    if (status != WNDL_OK)
        return status;
    if (t->next_type_unit == t->type_units.len)
        return WNDL_NOT_FOUND;
    unit = *(struct wndl_dw_type_unit **)wndl_vec_at(
        &t->type_units, t->next_type_unit++);
    return index_unit(t, unit);
}

enum wndl_status wndl_dw_find_named(struct wndl_types *t,
    struct wndl_bytes name, struct wndl_dw_type_unit *first,
    struct wndl_dw_type_name *found)
{
    uint32_t id;
    enum wndl_status status = wndl_dw_load_headers(t->d);
    if (status == WNDL_NOMEM || !wndl_intern_add(&t->strings, name, &id))
        return WNDL_NOMEM;
    status = first == NULL ? WNDL_OK : index_unit(t, first);
    while (status == WNDL_OK) {
        if (look_up(t, id, first, found))
            return WNDL_OK;
        status = index_next(t);
    }
    return status;
}

enum wndl_status wndl_dw_qualified_name(struct wndl_types *t,
    struct wndl_dw_type_unit *unit, uint64_t offset, struct wndl_bytes *name)
{
    enum wndl_status status = index_unit(t, unit);
    if (status != WNDL_OK)
        return status;
    const uint64_t *id =
        wndl_map_get(&t->name_of, wndl_dw_type_key(unit, offset));
    if (id == NULL || *id == 0)
        return WNDL_NOT_FOUND;
    *name = wndl_intern_get(&t->strings, (uint32_t)(*id - 1));
    return WNDL_OK;
}

enum wndl_status wndl_dw_type_unit_at(
    struct wndl_types *t, uint64_t address, struct wndl_dw_type_unit **unit)
{
    struct wndl_dwarf *d = t->d;
    struct wndl_dw_unit *of;
    enum wndl_status status = wndl_dw_find_unit(d, address, true, &of);
    if (status == WNDL_OK)
        status = wndl_dw_find_code(&d, &of);
    return status == WNDL_OK ? wndl_dw_type_unit(t, d, of, unit) : status;
}
