/* SPDX-License-Identifier: MIT */
/* The contents of one function: the tree of inlined calls, and lines. */
#include "dbg/pdb/internal.h"

#include <stdlib.h>

enum {
    DEEPEST = 1024,         /* nesting of scopes that we follow */
    HAVE_COLUMNS = 1,       /* flag of lines */
    HIDDEN_FROM = 0xf00f00, /* lines that debuggers step over: */
    HIDDEN_ALSO = 0xfeefee, /* lines without a place in the source */
};

/* ---- inlined calls */

struct reading {
    struct wndl_pdb *pdb;
    const struct wndl_pdb_module *module;
    const struct wndl_pdb_code *code;
};

/* Values for a scope that is in no inlined call. */
enum { IN_FUNCTION = -1, IN_OTHERS = -2 };

static int32_t current_site(const struct wndl_pdb_body *body)
{
    return body->scopes.len == 0
               ? IN_FUNCTION
               : *(int32_t *)wndl_vec_at(&body->scopes, body->scopes.len - 1);
}

static bool add_range(struct reading *r, uint32_t site,
    const struct wndl_cv_inline_range *from,
    const struct wndl_pdb_inlinee *inlinee)
{
    struct wndl_pdb_body *body = &r->pdb->body;
    struct wndl_pdb_site *owner = wndl_vec_at(&body->sites, site);
    uint32_t size = r->code->end - r->code->start;
    if (from->start >= size)
        return true;
    struct wndl_pdb_range *range = wndl_vec_push(&body->ranges);
    if (range == NULL)
        return false;
    *range = (struct wndl_pdb_range){
        .start = r->code->start + from->start,
        .end = r->code->start + (from->end < size ? from->end : size),
        .depth = owner->depth,
        .site = site,
        .line = inlinee == NULL ? 0 : inlinee->line + (uint32_t)from->line,
        .file = from->file != UINT32_MAX ? from->file
                : inlinee == NULL        ? UINT32_MAX
                                         : inlinee->file,
    };
    if (range->start < owner->start)
        owner->start = range->start;
    return true;
}

static bool add_site(
    struct reading *r, const struct wndl_cv_inline_site *from, int32_t *number)
{
    struct wndl_pdb_body *body = &r->pdb->body;
    struct wndl_cv_annotations annotations;
    struct wndl_cv_inline_range range;
    int32_t parent = current_site(body);
    uint32_t index = (uint32_t)body->sites.len;
    struct wndl_pdb_site *site = wndl_vec_push(&body->sites);
    if (site == NULL)
        return false;
    *site = (struct wndl_pdb_site){parent, 0, from->inlinee, UINT32_MAX};
    if (parent >= 0)
        site->depth = 1 + ((struct wndl_pdb_site *)wndl_vec_at(
                               &body->sites, (size_t)parent))
                              ->depth;
    *number = (int32_t)index;
    const struct wndl_pdb_inlinee *inlinee =
        wndl_pdb_find_inlinee(r->module, from->inlinee);
    wndl_cv_annotations_start(&annotations, from->annotations);
    while (wndl_cv_annotations_next(&annotations, &range))
        if (!add_range(r, index, &range, inlinee))
            return false;
    return true;
}

/*
 * Code inside of this code has its contents to itself, and its inlined calls
 * count from its own start. False when memory is out.
 */
static bool enter_scope(struct reading *r, const struct wndl_cv_record *record)
{
    struct wndl_pdb_body *body = &r->pdb->body;
    struct wndl_cv_inline_site from;
    struct wndl_cv_code code;
    int32_t site = current_site(body);
    if (site == IN_OTHERS || wndl_cv_read_code(record, &code))
        site = IN_OTHERS;
    else if (wndl_cv_read_inline_site(record, &from) &&
             !add_site(r, &from, &site))
        return false;
    int32_t *scope = wndl_vec_push(&body->scopes);
    if (scope != NULL)
        *scope = site;
    return scope != NULL;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct wndl_pdb_range *a = left;
    const struct wndl_pdb_range *b = right;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

/* All records up to the one that ends the function's own scope. */
static enum wndl_status read_sites(struct reading *r)
{
    struct wndl_pdb_body *body = &r->pdb->body;
    struct wndl_cv_record record;
    struct wndl_cursor c = wndl_pdb_symbols(r->module, r->code->at);
    if (!wndl_cv_next(&c, &record) || !wndl_cv_opens_scope(record.kind))
        return WNDL_OK;
    while (wndl_cv_next(&c, &record)) {
        if (wndl_cv_closes_scope(record.kind)) {
            if (body->scopes.len == 0)
                break;
            body->scopes.len--;
        } else if (wndl_cv_opens_scope(record.kind)) {
            if (body->scopes.len == DEEPEST)
                break;
            if (!enter_scope(r, &record))
                return WNDL_NOMEM;
        }
    }
    body->code_size = wndl_cursor_offset(&c) - r->code->at;
    if (body->ranges.len > 1)
        qsort(body->ranges.data, body->ranges.len,
            sizeof(struct wndl_pdb_range), compare_ranges);
    return WNDL_OK;
}

enum wndl_status wndl_pdb_need_sites(
    struct wndl_pdb *pdb, uint32_t number, const struct wndl_pdb_code *code)
{
    struct wndl_pdb_body *body = &pdb->body;
    struct reading r = {pdb, wndl_vec_at(&pdb->modules, number), code};
    if (body->code_at == code->at && body->code_module == number)
        return WNDL_OK;
    body->sites.len = body->ranges.len = body->scopes.len = 0;
    body->code_size = 0;
    body->code_at = UINT32_MAX;
    enum wndl_status status = read_sites(&r);
    if (status != WNDL_OK)
        return status;
    body->code_at = code->at;
    body->code_module = number;
    return WNDL_OK;
}

/* ---- lines */

static bool is_hidden(uint32_t line)
{
    return line == HIDDEN_FROM || line == HIDDEN_ALSO;
}

struct block {
    uint32_t start; /* base of the offsets */
    uint32_t file;
    struct wndl_cursor lines;
    struct wndl_cursor columns;
};

static bool add_block(struct wndl_vec *list, struct block *block)
{
    while (wndl_cursor_left(&block->lines) >= 8) {
        uint32_t offset = wndl_cursor_u32(&block->lines);
        uint32_t line = wndl_cursor_u32(&block->lines) & 0xffffff;
        uint16_t column = wndl_cursor_u16(&block->columns);
        wndl_cursor_skip(&block->columns, 2);
        struct wndl_pdb_line *slot = wndl_vec_push(list);
        if (slot == NULL)
            return false;
        *slot = (struct wndl_pdb_line){block->start + offset,
            is_hidden(line) ? 0 : line, block->file, column};
    }
    return true;
}

static int compare_lines(const void *left, const void *right)
{
    const struct wndl_pdb_line *a = left;
    const struct wndl_pdb_line *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* They are usually in order; equal ones must keep it. */
static void sort_lines(struct wndl_vec *list)
{
    struct wndl_pdb_line *lines = list->data;
    for (size_t i = 1; i < list->len; i++) {
        if (lines[i - 1].start <= lines[i].start)
            continue;
        qsort(lines, list->len, sizeof *lines, compare_lines);
        return;
    }
}

/* For each block: file, number of lines, bytes of the block. */
static enum wndl_status read_lines(
    struct wndl_vec *list, struct wndl_bytes body, uint32_t start)
{
    struct wndl_cursor c = wndl_cursor_at(body, 6, false);
    bool has_columns = (wndl_cursor_u16(&c) & HAVE_COLUMNS) != 0;
    wndl_cursor_skip(&c, 4);
    while (wndl_cursor_left(&c) >= 12) {
        struct block block = {.start = start, .file = wndl_cursor_u32(&c)};
        uint64_t count = wndl_cursor_u32(&c);
        uint32_t size = wndl_cursor_u32(&c);
        if (size < 12)
            break;
        struct wndl_cursor inside = wndl_cursor_sub(&c, size - 12);
        block.lines = wndl_cursor_sub(&inside, 8 * count);
        block.columns = inside;
        if (!has_columns)
            wndl_cursor_fail(&block.columns);
        if (!block.lines.failed && !add_block(list, &block))
            return WNDL_NOMEM;
    }
    sort_lines(list);
    return WNDL_OK;
}

enum wndl_status wndl_pdb_need_lines(
    struct wndl_pdb *pdb, uint32_t number, const struct wndl_pdb_lines *lines)
{
    struct wndl_pdb_body *body = &pdb->body;
    const struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    if (body->lines_at == lines->at && body->lines_module == number)
        return WNDL_OK;
    body->lines.len = 0;
    body->lines_at = UINT32_MAX;
    enum wndl_status status = read_lines(&body->lines,
        wndl_pdb_subsection(module, lines->at, lines->size), lines->start);
    if (status != WNDL_OK)
        return status;
    body->lines_at = lines->at;
    body->lines_module = number;
    return WNDL_OK;
}
