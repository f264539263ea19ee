/* SPDX-License-Identifier: MIT */
/*
 * The tables of the file: its identity (stream 1), modules and the places of
 * their code (stream 3, "DBI"), and the streams that these name.
 */
#include "dbg/pdb/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    STREAM_INFO = 1,
    STREAM_TYPES = 2,
    STREAM_DBI = 3,
    STREAM_IDS = 4,
};

enum { DBI_HEADER = 64, MODULE_HEADER = 64, SECTION_HEADER = 40 };

/* The most sections that an image may have. */
enum { MOST_SECTIONS = 256 };

/* The sizes of the parts of DBI, in their order. */
struct dbi {
    uint16_t publics;
    uint16_t records;
    uint32_t modules_size;
    uint32_t contributions_size;
    uint32_t skipped[4];
    uint32_t streams_size; /* numbers of more streams */
};

/* The streams that we use, by their index in that list. */
enum {
    FPO = 0,
    TO_LINKED = 3,
    FROM_LINKED = 4,
    SECTIONS = 5,
    FRAME_DATA = 9,
    OLD_SECTIONS = 10,
};

/* Flags of contributions and of sections. */
enum { CODE = 0x20, EXECUTE = 0x20000000 };

struct opening {
    struct wndl_pdb *pdb;
    struct wndl_msf_piece dbi;
    struct dbi header;
    struct wndl_error *err;
};

static enum wndl_status no_memory(struct opening *o)
{
    return wndl_fail(o->err, WNDL_NOMEM, "no memory for the file's tables");
}

static enum wndl_status load_all(
    const struct wndl_pdb *pdb, uint32_t number, struct wndl_msf_piece *piece)
{
    struct wndl_msf_stream stream = wndl_msf_stream(&pdb->msf, number);
    return wndl_msf_load(&pdb->msf, &stream,
        (struct wndl_msf_range){0, stream.size}, pdb->mem, piece);
}

/* ---- stream 1 */

/*
 * The strings, then a hash table of their offsets and streams. Any number of
 * entries may have one string, so no more of it is read than is compared.
 */
static uint32_t find_named(struct wndl_cursor c, const char *name)
{
    size_t size = strlen(name) + 1;
    uint32_t strings_size = wndl_cursor_u32(&c);
    struct wndl_bytes strings = {c.next, strings_size};
    wndl_cursor_skip(&c, strings_size);
    uint32_t count = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 4);
    wndl_cursor_skip(&c, 4 * (uint64_t)wndl_cursor_u32(&c));
    wndl_cursor_skip(&c, 4 * (uint64_t)wndl_cursor_u32(&c));
    for (uint32_t i = 0; i < count && !c.failed; i++) {
        uint32_t at = wndl_cursor_u32(&c);
        uint32_t stream = wndl_cursor_u32(&c);
        struct wndl_bytes found = wndl_bytes_slice(strings, at, size);
        if (!c.failed && found.data != NULL &&
            memcmp(found.data, name, size) == 0)
            return stream;
    }
    return WNDL_MSF_NO_STREAM;
}

/* version, signature, age, guid, named streams */
static enum wndl_status read_info(struct opening *o)
{
    struct wndl_pdb *pdb = o->pdb;
    struct wndl_msf_piece piece;
    enum wndl_status status = load_all(pdb, STREAM_INFO, &piece);
    if (status == WNDL_NOMEM)
        return no_memory(o);
    struct wndl_cursor c = wndl_cursor_at(piece.bytes, 8, false);
    pdb->id.age = wndl_cursor_u32(&c);
    const uint8_t *guid = wndl_cursor_take(&c, sizeof pdb->id.guid);
    if (guid != NULL) {
        memcpy(pdb->id.guid, guid, sizeof pdb->id.guid);
        pdb->strings = wndl_msf_stream(&pdb->msf, find_named(c, "/names"));
    }
    wndl_msf_free(&piece, pdb->mem);
    return guid != NULL ? WNDL_OK
                        : wndl_fail_at(o->err, WNDL_TRUNCATED, "stream 1", 0,
                              "the file does not name its binary");
}

/* ---- DBI */

static enum wndl_status read_dbi_header(struct opening *o)
{
    struct wndl_cursor c = wndl_cursor_at(o->dbi.bytes, 4, false);
    struct dbi *h = &o->header;
    wndl_cursor_skip(&c, 4);
    o->pdb->id.age = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 4);
    h->publics = wndl_cursor_u16(&c);
    wndl_cursor_skip(&c, 2);
    h->records = wndl_cursor_u16(&c);
    wndl_cursor_skip(&c, 2);
    h->modules_size = wndl_cursor_u32(&c);
    h->contributions_size = wndl_cursor_u32(&c);
    for (size_t i = 0; i < 3; i++)
        h->skipped[i] = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 4);
    h->streams_size = wndl_cursor_u32(&c);
    h->skipped[3] = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 2);
    o->pdb->machine = wndl_cursor_u16(&c);
    wndl_cursor_skip(&c, 4);
    if (!c.failed)
        return WNDL_OK;
    return wndl_fail_at(o->err,
        o->dbi.bytes.size == 0 ? WNDL_UNSUPPORTED : WNDL_TRUNCATED, "stream 3",
        0, "the file has no information on code");
}

static struct wndl_bytes modules_of(const struct opening *o)
{
    return wndl_bytes_slice(o->dbi.bytes, DBI_HEADER, o->header.modules_size);
}

static struct wndl_bytes contributions_of(const struct opening *o)
{
    return wndl_bytes_slice(o->dbi.bytes,
        (uint64_t)DBI_HEADER + o->header.modules_size,
        o->header.contributions_size);
}

/* The number of stream `which` in the list that is last in DBI. */
static uint32_t stream_of(const struct opening *o, unsigned which)
{
    const struct dbi *h = &o->header;
    uint64_t at = (uint64_t)DBI_HEADER + h->modules_size +
                  h->contributions_size + h->skipped[0] + h->skipped[1] +
                  h->skipped[2] + h->skipped[3];
    struct wndl_bytes list =
        wndl_bytes_slice(o->dbi.bytes, at, h->streams_size);
    struct wndl_cursor c = wndl_cursor_at(list, 2 * which, false);
    uint32_t number = wndl_cursor_u16(&c);
    return c.failed ? WNDL_MSF_NO_STREAM : number;
}

/*
 * A stream belongs to one module: two that share one would make us read more
 * than there is.
 */
static enum wndl_status read_modules(struct opening *o)
{
    struct wndl_pdb *pdb = o->pdb;
    struct wndl_cursor c = wndl_cursor_at(modules_of(o), 0, false);
    uint64_t claimed = 0;
    while (wndl_cursor_left(&c) >= MODULE_HEADER) {
        wndl_cursor_skip(&c, 34);
        uint32_t number = wndl_cursor_u16(&c);
        struct wndl_pdb_module *module = wndl_vec_push(&pdb->modules);
        if (module == NULL)
            return no_memory(o);
        module->symbols_size = wndl_cursor_u32(&c);
        module->lines_at = module->symbols_size + wndl_cursor_u32(&c);
        module->lines_size = wndl_cursor_u32(&c);
        wndl_cursor_skip(&c, 16);
        struct wndl_bytes name = wndl_cursor_cstr(&c);
        (void)wndl_cursor_cstr(&c);
        module->name_hash = wndl_hash_bytes(name.data, name.size);
        module->folded_hash = wndl_pdb_folded_hash(name);
        wndl_cursor_skip(&c, -wndl_cursor_offset(&c) & 3);
        module->stream = number;
        claimed += wndl_msf_stream(&pdb->msf, number).size;
        if (claimed > pdb->in.file.size) {
            module->stream = WNDL_MSF_NO_STREAM;
            wndl_pdb_damage(pdb, WNDL_MALFORMED, "stream 3",
                wndl_cursor_offset(&c), "modules that share a stream");
            break;
        }
    }
    if (c.failed || o->header.modules_size != modules_of(o).size)
        wndl_pdb_damage(pdb, WNDL_TRUNCATED, "stream 3", wndl_cursor_offset(&c),
            "the list of modules is cut short");
    return WNDL_OK;
}

static int compare_contributions(const void *left, const void *right)
{
    const struct wndl_pdb_contribution *a = left;
    const struct wndl_pdb_contribution *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static void sort_contributions(struct wndl_vec *list)
{
    struct wndl_pdb_contribution *all = list->data;
    for (size_t i = 1; i < list->len; i++) {
        if (all[i - 1].start <= all[i].start)
            continue;
        qsort(all, list->len, sizeof *all, compare_contributions);
        return;
    }
}

/* section, offset, size, flags, module, two checksums */
static bool add_contribution(struct wndl_pdb *pdb, struct wndl_cursor c)
{
    struct wndl_cv_place place = {.section = wndl_cursor_u16(&c)};
    wndl_cursor_skip(&c, 2);
    place.offset = wndl_cursor_u32(&c);
    uint32_t size = wndl_cursor_u32(&c);
    uint32_t kind = wndl_cursor_u32(&c);
    uint16_t module = wndl_cursor_u16(&c);
    uint32_t start = wndl_pdb_address(pdb, place);
    uint32_t end;
    if ((kind & (CODE | EXECUTE)) == 0 || size == 0 ||
        start == (uint32_t)WNDL_PDB_NOWHERE || module >= pdb->modules.len ||
        __builtin_add_overflow(start, size, &end))
        return true;
    struct wndl_pdb_contribution *slot = wndl_vec_push(&pdb->contributions);
    if (slot != NULL)
        *slot = (struct wndl_pdb_contribution){start, end, module};
    return slot != NULL;
}

static enum wndl_status read_contributions(struct opening *o)
{
    enum { FIRST = 0xeffe0000 + 19970605, SECOND = 0xeffe0000 + 20140516 };
    struct wndl_pdb *pdb = o->pdb;
    struct wndl_bytes list = contributions_of(o);
    struct wndl_cursor c = wndl_cursor_at(list, 0, false);
    uint32_t version = wndl_cursor_u32(&c);
    size_t size = version == (uint32_t)SECOND ? 32 : 28;
    if (list.size != o->header.contributions_size ||
        (list.size != 0 && version != (uint32_t)FIRST &&
            version != (uint32_t)SECOND)) {
        wndl_pdb_damage(pdb, WNDL_MALFORMED, "stream 3",
            (uint64_t)DBI_HEADER + o->header.modules_size,
            "no list of what modules contribute");
        return WNDL_OK;
    }
    if (!wndl_vec_reserve(&pdb->contributions, wndl_cursor_left(&c) / size / 2))
        return no_memory(o);
    while (wndl_cursor_left(&c) >= size) {
        struct wndl_cursor one = wndl_cursor_sub(&c, size);
        if (!add_contribution(pdb, one))
            return no_memory(o);
    }
    sort_contributions(&pdb->contributions);
    return WNDL_OK;
}

/* ---- other streams */

/* Headers as in the image; if code was moved, those before the move. */
static enum wndl_status read_sections(struct opening *o)
{
    struct wndl_pdb *pdb = o->pdb;
    struct wndl_msf_piece piece;
    uint32_t number = stream_of(o, OLD_SECTIONS);
    if (pdb->to_linked.count == 0 ||
        wndl_msf_stream(&pdb->msf, number).size == 0)
        number = stream_of(o, SECTIONS);
    enum wndl_status status = load_all(pdb, number, &piece);
    if (status == WNDL_NOMEM)
        return no_memory(o);
    struct wndl_cursor c = wndl_cursor_at(piece.bytes, 0, false);
    if (wndl_cursor_left(&c) / SECTION_HEADER > MOST_SECTIONS)
        wndl_pdb_damage(pdb, WNDL_LIMIT, "section headers", 0,
            "more sections than an image has");
    while (wndl_cursor_left(&c) >= SECTION_HEADER && status == WNDL_OK &&
           pdb->sections.len < MOST_SECTIONS) {
        struct wndl_cursor header = wndl_cursor_sub(&c, SECTION_HEADER);
        struct wndl_pdb_section *section = wndl_vec_push(&pdb->sections);
        wndl_cursor_skip(&header, 8);
        if (section == NULL) {
            status = no_memory(o);
            break;
        }
        section->size = wndl_cursor_u32(&header);
        section->start = wndl_cursor_u32(&header);
        wndl_cursor_skip(&header, 20);
        section->is_code = (wndl_cursor_u32(&header) & (CODE | EXECUTE)) != 0;
    }
    wndl_msf_free(&piece, pdb->mem);
    if (status == WNDL_NOMEM)
        return status;
    return pdb->sections.len != 0
               ? WNDL_OK
               : wndl_fail_at(o->err, WNDL_UNSUPPORTED, "stream 3", 0,
                     "the file does not list the sections");
}

static enum wndl_status read_moved(
    struct opening *o, unsigned which, struct wndl_pdb_moved *moved)
{
    enum wndl_status status =
        load_all(o->pdb, stream_of(o, which), &moved->piece);
    if (status == WNDL_NOMEM)
        return no_memory(o);
    if (status != WNDL_OK)
        wndl_pdb_damage(
            o->pdb, status, "OMAP", 0, "the list of moved code is cut short");
    moved->count = moved->piece.bytes.size / 8;
    return WNDL_OK;
}

/* A table of `size` bytes in the publics' stream; empty if it is not there. */
static enum wndl_status load_part(
    struct opening *o, uint64_t at, uint64_t size, struct wndl_msf_piece *piece)
{
    struct wndl_pdb *pdb = o->pdb;
    struct wndl_msf_stream stream =
        wndl_msf_stream(&pdb->msf, o->header.publics);
    enum wndl_status status = wndl_msf_load(
        &pdb->msf, &stream, (struct wndl_msf_range){at, size}, pdb->mem, piece);
    if (status == WNDL_TRUNCATED)
        wndl_pdb_damage(pdb, status, "publics", at,
            "the table of public symbols is cut short");
    return status == WNDL_NOMEM ? no_memory(o) : WNDL_OK;
}

/* A header; a hash table; offsets by address; targets of thunks */
static enum wndl_status read_publics(struct opening *o)
{
    enum { HEADER = 28 };
    struct wndl_pdb_publics *p = &o->pdb->publics;
    struct wndl_msf_piece header;
    struct wndl_cv_place place;
    p->records = wndl_msf_stream(&o->pdb->msf, o->header.records);
    if (wndl_msf_stream(&o->pdb->msf, o->header.publics).size == 0)
        return WNDL_OK;
    if (load_part(o, 0, HEADER, &header) != WNDL_OK)
        return WNDL_NOMEM;
    struct wndl_cursor c = wndl_cursor_at(header.bytes, 0, false);
    uint64_t order_at = HEADER + (uint64_t)wndl_cursor_u32(&c);
    uint32_t order_size = wndl_cursor_u32(&c);
    uint32_t thunk_count = wndl_cursor_u32(&c);
    p->thunk_size = wndl_cursor_u32(&c);
    place.section = wndl_cursor_u16(&c);
    wndl_cursor_skip(&c, 2);
    place.offset = wndl_cursor_u32(&c);
    wndl_msf_free(&header, o->pdb->mem);
    if (load_part(o, order_at, order_size, &p->order) != WNDL_OK)
        return WNDL_NOMEM;
    p->count = p->order.bytes.size / 4;
    p->thunks_start = wndl_pdb_address(o->pdb, place);
    if (thunk_count == 0 || p->thunk_size == 0 ||
        p->thunks_start == (uint32_t)WNDL_PDB_NOWHERE)
        return WNDL_OK;
    if (load_part(o, order_at + order_size, UINT64_C(4) * thunk_count,
            &p->thunks) != WNDL_OK)
        return WNDL_NOMEM;
    p->thunk_count = p->thunks.bytes.size / 4;
    return WNDL_OK;
}

/*
 * version, size of the header, first and last number, bytes of records; another
 * stream has hashes, and the offsets of some records
 */
static enum wndl_status open_types(
    struct wndl_pdb *pdb, uint32_t number, struct wndl_pdb_types *types)
{
    enum { HEADER = 56 };
    types->stream = wndl_msf_stream(&pdb->msf, number);
    wndl_map_init(&types->names, &pdb->arena);
    wndl_vec_init(&types->marks, &pdb->arena, sizeof(uint32_t));
    struct wndl_cursor c =
        wndl_cursor_at(wndl_msf_read(&pdb->msf, &types->stream,
                           (struct wndl_msf_range){0, HEADER}, &pdb->scratch),
            4, false);
    types->header_size = wndl_cursor_u32(&c);
    types->first = wndl_cursor_u32(&c);
    uint32_t end = wndl_cursor_u32(&c);
    types->records_size = wndl_cursor_u32(&c);
    uint16_t others = wndl_cursor_u16(&c);
    wndl_cursor_skip(&c, 18);
    struct wndl_msf_range places = {.offset = wndl_cursor_u32(&c)};
    places.size = wndl_cursor_u32(&c);
    if (c.failed || end <= types->first)
        return WNDL_OK;
    types->count = end - types->first;
    struct wndl_msf_stream stream = wndl_msf_stream(&pdb->msf, others);
    return wndl_msf_load(&pdb->msf, &stream, places, pdb->mem,
               &types->places) == WNDL_NOMEM
               ? WNDL_NOMEM
               : WNDL_OK;
}

static enum wndl_status read_dbi(struct opening *o)
{
    struct wndl_pdb *pdb = o->pdb;
    enum wndl_status status = read_dbi_header(o);
    pdb->fpo = wndl_msf_stream(&pdb->msf, stream_of(o, FPO));
    pdb->frame_data = wndl_msf_stream(&pdb->msf, stream_of(o, FRAME_DATA));
    if (status == WNDL_OK)
        status = read_moved(o, TO_LINKED, &pdb->to_linked);
    if (status == WNDL_OK)
        status = read_moved(o, FROM_LINKED, &pdb->from_linked);
    if (status == WNDL_OK)
        status = read_sections(o);
    if (status == WNDL_OK)
        status = read_modules(o);
    if (status == WNDL_OK)
        status = read_contributions(o);
    if (status == WNDL_OK)
        status = read_publics(o);
    return status;
}

enum wndl_status wndl_pdb_read_tables(
    struct wndl_pdb *pdb, struct wndl_error *err)
{
    struct opening o = {.pdb = pdb, .err = err};
    enum wndl_status status =
        wndl_msf_open(pdb->in.file, &pdb->arena, &pdb->msf, err);
    if (status == WNDL_OK)
        status = read_info(&o);
    if (status != WNDL_OK)
        return status;
    if (open_types(pdb, STREAM_TYPES, &pdb->types) != WNDL_OK ||
        open_types(pdb, STREAM_IDS, &pdb->ids) != WNDL_OK)
        return no_memory(&o);
    status = load_all(pdb, STREAM_DBI, &o.dbi);
    if (status == WNDL_OK)
        status = read_dbi(&o);
    else if (status == WNDL_NOMEM)
        status = no_memory(&o);
    else
        status = wndl_fail_at(err, status, "stream 3", 0,
            "blocks of the stream are past the end of the file");
    wndl_msf_free(&o.dbi, pdb->mem);
    return status;
}
