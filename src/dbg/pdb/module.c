/* SPDX-License-Identifier: MIT */
/*
 * One module's stream: symbol records, then subsections of lines. Procedures
 * are skipped by the end in their records; body.c reads their insides.
 */
#include "dbg/pdb/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIGNATURE = 4,          /* both its value and its size */
    MOST_COPIED = 64 << 20, /* bytes of copied modules at a time */
    EXTRA_FILES = 1,        /* signature of lists of inlined functions */
    MOST_TOUCHED = 8 << 20, /* bytes of mapped modules at a time */
};

static void damage(
    struct wndl_pdb *pdb, uint32_t number, uint64_t at, const char *what)
{
    struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    char section[32];
    if (module->is_damaged)
        return;
    module->is_damaged = true;
    snprintf(section, sizeof section, "stream %u", module->stream);
    wndl_pdb_damage(pdb, WNDL_MALFORMED, section, at, what);
}

/* Frees copies of other modules when there are too many. */
static void make_room(struct wndl_pdb *pdb, uint64_t size)
{
    if (pdb->copied + size <= MOST_COPIED)
        return;
    for (size_t i = 0; i < pdb->modules.len; i++) {
        struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, i);
        if (module->piece.own != NULL)
            wndl_msf_free(&module->piece, pdb->mem);
    }
    pdb->copied = 0;
}

static enum wndl_status need_bytes(struct wndl_pdb *pdb, uint32_t number)
{
    struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    struct wndl_msf_stream stream = wndl_msf_stream(&pdb->msf, module->stream);
    if (module->piece.bytes.size != 0 || stream.size == 0)
        return WNDL_OK;
    make_room(pdb, stream.size);
    enum wndl_status status = wndl_msf_load(&pdb->msf, &stream,
        (struct wndl_msf_range){0, stream.size}, pdb->mem, &module->piece);
    if (module->piece.own != NULL)
        pdb->copied += stream.size;
    if (status == WNDL_TRUNCATED) {
        damage(pdb, number, 0, "blocks past the end of the file");
        module->stream = WNDL_MSF_NO_STREAM; /* not to be copied again */
    }
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

struct wndl_cursor wndl_pdb_symbols(
    const struct wndl_pdb_module *module, uint32_t at)
{
    struct wndl_bytes bytes = module->piece.bytes;
    if (bytes.size > module->symbols_size)
        bytes.size = module->symbols_size;
    return wndl_cursor_at(bytes, at, false);
}

struct wndl_bytes wndl_pdb_subsection(
    const struct wndl_pdb_module *module, uint32_t at, uint32_t size)
{
    return wndl_bytes_slice(module->piece.bytes, at, size);
}

bool wndl_pdb_code_at(const struct wndl_pdb_module *module, uint32_t at,
    struct wndl_cv_code *code, uint16_t *kind)
{
    struct wndl_cv_record record;
    struct wndl_cursor c = wndl_pdb_symbols(module, at);
    if (!wndl_cv_next(&c, &record))
        return false;
    *kind = record.kind;
    return wndl_cv_read_code(&record, code);
}

/* ---- lists */

static bool add_code(struct wndl_pdb *pdb, struct wndl_pdb_module *module,
    const struct wndl_cv_code *code, uint64_t at)
{
    uint32_t start = wndl_pdb_address(pdb, code->place);
    uint32_t end;
    if (start == (uint32_t)WNDL_PDB_NOWHERE || code->size == 0 ||
        __builtin_add_overflow(start, code->size, &end))
        return true;
    struct wndl_pdb_code *slot = wndl_vec_push(&module->code);
    if (slot != NULL)
        *slot = (struct wndl_pdb_code){start, end, (uint32_t)at};
    return slot != NULL;
}

static enum wndl_status list_code(
    struct wndl_pdb *pdb, uint32_t number, bool is_deep)
{
    struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    struct wndl_cursor c = wndl_pdb_symbols(module, SIGNATURE);
    struct wndl_cv_record record;
    while (wndl_cv_next(&c, &record)) {
        struct wndl_cv_code code;
        if (!wndl_cv_read_code(&record, &code))
            continue;
        if (!add_code(pdb, module, &code, record.at))
            return WNDL_NOMEM;
        uint64_t next = wndl_cursor_offset(&c);
        if (!is_deep && code.end > next)
            wndl_cursor_skip(&c, code.end - next);
    }
    if (c.failed && module->piece.bytes.size != 0)
        damage(pdb, number, wndl_cursor_offset(&c),
            "a symbol that reaches past the others");
    return WNDL_OK;
}

/* offset, section, flags, size, blocks of lines */
static bool add_lines(struct wndl_pdb *pdb, struct wndl_pdb_module *module,
    struct wndl_bytes body)
{
    struct wndl_cursor c = wndl_cursor_at(body, 0, false);
    struct wndl_cv_place place = {.offset = wndl_cursor_u32(&c)};
    place.section = wndl_cursor_u16(&c);
    wndl_cursor_skip(&c, 2);
    uint32_t size = wndl_cursor_u32(&c);
    uint32_t start = wndl_pdb_address(pdb, place);
    uint32_t end;
    if (c.failed || size == 0 || start == (uint32_t)WNDL_PDB_NOWHERE ||
        __builtin_add_overflow(start, size, &end))
        return true;
    struct wndl_pdb_lines *slot = wndl_vec_push(&module->lines);
    if (slot != NULL)
        *slot = (struct wndl_pdb_lines){start, end,
            (uint32_t)(body.data - module->piece.bytes.data),
            (uint32_t)body.size};
    return slot != NULL;
}

/* For each: id, file, line, and maybe more files. */
static bool add_inlinees(struct wndl_pdb_module *module, struct wndl_bytes body)
{
    struct wndl_cursor c = wndl_cursor_at(body, 0, false);
    uint32_t signature = wndl_cursor_u32(&c);
    while (wndl_cursor_left(&c) >= 12) {
        struct wndl_pdb_inlinee inlinee = {.id = wndl_cursor_u32(&c)};
        inlinee.file = wndl_cursor_u32(&c);
        inlinee.line = wndl_cursor_u32(&c);
        if (signature == EXTRA_FILES)
            wndl_cursor_skip(&c, 4 * (uint64_t)wndl_cursor_u32(&c));
        struct wndl_pdb_inlinee *slot = wndl_vec_push(&module->inlinees);
        if (slot == NULL)
            return false;
        *slot = inlinee;
    }
    return true;
}

static bool add_exports(struct wndl_pdb_module *module, struct wndl_bytes body)
{
    struct wndl_cursor c = wndl_cursor_at(body, 0, false);
    while (wndl_cursor_left(&c) >= 8) {
        struct wndl_pdb_export *slot = wndl_vec_push(&module->exports);
        if (slot == NULL)
            return false;
        slot->number = wndl_cursor_u32(&c);
        slot->id = wndl_cursor_u32(&c);
    }
    return true;
}

static bool add_subsection(struct wndl_pdb *pdb, struct wndl_pdb_module *module,
    uint32_t kind, struct wndl_bytes body)
{
    switch (kind) {
    case WNDL_CV_LINES:
        return add_lines(pdb, module, body);
    case WNDL_CV_INLINEE_LINES:
        return add_inlinees(module, body);
    case WNDL_CV_CHECKSUMS:
        module->checksums_at = (uint32_t)(body.data - module->piece.bytes.data);
        module->checksums_size = (uint32_t)body.size;
        return true;
    case WNDL_CV_IMPORTS:
        module->imports_at = (uint32_t)(body.data - module->piece.bytes.data);
        module->imports_size = (uint32_t)body.size;
        return true;
    case WNDL_CV_EXPORTS:
        return add_exports(module, body);
    default:
        return true;
    }
}

static enum wndl_status list_lines(struct wndl_pdb *pdb, uint32_t number)
{
    struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    struct wndl_bytes all =
        wndl_pdb_subsection(module, module->lines_at, module->lines_size);
    if (all.size != module->lines_size)
        damage(pdb, number, module->lines_at, "the lines are cut short");
    struct wndl_cursor c = wndl_cursor_at(all, 0, false);
    while (wndl_cursor_left(&c) >= 8) {
        uint32_t kind = wndl_cursor_u32(&c);
        uint32_t size = wndl_cursor_u32(&c);
        struct wndl_bytes body = {c.next, size};
        wndl_cursor_skip(&c, size);
        if (c.failed) {
            damage(pdb, number, module->lines_at + wndl_cursor_offset(&c),
                "a subsection that reaches past the others");
            break;
        }
        if (!add_subsection(pdb, module, kind, body))
            return WNDL_NOMEM;
        uint64_t padding = -(uint64_t)size & 3;
        if (padding <= wndl_cursor_left(&c))
            wndl_cursor_skip(&c, padding);
    }
    return WNDL_OK;
}

/* ---- order */

static int compare_code(const void *left, const void *right)
{
    const struct wndl_pdb_code *a = left;
    const struct wndl_pdb_code *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int compare_lines(const void *left, const void *right)
{
    const struct wndl_pdb_lines *a = left;
    const struct wndl_pdb_lines *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int compare_inlinees(const void *left, const void *right)
{
    const struct wndl_pdb_inlinee *a = left;
    const struct wndl_pdb_inlinee *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int compare_exports(const void *left, const void *right)
{
    const struct wndl_pdb_export *a = left;
    const struct wndl_pdb_export *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Sorts, and keeps the first of those that begin with the same number. */
static void put_in_order(
    struct wndl_vec *list, int (*compare)(const void *, const void *))
{
    size_t kept = 0;
    if (list->len > 1)
        qsort(list->data, list->len, list->element, compare);
    for (size_t i = 0; i < list->len; i++) {
        const uint32_t *key = wndl_vec_at(list, i);
        const uint32_t *last = kept == 0 ? NULL : wndl_vec_at(list, kept - 1);
        if (last != NULL && *last == *key)
            continue;
        if (kept != i)
            memcpy(wndl_vec_at(list, kept), key, list->element);
        kept++;
    }
    list->len = kept;
}

/* Listing a module reads all of it, and little of it again. */
static void release_pages_after(
    struct wndl_pdb *pdb, const struct wndl_pdb_module *module)
{
    if (module->piece.own != NULL || pdb->in.give_up == NULL)
        return;
    pdb->touched += module->piece.bytes.size;
    if (pdb->touched < MOST_TOUCHED)
        return;
    pdb->in.give_up(pdb->in.file);
    pdb->touched = 0;
}

enum wndl_status wndl_pdb_need_module(struct wndl_pdb *pdb, uint32_t number)
{
    struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    enum wndl_status status = need_bytes(pdb, number);
    if (status != WNDL_OK || module->is_listed)
        return status;
    wndl_vec_init(&module->code, &pdb->arena, sizeof(struct wndl_pdb_code));
    wndl_vec_init(&module->lines, &pdb->arena, sizeof(struct wndl_pdb_lines));
    wndl_vec_init(
        &module->inlinees, &pdb->arena, sizeof(struct wndl_pdb_inlinee));
    wndl_vec_init(
        &module->exports, &pdb->arena, sizeof(struct wndl_pdb_export));
    status = list_code(pdb, number, false);
    if (status == WNDL_OK)
        status = list_lines(pdb, number);
    put_in_order(&module->code, compare_code);
    put_in_order(&module->lines, compare_lines);
    put_in_order(&module->inlinees, compare_inlinees);
    put_in_order(&module->exports, compare_exports);
    module->is_listed = status == WNDL_OK;
    release_pages_after(pdb, module);
    return status;
}

const struct wndl_pdb_code *wndl_pdb_find_code(
    const struct wndl_pdb_module *module, uint32_t address)
{
    ptrdiff_t i = wndl_pdb_last_before(&module->code, address);
    if (i < 0)
        return NULL;
    const struct wndl_pdb_code *code = wndl_vec_at(&module->code, (size_t)i);
    return address < code->end ? code : NULL;
}

const struct wndl_pdb_lines *wndl_pdb_find_lines(
    const struct wndl_pdb_module *module, uint32_t address)
{
    ptrdiff_t i = wndl_pdb_last_before(&module->lines, address);
    if (i < 0)
        return NULL;
    const struct wndl_pdb_lines *lines = wndl_vec_at(&module->lines, (size_t)i);
    return address < lines->end ? lines : NULL;
}

enum wndl_status wndl_pdb_find_any_code(struct wndl_pdb *pdb, uint32_t number,
    uint32_t address, const struct wndl_pdb_code **code)
{
    struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, number);
    *code = wndl_pdb_find_code(module, address);
    if (*code == NULL && !module->is_deep) {
        module->code.len = 0;
        if (list_code(pdb, number, true) != WNDL_OK)
            return WNDL_NOMEM;
        put_in_order(&module->code, compare_code);
        module->is_deep = true;
        *code = wndl_pdb_find_code(module, address);
    }
    return *code == NULL ? WNDL_NOT_FOUND : WNDL_OK;
}

const struct wndl_pdb_inlinee *wndl_pdb_find_inlinee(
    const struct wndl_pdb_module *module, uint32_t id)
{
    ptrdiff_t i = wndl_pdb_last_before(&module->inlinees, id);
    if (i < 0)
        return NULL;
    const struct wndl_pdb_inlinee *inlinee =
        wndl_vec_at(&module->inlinees, (size_t)i);
    return inlinee->id == id ? inlinee : NULL;
}
