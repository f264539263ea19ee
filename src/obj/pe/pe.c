/* SPDX-License-Identifier: MIT */
/* Headers of PE32 and PE32+, of images. (PE Format, Microsoft) */
#include "obj/pe/impl.h"

#include <elf.h>
#include <string.h>

enum {
    PE_OFFSET_AT = 0x3c,
    COFF_HEADER = 20,
    SECTION_HEADER = 40,
    SYMBOL = 18,
    MAGIC_32 = 0x10b,
    MAGIC_64 = 0x20b,
    IS_LIBRARY = 0x2000,
    MOST_SECTIONS = 256, /* linkers make 20, and old loaders take 96 */
};

/* Flags of a section. */
enum {
    HAS_CODE = 0x20,
    HAS_NO_BYTES = 0x80,
    IS_DISCARDED = 0x02000000,
    IS_EXECUTABLE = 0x20000000,
};

bool wndl_pe_is(struct wndl_bytes file)
{
    return file.size >= 2 && memcmp(file.data, "MZ", 2) == 0;
}

bool wndl_object_is_pe(const struct wndl_object *object)
{
    return object->pe != NULL;
}

static uint16_t machine_of(uint16_t coff)
{
    switch (coff) {
    case 0x14c:
        return EM_386;
    case 0x8664:
        return EM_X86_64;
    case 0x1c0:
    case 0x1c4:
        return EM_ARM;
    case 0xaa64:
    case 0xa641:
        return EM_AARCH64;
    default:
        return EM_NONE;
    }
}

struct reading {
    struct wndl_object *object;
    struct wndl_pe *pe;
    uint64_t at;         /* of the COFF header */
    uint16_t sections;   /* how many */
    uint16_t extra_size; /* of the header between that and the sections' */
    uint32_t symbols_at;
    uint32_t symbol_count;
};

static enum wndl_status read_coff(struct reading *r, struct wndl_error *err)
{
    struct wndl_bytes file = r->object->file;
    struct wndl_cursor c = wndl_cursor_at(file, PE_OFFSET_AT, false);
    uint32_t at = wndl_cursor_u32(&c);
    c = wndl_cursor_at(file, at, false);
    const uint8_t *magic = wndl_cursor_take(&c, 4);
    if (magic == NULL)
        return wndl_fail_at(err, WNDL_TRUNCATED, "file", file.size,
            "the file ends before its PE header");
    if (memcmp(magic, "PE\0\0", 4) != 0)
        return wndl_fail_at(
            err, WNDL_UNSUPPORTED, "file", at, "not a program for Windows");
    r->at = at + UINT64_C(4);
    r->object->machine = machine_of(wndl_cursor_u16(&c));
    r->sections = wndl_cursor_u16(&c);
    wndl_cursor_skip(&c, 4);
    r->symbols_at = wndl_cursor_u32(&c);
    r->symbol_count = wndl_cursor_u32(&c);
    r->extra_size = wndl_cursor_u16(&c);
    r->object->type =
        (wndl_cursor_u16(&c) & IS_LIBRARY) != 0 ? ET_DYN : ET_EXEC;
    return c.failed ? wndl_fail_at(err, WNDL_TRUNCATED, "PE header", at,
                          "the header is cut short")
                    : WNDL_OK;
}

static struct wndl_pe_part take_part(struct wndl_cursor *c, bool is_there)
{
    struct wndl_pe_part part = {wndl_cursor_u32(c), 0};
    part.size = wndl_cursor_u32(c);
    return is_there && !c->failed ? part : (struct wndl_pe_part){0};
}

/* The "optional" header, which images have. */
static enum wndl_status read_image(struct reading *r, struct wndl_error *err)
{
    enum { EXPORTS = 0, EXCEPTIONS = 3, DEBUG = 6 };
    struct wndl_cursor all =
        wndl_cursor_at(r->object->file, r->at + COFF_HEADER, false);
    struct wndl_cursor c = wndl_cursor_sub(&all, r->extra_size);
    uint16_t magic = wndl_cursor_u16(&c);
    bool wide = magic == MAGIC_64;
    if (c.failed || (magic != MAGIC_32 && magic != MAGIC_64))
        return wndl_fail_at(err, c.failed ? WNDL_TRUNCATED : WNDL_MALFORMED,
            "PE header", r->at + COFF_HEADER, "no header of an image");
    r->object->address_size = wide ? 8 : 4;
    wndl_cursor_skip(&c, wide ? 22 : 26);
    r->object->image_base.v = wide ? wndl_cursor_u64(&c) : wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, wide ? 76 : 60);
    uint32_t parts = wndl_cursor_u32(&c);
    if (c.failed)
        return wndl_fail_at(err, WNDL_TRUNCATED, "PE header",
            r->at + COFF_HEADER, "the header is cut short");
    r->pe->exports = take_part(&c, parts > EXPORTS);
    wndl_cursor_skip(&c, 8 * (EXCEPTIONS - EXPORTS - 1));
    r->pe->exceptions = take_part(&c, parts > EXCEPTIONS);
    wndl_cursor_skip(&c, 8 * (DEBUG - EXCEPTIONS - 1));
    r->pe->debug = take_part(&c, parts > DEBUG);
    return WNDL_OK;
}

/* Strings follow the symbols, and begin with their size. */
static void find_symbols(struct reading *r)
{
    uint64_t size = (uint64_t)r->symbol_count * SYMBOL;
    struct wndl_bytes file = r->object->file;
    if (r->symbols_at == 0)
        return;
    r->pe->symbols = wndl_bytes_slice(file, r->symbols_at, size);
    struct wndl_cursor c = wndl_cursor_at(file, r->symbols_at + size, false);
    uint64_t strings_size = wndl_cursor_u32(&c);
    if (strings_size > 4)
        r->pe->strings =
            wndl_bytes_slice(file, r->symbols_at + size, strings_size);
}

/* "/123" is where the name is among the strings. */
static struct wndl_bytes name_of(struct reading *r, const uint8_t *name)
{
    size_t size = strnlen((const char *)name, 8);
    uint64_t offset = 0;
    for (size_t i = 1; i < size && name[0] == '/'; i++)
        offset = name[i] >= '0' && name[i] <= '9'
                     ? offset * 10 + (name[i] - '0')
                     : UINT32_MAX;
    if (name[0] == '/' && size > 1 && offset < UINT32_MAX) {
        struct wndl_bytes found = wndl_object_name_at(r->pe->strings, offset);
        if (found.data != NULL)
            return found;
    }
    const char *copy = wndl_arena_copy(&r->object->arena, name, size);
    return (struct wndl_bytes){(const uint8_t *)copy, size};
}

/*
 * The sizes in the file of debug sections are rounded up to whole pages, so
 * their size in memory is used. The size in the file may be smaller or larger.
 */
static bool read_section(struct reading *r, struct wndl_cursor *c, size_t i)
{
    struct wndl_object_section *section = &r->object->sections[i];
    section->view.name = name_of(r, wndl_cursor_take(c, 8));
    uint64_t size = wndl_cursor_u32(c);
    section->view.addr.v = r->object->image_base.v + wndl_cursor_u32(c);
    uint64_t stored = wndl_cursor_u32(c);
    section->view.offset = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 12);
    uint32_t flags = wndl_cursor_u32(c);
    bool is_code = (flags & (HAS_CODE | IS_EXECUTABLE)) != 0;
    section->stored_size = size != 0 && size < stored ? size : stored;
    section->view.size = size != 0 ? size : stored;
    section->view.type =
        (flags & HAS_NO_BYTES) != 0 || stored == 0 ? SHT_NOBITS : SHT_PROGBITS;
    section->view.flags = ((flags & IS_DISCARDED) != 0 ? 0 : SHF_ALLOC) |
                          (is_code ? SHF_EXECINSTR : 0);
    wndl_object_detect_packing(r->object, section);
    r->object->segments[i] = (struct wndl_segment){
        .addr = section->view.addr,
        .mem_size = section->view.size,
        .file_offset = section->view.offset,
        .file_size = section->stored_size,
        .executable = is_code,
    };
    return section->view.name.data != NULL;
}

static enum wndl_status read_sections(struct reading *r, struct wndl_error *err)
{
    struct wndl_object *object = r->object;
    uint64_t at = r->at + COFF_HEADER + r->extra_size;
    struct wndl_cursor c = wndl_cursor_at(object->file, at, false);
    if (r->sections > MOST_SECTIONS)
        return wndl_fail_at(err, WNDL_LIMIT, "section headers", at,
            "more sections than an image has");
    if (wndl_cursor_left(&c) < (size_t)r->sections * SECTION_HEADER)
        return wndl_fail_at(err, WNDL_TRUNCATED, "section headers", at,
            "they reach past the end of the file");
    object->sections = wndl_arena_calloc(
        &object->arena, r->sections, sizeof *object->sections);
    object->segments = wndl_arena_calloc(
        &object->arena, r->sections, sizeof *object->segments);
    bool read = object->sections != NULL && object->segments != NULL;
    for (size_t i = 0; i < r->sections && read; i++)
        read = read_section(r, &c, i);
    if (!read)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the file's tables");
    object->section_count = object->segment_count = r->sections;
    return WNDL_OK;
}

struct wndl_bytes wndl_pe_loaded(const struct wndl_object *object, uint64_t rva)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct wndl_segment *s = &object->segments[i];
        uint64_t offset = object->image_base.v + rva - s->addr.v;
        if (offset < s->file_size)
            return wndl_bytes_slice(
                object->file, s->file_offset + offset, s->file_size - offset);
    }
    return (struct wndl_bytes){0};
}

struct wndl_bytes wndl_pe_exceptions(
    const struct wndl_object *object, uint32_t *claimed)
{
    *claimed = object->pe == NULL ? 0 : object->pe->exceptions.size;
    if (*claimed == 0)
        return (struct wndl_bytes){0};
    struct wndl_bytes list = wndl_pe_loaded(object, object->pe->exceptions.rva);
    if (list.size > *claimed)
        list.size = *claimed;
    return list;
}

/* signature, guid, age, path */
static bool read_rsds(struct wndl_cursor c, struct wndl_pe_pdb *pdb)
{
    const uint8_t *magic = wndl_cursor_take(&c, 4);
    if (magic == NULL || memcmp(magic, "RSDS", 4) != 0)
        return false;
    pdb->guid = (struct wndl_bytes){wndl_cursor_take(&c, 16), 16};
    pdb->age = wndl_cursor_u32(&c);
    if (c.failed)
        return false;
    pdb->path = wndl_cursor_cstr(&c);
    if (c.failed)
        pdb->path = (struct wndl_bytes){0};
    return true;
}

enum wndl_status wndl_pe_find_pdb(
    const struct wndl_object *object, struct wndl_pe_pdb *pdb)
{
    enum { ENTRY = 28, CODEVIEW = 2 };
    *pdb = (struct wndl_pe_pdb){0};
    if (object->pe == NULL || object->pe->debug.size == 0)
        return WNDL_NOT_FOUND;
    struct wndl_bytes list = wndl_pe_loaded(object, object->pe->debug.rva);
    if (list.size > object->pe->debug.size)
        list.size = object->pe->debug.size;
    struct wndl_cursor c = wndl_cursor_at(list, 0, false);
    while (wndl_cursor_left(&c) >= ENTRY) {
        struct wndl_cursor entry = wndl_cursor_sub(&c, ENTRY);
        wndl_cursor_skip(&entry, 12);
        uint32_t type = wndl_cursor_u32(&entry);
        uint32_t size = wndl_cursor_u32(&entry);
        wndl_cursor_skip(&entry, 4);
        struct wndl_bytes bytes =
            wndl_bytes_slice(object->file, wndl_cursor_u32(&entry), size);
        if (type == CODEVIEW && read_rsds(wndl_cursor_at(bytes, 0, false), pdb))
            return WNDL_OK;
    }
    return WNDL_NOT_FOUND;
}

struct wndl_bytes wndl_pe_pdb_name(const struct wndl_object *object)
{
    struct wndl_pe_pdb pdb;
    if (wndl_pe_find_pdb(object, &pdb) != WNDL_OK)
        return (struct wndl_bytes){0};
    size_t at = pdb.path.size;
    while (at > 0 && strchr("/\\", pdb.path.data[at - 1]) == NULL)
        at--;
    return wndl_bytes_slice(pdb.path, at, pdb.path.size - at);
}

enum wndl_status wndl_pe_open(
    struct wndl_object *object, const char *arch, struct wndl_error *err)
{
    (void)arch;
    struct wndl_pe_pdb pdb;
    struct reading r = {.object = object};
    r.pe = wndl_arena_alloc(&object->arena, sizeof *r.pe);
    if (r.pe == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the file's tables");
    enum wndl_status status = read_coff(&r, err);
    if (status == WNDL_OK)
        status = read_image(&r, err);
    if (status != WNDL_OK)
        return status;
    find_symbols(&r);
    status = read_sections(&r, err);
    if (status != WNDL_OK)
        return status;
    object->pe = r.pe;
    if (wndl_pe_find_pdb(object, &pdb) == WNDL_OK)
        object->build_id = pdb.guid;
    return WNDL_OK;
}
