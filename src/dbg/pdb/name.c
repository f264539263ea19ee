/* SPDX-License-Identifier: MIT */
/*
 * Names: of files, by their checksums; of inlined functions, by records of
 * types and ids, every MARK-th of which is remembered; and public symbols.
 */
#include "dbg/pdb/internal.h"

enum {
    WINDOW = (64 << 10) + (16 << 10), /* bytes of records at a time */
    MARK = 64,
    CHECK_AT_MOST = 4096, /* bytes of a file's name that are read first */
};

/* ---- files */

static struct wndl_bytes string_at(struct wndl_pdb *pdb, uint32_t offset)
{
    enum { HEADER = 12 };
    for (uint64_t size = CHECK_AT_MOST;; size *= 16) {
        struct wndl_bytes bytes = wndl_msf_read(&pdb->msf, &pdb->strings,
            (struct wndl_msf_range){HEADER + (uint64_t)offset, size},
            &pdb->scratch);
        struct wndl_bytes name = wndl_bytes_cstr(bytes, 0);
        if (name.data != NULL || bytes.size < size ||
            size > WNDL_PDB_LONGEST_NAME)
            return name;
    }
}

bool wndl_pdb_file_name(struct wndl_pdb *pdb,
    const struct wndl_pdb_module *module, uint32_t checksum,
    struct wndl_bytes *name)
{
    struct wndl_bytes checksums = wndl_pdb_subsection(
        module, module->checksums_at, module->checksums_size);
    struct wndl_cursor c = wndl_cursor_at(checksums, checksum, false);
    uint32_t offset = wndl_cursor_u32(&c);
    uint32_t id = 0;
    *name = wndl_intern_get(&pdb->names, 0);
    if (c.failed)
        return true;
    uint64_t *known = wndl_map_put(&pdb->files, offset);
    if (known == NULL)
        return false;
    if (*known == 0) {
        struct wndl_bytes text = string_at(pdb, offset);
        if (pdb->scratch.failed || !wndl_intern_add(&pdb->names, text, &id))
            return false;
        *known = id + UINT64_C(1);
    }
    *name = wndl_intern_get(&pdb->names, (uint32_t)(*known - 1));
    return true;
}

/* ---- types and ids */

/* The record at `offset` of the records, which ends at *next. */
static bool record_at(struct wndl_pdb *pdb, const struct wndl_pdb_types *types,
    uint32_t offset, struct wndl_cv_record *record)
{
    struct wndl_bytes bytes = wndl_msf_read(&pdb->msf, &types->stream,
        (struct wndl_msf_range){types->header_size + (uint64_t)offset, 4},
        &pdb->scratch);
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    uint64_t size = 2 + (uint64_t)wndl_cursor_u16(&c);
    bytes = wndl_msf_read(&pdb->msf, &types->stream,
        (struct wndl_msf_range){types->header_size + (uint64_t)offset, size},
        &pdb->scratch);
    c = wndl_cursor_at(bytes, 0, false);
    return wndl_cv_next(&c, record);
}

static bool mark_types(struct wndl_pdb *pdb, struct wndl_pdb_types *types)
{
    struct wndl_msf_piece piece;
    types->is_marked = true;
    enum wndl_status status = wndl_msf_load(&pdb->msf, &types->stream,
        (struct wndl_msf_range){types->header_size, types->records_size},
        pdb->mem, &piece);
    if (status == WNDL_NOMEM)
        return false;
    if (status != WNDL_OK)
        wndl_pdb_damage(pdb, status, "types", 0, "the types are cut short");
    struct wndl_cursor c = wndl_cursor_at(piece.bytes, 0, false);
    bool kept = true;
    for (uint32_t i = 0; wndl_cursor_left(&c) >= 4 && kept; i++) {
        if (i % MARK == 0) {
            uint32_t *mark = wndl_vec_push(&types->marks);
            kept = mark != NULL;
            if (kept)
                *mark = (uint32_t)wndl_cursor_offset(&c);
        }
        uint16_t size = wndl_cursor_u16(&c);
        wndl_cursor_skip(&c, size);
    }
    wndl_msf_free(&piece, pdb->mem);
    return kept;
}

static uint32_t number_at(struct wndl_bytes list, uint64_t index)
{
    struct wndl_cursor c = wndl_cursor_at(list, 4 * index, false);
    return wndl_cursor_u32(&c);
}

/*
 * The start of a search for record `number`: *at is the offset of record
 * *first. Both lists begin with the first record.
 */
static void start_of(const struct wndl_pdb_types *types, uint32_t number,
    uint32_t *first, uint32_t *at)
{
    struct wndl_bytes list = types->places.bytes;
    size_t low = 0;
    size_t high = list.size / 8;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (number_at(list, 2 * mid) <= number)
            low = mid + 1;
        else
            high = mid;
    }
    *first = low == 0 ? types->first : number_at(list, 2 * (low - 1));
    *at = low == 0 ? 0 : number_at(list, 2 * (low - 1) + 1);
    uint32_t mark = (number - types->first) / MARK;
    if (list.size == 0 && mark < types->marks.len) {
        *first = types->first + mark * MARK;
        *at = *(uint32_t *)wndl_vec_at(&types->marks, mark);
    }
}

static bool find_record(struct wndl_pdb *pdb, struct wndl_pdb_types *types,
    uint32_t number, struct wndl_cv_record *record)
{
    enum { MOST_BETWEEN = 1 << 16 }; /* writers have one every 8 KiB */
    uint32_t at;
    uint32_t i;
    if (number < types->first || number - types->first >= types->count)
        return false;
    start_of(types, number, &i, &at);
    if (number - i > MOST_BETWEEN)
        return false;
    struct wndl_bytes bytes = wndl_msf_read(&pdb->msf, &types->stream,
        (struct wndl_msf_range){types->header_size + (uint64_t)at, WINDOW},
        &pdb->scratch);
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    for (; i < number; i++)
        wndl_cursor_skip(&c, wndl_cursor_u16(&c));
    uint64_t found = at + wndl_cursor_offset(&c);
    return wndl_cv_next(&c, record) ||
           (!c.failed && record_at(pdb, types, (uint32_t)found, record));
}

/* The name of a record, kept; empty if it has none. */
static bool plain_name(struct wndl_pdb *pdb, struct wndl_pdb_types *types,
    uint32_t number, struct wndl_cv_named *named)
{
    struct wndl_cv_record record;
    if (types->places.bytes.size == 0 && !types->is_marked &&
        !mark_types(pdb, types))
        return false;
    if (!find_record(pdb, types, number, &record) ||
        !wndl_cv_read_named(&record, named))
        *named = (struct wndl_cv_named){0};
    return !pdb->scratch.failed &&
           wndl_pdb_intern(pdb, named->name, &named->name);
}

/* "SCOPE::NAME" */
static bool full_name(
    struct wndl_pdb *pdb, uint32_t number, struct wndl_bytes *name)
{
    struct wndl_cv_named own;
    struct wndl_cv_named scope;
    struct wndl_cv_record record;
    if (!plain_name(pdb, &pdb->ids, number, &own))
        return false;
    *name = own.name;
    if (own.scope == 0)
        return true;
    bool is_member = find_record(pdb, &pdb->ids, number, &record) &&
                     record.kind == WNDL_LF_MFUNC_ID;
    if (!plain_name(
            pdb, is_member ? &pdb->types : &pdb->ids, own.scope, &scope))
        return false;
    if (scope.name.size == 0)
        return true;
    struct wndl_buf *text = &pdb->text;
    wndl_buf_clear(text);
    wndl_buf_add(text, scope.name.data, scope.name.size);
    wndl_buf_text(text, "::");
    wndl_buf_add(text, own.name.data, own.name.size);
    return !text->failed &&
           wndl_pdb_intern(
               pdb, (struct wndl_bytes){text->data, text->size}, name);
}

/* ---- ids of other modules */

/*
 * A number with the highest bit set belongs to another module: it has the index
 * of the module in the list of imports, and the index of the id in that
 * module's list.
 */
enum {
    IMPORTED = (int)0x80000000,
    MODULE_SHIFT = 20,
    MODULE_MASK = 0x7ff,
    THING_MASK = 0xfffff,
};

/* For each module: its name, the number of ids, the ids as it numbers them. */
static bool find_import(const struct wndl_pdb_module *module, uint32_t id,
    uint32_t *name, uint32_t *number)
{
    struct wndl_bytes list =
        wndl_pdb_subsection(module, module->imports_at, module->imports_size);
    struct wndl_cursor c = wndl_cursor_at(list, 0, false);
    uint32_t which = id >> MODULE_SHIFT & MODULE_MASK;
    for (uint32_t i = 0; i < which && !c.failed; i++) {
        wndl_cursor_skip(&c, 4);
        wndl_cursor_skip(&c, 4 * (uint64_t)wndl_cursor_u32(&c));
    }
    *name = wndl_cursor_u32(&c);
    uint32_t count = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 4 * (uint64_t)(id & THING_MASK));
    *number = wndl_cursor_u32(&c);
    return !c.failed && (id & THING_MASK) < count;
}

/*
 * Paths of Windows are the same in any case, and its linker writes those of
 * imports in lower case. FNV-1a: of its own, because a name must not be copied
 * to be folded.
 */
uint64_t wndl_pdb_folded_hash(struct wndl_bytes name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        bool upper = c >= 'A' && c <= 'Z';
        hash = (hash ^ (upper ? c + ('a' - 'A') : c)) * UINT64_C(0x100000001b3);
    }
    return wndl_hash_u64(hash);
}

static bool name_module(struct wndl_pdb *pdb, uint64_t hash, uint64_t number)
{
    uint64_t *found = wndl_map_put(&pdb->named, hash);
    if (found != NULL && *found == 0)
        *found = number;
    return found != NULL;
}

/* The first of several modules with a name. */
static bool name_modules(struct wndl_pdb *pdb)
{
    for (size_t i = 0; i < pdb->modules.len && !pdb->is_named; i++) {
        const struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, i);
        if (!name_module(pdb, module->name_hash, i + 1) ||
            !name_module(pdb, module->folded_hash, i + 1))
            return false;
    }
    pdb->is_named = true;
    return true;
}

/*
 * Finds a module by its name as written, else in any case; UINT32_MAX when
 * there is none.
 */
static enum wndl_status find_module(
    struct wndl_pdb *pdb, struct wndl_bytes name, uint32_t *number)
{
    if (!name_modules(pdb))
        return WNDL_NOMEM;
    const uint64_t *found =
        wndl_map_get(&pdb->named, wndl_hash_bytes(name.data, name.size));
    if (found == NULL)
        found = wndl_map_get(&pdb->named, wndl_pdb_folded_hash(name));
    *number = found == NULL ? UINT32_MAX : (uint32_t)(*found - 1);
    return WNDL_OK;
}

/*
 * The file's number of the module's `id`; 0, which no record has, when it is
 * not known.
 */
static enum wndl_status settle_id(
    struct wndl_pdb *pdb, uint32_t number, uint32_t *id)
{
    uint32_t name;
    uint32_t import;
    if ((*id & (uint32_t)IMPORTED) == 0)
        return WNDL_OK;
    bool is_listed =
        find_import(wndl_vec_at(&pdb->modules, number), *id, &name, &import);
    *id = 0;
    if (!is_listed)
        return WNDL_OK;
    struct wndl_bytes text = string_at(pdb, name);
    if (pdb->scratch.failed)
        return WNDL_NOMEM;
    uint32_t from;
    if (find_module(pdb, text, &from) != WNDL_OK)
        return WNDL_NOMEM;
    if (from == UINT32_MAX)
        return WNDL_OK;
    if (wndl_pdb_need_module(pdb, from) != WNDL_OK)
        return WNDL_NOMEM;
    const struct wndl_pdb_module *module = wndl_vec_at(&pdb->modules, from);
    ptrdiff_t i = wndl_pdb_last_before(&module->exports, import);
    const struct wndl_pdb_export *found =
        i < 0 ? NULL : wndl_vec_at(&module->exports, (size_t)i);
    if (found != NULL && found->number == import)
        *id = found->id;
    return wndl_pdb_need_module(pdb, number);
}

bool wndl_pdb_inlinee_name(
    struct wndl_pdb *pdb, uint32_t number, uint32_t id, struct wndl_bytes *name)
{
    uint32_t kept = 0;
    bool is_imported = (id & (uint32_t)IMPORTED) != 0;
    uint64_t *known =
        is_imported ? wndl_map_put(&pdb->imported, (uint64_t)number << 32 | id)
                    : wndl_map_put(&pdb->ids.names, id);
    if (known == NULL)
        return false;
    if (*known == 0) {
        if (settle_id(pdb, number, &id) != WNDL_OK ||
            !full_name(pdb, id, name) ||
            !wndl_intern_add(&pdb->names, *name, &kept))
            return false;
        *known = kept + UINT64_C(1);
    }
    *name = wndl_intern_get(&pdb->names, (uint32_t)(*known - 1));
    return true;
}

/* ---- public symbols */

static bool read_public(
    struct wndl_pdb *pdb, size_t i, struct wndl_cv_public *symbol)
{
    struct wndl_cv_record record;
    struct wndl_cursor c =
        wndl_cursor_at(pdb->publics.order.bytes, 4 * i, false);
    const struct wndl_pdb_types records = {.stream = pdb->publics.records};
    return record_at(pdb, &records, wndl_cursor_u32(&c), &record) &&
           wndl_cv_read_public(&record, symbol);
}

bool wndl_pdb_public_at(struct wndl_pdb *pdb, size_t i,
    struct wndl_cv_public *symbol, uint32_t *address)
{
    if (!read_public(pdb, i, symbol))
        return false;
    *address = wndl_pdb_address(pdb, symbol->place);
    if (*address == (uint32_t)WNDL_PDB_NOWHERE)
        return false;
    /* Symbols from assemblers are not marked as code. */
    const struct wndl_pdb_section *section =
        wndl_vec_at(&pdb->sections, symbol->place.section - 1u);
    return symbol->is_code || section->is_code;
}

/* Data symbols in between are skipped, at most this many. */
enum { MOST_PASSED = 64 };

/* Prefers the symbol at an address whose record says that it is code. */
static void prefer_marked(
    struct wndl_pdb *pdb, size_t i, struct wndl_cv_public *symbol)
{
    struct wndl_cv_public other;
    size_t least = i < MOST_PASSED ? 0 : i - MOST_PASSED;
    while (!symbol->is_code && i > least && read_public(pdb, --i, &other) &&
           other.place.section == symbol->place.section &&
           other.place.offset == symbol->place.offset)
        if (other.is_code)
            *symbol = other;
}

bool wndl_pdb_find_public(struct wndl_pdb *pdb, uint32_t address,
    uint32_t *start, struct wndl_bytes *name)
{
    struct wndl_cv_public symbol;
    size_t low = 0;
    size_t high = pdb->publics.count;
    uint32_t end = wndl_pdb_section_end(pdb, address);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        bool is_read = read_public(pdb, mid, &symbol);
        if (is_read && wndl_pdb_address(pdb, symbol.place) <= address)
            low = mid + 1;
        else
            high = mid;
    }
    for (size_t i = low; i > 0 && low - i < MOST_PASSED; i--)
        if (wndl_pdb_public_at(pdb, i - 1, &symbol, start)) {
            prefer_marked(pdb, i - 1, &symbol);
            *name = symbol.name;
            return *start <= address &&
                   wndl_pdb_section_end(pdb, *start) == end;
        }
    return false;
}
