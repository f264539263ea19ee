/* SPDX-License-Identifier: MIT */
#include "dbg/pdb/internal.h"

#include <string.h>

bool wndl_pdb_is(struct wndl_bytes file)
{
    return wndl_msf_is(file);
}

static void init(struct wndl_pdb *pdb)
{
    struct wndl_arena *arena = &pdb->arena;
    struct wndl_pdb_body *body = &pdb->body;
    wndl_arena_init(arena, pdb->mem);
    wndl_buf_init(&pdb->scratch, pdb->mem);
    wndl_buf_init(&pdb->text, pdb->mem);
    wndl_map_init(&pdb->files, arena);
    wndl_map_init(&pdb->imported, arena);
    wndl_map_init(&pdb->named, arena);
    wndl_vec_init(&pdb->sections, arena, sizeof(struct wndl_pdb_section));
    wndl_vec_init(
        &pdb->contributions, arena, sizeof(struct wndl_pdb_contribution));
    wndl_vec_init(&pdb->modules, arena, sizeof(struct wndl_pdb_module));
    wndl_vec_init(&pdb->frames, arena, sizeof(struct wndl_pdb_frame));
    wndl_vec_init(&body->sites, arena, sizeof(struct wndl_pdb_site));
    wndl_vec_init(&body->ranges, arena, sizeof(struct wndl_pdb_range));
    wndl_vec_init(&body->lines, arena, sizeof(struct wndl_pdb_line));
    wndl_vec_init(&body->scopes, arena, sizeof(int32_t));
    body->code_at = body->lines_at = UINT32_MAX;
}

enum wndl_status wndl_pdb_open(const struct wndl_pdb_source *source,
    struct wndl_mem *mem, struct wndl_pdb **out, struct wndl_error *err)
{
    *out = NULL;
    wndl_error_set_file(err, source->path);
    struct wndl_pdb *pdb = wndl_mem_zalloc(mem, sizeof *pdb);
    if (pdb == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the file's tables");
    pdb->in = *source;
    pdb->mem = mem;
    init(pdb);
    enum wndl_status status =
        wndl_intern_init(&pdb->names, &pdb->arena)
            ? wndl_pdb_read_tables(pdb, err)
            : wndl_fail(err, WNDL_NOMEM, "no memory for the file's tables");
    if (status != WNDL_OK) {
        wndl_pdb_close(pdb);
        return status;
    }
    *out = pdb;
    return WNDL_OK;
}

void wndl_pdb_close(struct wndl_pdb *pdb)
{
    if (pdb == NULL)
        return;
    for (size_t i = 0; i < pdb->modules.len; i++) {
        struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, i);
        wndl_msf_free(&module->piece, pdb->mem);
    }
    wndl_msf_free(&pdb->to_linked.piece, pdb->mem);
    wndl_msf_free(&pdb->from_linked.piece, pdb->mem);
    wndl_msf_free(&pdb->types.places, pdb->mem);
    wndl_msf_free(&pdb->ids.places, pdb->mem);
    wndl_msf_free(&pdb->publics.order, pdb->mem);
    wndl_msf_free(&pdb->publics.thunks, pdb->mem);
    wndl_buf_free(&pdb->scratch);
    wndl_buf_free(&pdb->text);
    wndl_arena_free(&pdb->arena);
    wndl_mem_free(pdb->mem, pdb);
}

const struct wndl_pdb_id *wndl_pdb_id(const struct wndl_pdb *pdb)
{
    return &pdb->id;
}

uint16_t wndl_pdb_machine(const struct wndl_pdb *pdb)
{
    return pdb->machine;
}

void wndl_pdb_get_stats(
    const struct wndl_pdb *pdb, struct wndl_pdb_stats *stats)
{
    *stats = pdb->stats;
}

uint32_t wndl_pdb_module_of(const struct wndl_pdb *pdb, uint64_t rva)
{
    const struct wndl_pdb_contribution *c =
        wndl_pdb_contribution_at(pdb, wndl_pdb_to_linked(pdb, rva));
    return c == NULL ? UINT32_MAX : c->module;
}

/* ---- names of code */

static enum wndl_status kept(bool done)
{
    return done ? WNDL_OK : WNDL_NOMEM;
}

/* Names procedures and thunks: their records have names of their own. */
static enum wndl_status name_plain(struct wndl_pdb *pdb,
    const struct wndl_cv_code *code, uint32_t start,
    struct wndl_pdb_names *names)
{
    struct wndl_bytes symbol = {0};
    uint32_t at;
    names->start = start;
    if (!wndl_pdb_intern(pdb, code->name, &names->name))
        return WNDL_NOMEM;
    if (!wndl_pdb_find_public(pdb, start, &at, &symbol) || at != start)
        symbol.size = 0;
    return kept(!pdb->scratch.failed &&
                wndl_pdb_intern(pdb, symbol, &names->linkage_name));
}

/* The name of the code at a place, if it is a procedure. */
static enum wndl_status name_place(struct wndl_pdb *pdb,
    struct wndl_cv_place place, struct wndl_pdb_names *names)
{
    struct wndl_cv_code code;
    uint16_t kind;
    uint32_t address = wndl_pdb_address(pdb, place);
    const struct wndl_pdb_contribution *c =
        wndl_pdb_contribution_at(pdb, address);
    if (c == NULL)
        return WNDL_OK;
    if (wndl_pdb_need_module(pdb, c->module) != WNDL_OK)
        return WNDL_NOMEM;
    const struct wndl_pdb_module *module =
        wndl_vec_at(&pdb->modules, c->module);
    const struct wndl_pdb_code *found = wndl_pdb_find_code(module, address);
    if (found == NULL || !wndl_pdb_code_at(module, found->at, &code, &kind) ||
        kind == WNDL_S_SEPCODE || kind == WNDL_S_TRAMPOLINE)
        return WNDL_OK;
    return name_plain(pdb, &code, found->start, names);
}

enum wndl_status wndl_pdb_name_code(struct wndl_pdb *pdb, uint32_t number,
    const struct wndl_pdb_code *at, struct wndl_pdb_names *names)
{
    struct wndl_cv_code code;
    uint16_t kind;
    const struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    struct wndl_bytes none = wndl_intern_get(&pdb->names, 0);
    *names = (struct wndl_pdb_names){none, none, false, at->start};
    if (!wndl_pdb_code_at(module, at->at, &code, &kind))
        return WNDL_OK;
    if (kind != WNDL_S_SEPCODE && kind != WNDL_S_TRAMPOLINE)
        return name_plain(pdb, &code, at->start, names);
    enum wndl_status status = name_place(pdb, code.other, names);
    names->is_thunk = kind == WNDL_S_TRAMPOLINE;
    if (names->is_thunk)
        names->start = at->start;
    return status;
}

/* ---- one address */

static struct wndl_pdb_frame *push_frame(struct wndl_pdb *pdb)
{
    struct wndl_pdb_frame *frame = wndl_vec_push(&pdb->frames);
    struct wndl_bytes none = wndl_intern_get(&pdb->names, 0);
    if (frame != NULL)
        *frame = (struct wndl_pdb_frame){
            .name = none, .linkage_name = none, .file = none};
    return frame;
}

/* The range of that depth around `address`, or NULL. */
static const struct wndl_pdb_range *range_at(
    const struct wndl_pdb_body *body, uint32_t depth, uint32_t address)
{
    const struct wndl_pdb_range *ranges = body->ranges.data;
    size_t low = 0;
    size_t high = body->ranges.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct wndl_pdb_range *range = &ranges[mid];
        if (range->depth < depth ||
            (range->depth == depth && range->start <= address))
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return NULL;
    const struct wndl_pdb_range *range = &ranges[low - 1];
    return range->depth == depth && address < range->end ? range : NULL;
}

/* The deepest one; those around it need not have a range there. */
static const struct wndl_pdb_range *innermost(
    const struct wndl_pdb_body *body, uint32_t address)
{
    if (body->ranges.len == 0)
        return NULL;
    const struct wndl_pdb_range *last =
        wndl_vec_at(&body->ranges, body->ranges.len - 1);
    for (uint32_t depth = last->depth + 1; depth-- > 0;) {
        const struct wndl_pdb_range *range = range_at(body, depth, address);
        if (range != NULL)
            return range;
    }
    return NULL;
}

static enum wndl_status add_inlined(struct wndl_pdb *pdb, uint32_t number,
    const struct wndl_pdb_site *site, const struct wndl_pdb_range *range)
{
    const struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    struct wndl_pdb_frame *frame = push_frame(pdb);
    if (frame == NULL)
        return WNDL_NOMEM;
    frame->inlined = true;
    frame->start = wndl_pdb_from_linked(pdb, site->start);
    frame->line = range == NULL ? 0 : range->line;
    return kept(
        wndl_pdb_inlinee_name(pdb, number, site->inlinee, &frame->name) &&
        (range == NULL ||
            wndl_pdb_file_name(pdb, module, range->file, &frame->file)));
}

static enum wndl_status add_chain(struct wndl_pdb *pdb, uint32_t number,
    const struct wndl_pdb_code *code, uint32_t address)
{
    const struct wndl_pdb_body *body = &pdb->body;
    enum wndl_status status = wndl_pdb_need_sites(pdb, number, code);
    if (status != WNDL_OK)
        return status;
    const struct wndl_pdb_range *range = innermost(body, address);
    int32_t at = range == NULL ? -1 : (int32_t)range->site;
    while (at >= 0 && status == WNDL_OK) {
        const struct wndl_pdb_site *site =
            wndl_vec_at(&body->sites, (size_t)at);
        range = range_at(body, site->depth, address);
        if (range != NULL && range->site != (uint32_t)at)
            range = NULL;
        status = add_inlined(pdb, number, site, range);
        at = site->parent;
    }
    return status;
}

static enum wndl_status add_line(struct wndl_pdb *pdb, uint32_t number,
    uint32_t address, struct wndl_pdb_frame *frame)
{
    const struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    const struct wndl_pdb_lines *lines = wndl_pdb_find_lines(module, address);
    if (lines == NULL)
        return WNDL_OK;
    enum wndl_status status = wndl_pdb_need_lines(pdb, number, lines);
    if (status != WNDL_OK)
        return status;
    ptrdiff_t i = wndl_pdb_last_before(&pdb->body.lines, address);
    if (i < 0)
        return WNDL_OK;
    const struct wndl_pdb_line *line = wndl_vec_at(&pdb->body.lines, (size_t)i);
    frame->line = line->line;
    frame->column = line->column;
    return kept(wndl_pdb_file_name(pdb, module, line->file, &frame->file));
}

static enum wndl_status add_function(struct wndl_pdb *pdb, uint32_t number,
    const struct wndl_pdb_code *code, uint32_t address)
{
    struct wndl_pdb_names names;
    struct wndl_pdb_frame *frame = push_frame(pdb);
    if (frame == NULL)
        return WNDL_NOMEM;
    enum wndl_status status = add_line(pdb, number, address, frame);
    if (status == WNDL_OK)
        status = wndl_pdb_name_code(pdb, number, code, &names);
    if (status != WNDL_OK)
        return status;
    frame->name = names.name;
    frame->linkage_name = names.linkage_name;
    frame->is_thunk = names.is_thunk;
    frame->start = wndl_pdb_from_linked(pdb, names.start);
    return WNDL_OK;
}

/* Looks in one module. NOT_FOUND when it has no code at the address. */
static enum wndl_status look_in_module(
    struct wndl_pdb *pdb, uint32_t number, uint32_t address)
{
    const struct wndl_pdb_code *found;
    enum wndl_status status = wndl_pdb_need_module(pdb, number);
    if (status == WNDL_OK)
        status = wndl_pdb_find_any_code(pdb, number, address, &found);
    if (status != WNDL_OK)
        return status;
    struct wndl_pdb_code code = *found;
    status = add_chain(pdb, number, &code, address);
    return status == WNDL_OK ? add_function(pdb, number, &code, address)
                             : status;
}

/* The linker's table of jumps to functions. */
static enum wndl_status look_in_thunks(struct wndl_pdb *pdb, uint32_t address)
{
    const struct wndl_pdb_publics *p = &pdb->publics;
    struct wndl_bytes name;
    uint32_t start;
    uint32_t index = p->thunk_count == 0 || address < p->thunks_start
                         ? UINT32_MAX
                         : (address - p->thunks_start) / p->thunk_size;
    if (index >= p->thunk_count)
        return WNDL_NOT_FOUND;
    struct wndl_cursor c =
        wndl_cursor_at(p->thunks.bytes, UINT64_C(4) * index, false);
    uint32_t target = wndl_cursor_u32(&c);
    if (!wndl_pdb_find_public(pdb, target, &start, &name) || start != target)
        return WNDL_NOT_FOUND;
    struct wndl_pdb_frame *frame = push_frame(pdb);
    if (frame == NULL || !wndl_pdb_intern(pdb, name, &frame->linkage_name))
        return WNDL_NOMEM;
    frame->is_thunk = true;
    frame->start =
        wndl_pdb_from_linked(pdb, p->thunks_start + index * p->thunk_size);
    return WNDL_OK;
}

/* A public symbol reaches to the end of its module's contribution. */
static enum wndl_status look_in_publics(struct wndl_pdb *pdb, uint32_t address)
{
    struct wndl_bytes name;
    uint32_t start;
    const struct wndl_pdb_contribution *c =
        wndl_pdb_contribution_at(pdb, address);
    if (!wndl_pdb_find_public(pdb, address, &start, &name) ||
        (c != NULL && start < c->start))
        return pdb->scratch.failed ? WNDL_NOMEM : WNDL_NOT_FOUND;
    struct wndl_pdb_frame *frame = push_frame(pdb);
    if (frame == NULL || !wndl_pdb_intern(pdb, name, &frame->linkage_name))
        return WNDL_NOMEM;
    frame->start = wndl_pdb_from_linked(pdb, start);
    return c == NULL ? WNDL_OK : add_line(pdb, c->module, address, frame);
}

enum wndl_status wndl_pdb_lookup(
    struct wndl_pdb *pdb, uint64_t rva, struct wndl_pdb_frames *frames)
{
    *frames = (struct wndl_pdb_frames){0};
    uint32_t address = wndl_pdb_to_linked(pdb, rva);
    if (address == (uint32_t)WNDL_PDB_NOWHERE)
        return WNDL_NOT_FOUND;
    pdb->frames.len = 0;
    const struct wndl_pdb_contribution *c =
        wndl_pdb_contribution_at(pdb, address);
    enum wndl_status status =
        c == NULL ? WNDL_NOT_FOUND : look_in_module(pdb, c->module, address);
    if (status == WNDL_NOT_FOUND)
        status = look_in_thunks(pdb, address);
    if (status == WNDL_NOT_FOUND)
        status = look_in_publics(pdb, address);
    if (status != WNDL_OK)
        return status;
    *frames = (struct wndl_pdb_frames){pdb->frames.data, pdb->frames.len};
    return WNDL_OK;
}
