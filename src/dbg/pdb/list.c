/* SPDX-License-Identifier: MIT */
/* All functions; and all places in code where answers may change. */
#include "dbg/pdb/internal.h"

static enum wndl_status visit_module(
    struct wndl_pdb *pdb, uint32_t number, wndl_pdb_visit visit, void *context)
{
    struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    struct wndl_pdb_names names;
    enum wndl_status status = wndl_pdb_need_module(pdb, number);
    for (size_t i = 0; status == WNDL_OK && i < module->code.len; i++) {
        struct wndl_pdb_code code =
            *(struct wndl_pdb_code *)wndl_vec_at(&module->code, i);
        uint32_t start = wndl_pdb_from_linked(pdb, code.start);
        /* The search for a name may have loaded another module. */
        status = wndl_pdb_need_module(pdb, number);
        if (status == WNDL_OK)
            status = wndl_pdb_name_code(pdb, number, &code, &names);
        if (status != WNDL_OK || start == (uint32_t)WNDL_PDB_NOWHERE)
            continue;
        const struct wndl_pdb_function function = {
            .name = names.name,
            .linkage_name = names.linkage_name,
            .is_thunk = names.is_thunk,
            .rva = start,
            .size = code.end - code.start,
        };
        status = visit(context, &function);
    }
    return status;
}

enum wndl_status wndl_pdb_visit_functions(
    struct wndl_pdb *pdb, wndl_pdb_visit visit, void *context)
{
    enum wndl_status status = WNDL_OK;
    for (uint32_t i = 0; i < pdb->modules.len && status == WNDL_OK; i++)
        status = visit_module(pdb, i, visit, context);
    return status;
}

enum wndl_status wndl_pdb_visit_publics(
    struct wndl_pdb *pdb, wndl_pdb_visit visit, void *context)
{
    enum wndl_status status = WNDL_OK;
    uint64_t left = pdb->publics.records.size;
    for (size_t i = 0; i < pdb->publics.count && status == WNDL_OK; i++) {
        struct wndl_cv_public symbol;
        uint32_t address;
        struct wndl_pdb_function function = {
            .name = wndl_intern_get(&pdb->names, 0)};
        if (!wndl_pdb_public_at(pdb, i, &symbol, &address))
            continue;
        if (symbol.name.size > left) {
            wndl_pdb_damage(pdb, WNDL_MALFORMED, "publics", 4 * i,
                "symbols that share a record");
            break;
        }
        left -= symbol.name.size;
        function.rva = wndl_pdb_from_linked(pdb, address);
        if (!wndl_pdb_intern(pdb, symbol.name, &function.linkage_name))
            return WNDL_NOMEM;
        if (function.rva != (uint32_t)WNDL_PDB_NOWHERE)
            status = visit(context, &function);
    }
    return status;
}

/* ---- changes */

/*
 * Each place takes at least a byte of the file. Any more are repetitions, by
 * code that is recorded as moved to many places.
 */
struct places {
    struct wndl_pdb_stretch within;
    struct wndl_vec *rvas;
    size_t most;
};

static bool is_full(const struct places *p)
{
    return p->rvas->len >= p->most;
}

static bool add_place(const struct places *p, uint32_t address)
{
    uint64_t distance = (uint64_t)address - p->within.other;
    if (address < p->within.other ||
        distance >= p->within.end - p->within.start || is_full(p))
        return true;
    uint64_t *slot = wndl_vec_push(p->rvas);
    if (slot != NULL)
        *slot = p->within.start + distance;
    return slot != NULL;
}

static uint64_t last_of(const struct places *p)
{
    return p->within.other + (p->within.end - p->within.start);
}

static size_t first_in(const struct wndl_vec *list, const struct places *p)
{
    ptrdiff_t i = wndl_pdb_last_before(list, p->within.other);
    return i < 0 ? 0 : (size_t)i;
}

static enum wndl_status add_lines(
    struct wndl_pdb *pdb, uint32_t number, const struct places *p)
{
    const struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    for (size_t i = first_in(&module->lines, p); i < module->lines.len; i++) {
        const struct wndl_pdb_lines *lines = wndl_vec_at(&module->lines, i);
        if (lines->start >= last_of(p))
            break;
        if (!add_place(p, lines->start) || !add_place(p, lines->end) ||
            wndl_pdb_need_lines(pdb, number, lines) != WNDL_OK)
            return WNDL_NOMEM;
        pdb->searched += lines->size;
        for (size_t k = 0; k < pdb->body.lines.len; k++) {
            const struct wndl_pdb_line *line = wndl_vec_at(&pdb->body.lines, k);
            if (!add_place(p, line->start))
                return WNDL_NOMEM;
        }
    }
    return WNDL_OK;
}

static enum wndl_status add_code(
    struct wndl_pdb *pdb, uint32_t number, const struct places *p)
{
    const struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    for (size_t i = first_in(&module->code, p); i < module->code.len; i++) {
        const struct wndl_pdb_code *code = wndl_vec_at(&module->code, i);
        if (code->start >= last_of(p))
            break;
        if (!add_place(p, code->start) || !add_place(p, code->end) ||
            wndl_pdb_need_sites(pdb, number, code) != WNDL_OK)
            return WNDL_NOMEM;
        pdb->searched += pdb->body.code_size;
        for (size_t k = 0; k < pdb->body.ranges.len; k++) {
            const struct wndl_pdb_range *range =
                wndl_vec_at(&pdb->body.ranges, k);
            if (!add_place(p, range->start) || !add_place(p, range->end))
                return WNDL_NOMEM;
        }
    }
    return WNDL_OK;
}

static enum wndl_status add_publics(
    struct wndl_pdb *pdb, const struct places *p)
{
    size_t low = 0;
    size_t high = pdb->publics.count;
    struct wndl_cv_public symbol;
    uint32_t address;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (wndl_pdb_public_at(pdb, mid, &symbol, &address) &&
            address < p->within.other)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < pdb->publics.count; low++) {
        if (!wndl_pdb_public_at(pdb, low, &symbol, &address))
            continue;
        if (address >= last_of(p))
            break;
        if (!add_place(p, address))
            return WNDL_NOMEM;
    }
    return pdb->scratch.failed ? WNDL_NOMEM : WNDL_OK;
}

/*
 * Adds a module once for each stretch, however many contributions it has there.
 */
static enum wndl_status add_module(
    struct wndl_pdb *pdb, uint32_t number, const struct places *p)
{
    struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    if (module->stretch == pdb->stretches)
        return WNDL_OK;
    module->stretch = pdb->stretches;
    if (wndl_pdb_need_module(pdb, number) != WNDL_OK)
        return WNDL_NOMEM;
    enum wndl_status status = add_code(pdb, number, p);
    return status == WNDL_OK ? add_lines(pdb, number, p) : status;
}

static enum wndl_status add_stretch(
    struct wndl_pdb *pdb, const struct places *p)
{
    enum wndl_status status = WNDL_OK;
    pdb->stretches++;
    if (p->within.other == (uint32_t)WNDL_PDB_NOWHERE)
        return WNDL_OK;
    if (!add_place(p, p->within.other))
        return WNDL_NOMEM;
    const struct wndl_vec *list = &pdb->contributions;
    for (size_t i = first_in(list, p); i < list->len && status == WNDL_OK;
         i++) {
        const struct wndl_pdb_contribution *c = wndl_vec_at(list, i);
        if (c->start >= last_of(p))
            break;
        if (c->end <= p->within.other)
            continue;
        if (!add_place(p, c->start) || !add_place(p, c->end))
            return WNDL_NOMEM;
        status = add_module(pdb, c->module, p);
    }
    return status == WNDL_OK ? add_publics(pdb, p) : status;
}

/*
 * A function that was moved in pieces is searched for each of them. Tools make
 * some dozens of pieces.
 */
static uint64_t most_searched(const struct wndl_pdb *pdb)
{
    enum { PIECES = 64 };
    return PIECES * (uint64_t)pdb->in.file.size;
}

enum wndl_status wndl_pdb_changes(
    struct wndl_pdb *pdb, uint64_t start, uint64_t end, struct wndl_vec *rvas)
{
    enum wndl_status status = WNDL_OK;
    struct places p = {.rvas = rvas, .most = rvas->len + pdb->in.file.size};
    while (start < end && status == WNDL_OK && !is_full(&p) &&
           pdb->searched <= most_searched(pdb)) {
        p.within = wndl_pdb_stretch_at(pdb, start, end);
        status = add_stretch(pdb, &p);
        start = p.within.end;
    }
    if (is_full(&p) || pdb->searched > most_searched(pdb))
        wndl_pdb_damage(pdb, WNDL_MALFORMED, "OMAP", 0,
            "the same code was moved to too many places");
    return status;
}
