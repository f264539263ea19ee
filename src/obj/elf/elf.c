/* SPDX-License-Identifier: MIT */
/*
 * elf: headers, sections and segments of both classes and byte orders (gABI
 * 4.1, chapters 4 and 5). Class decides the width of a field, never the path
 * through the code.
 */
#include "obj/elf/impl.h"

#include <elf.h>
#include <string.h>

/* The smallest page any supported kernel has; images start on a page. */
enum { PAGE = 4096 };

static const char FILE_HEADER[] = "ELF header";
static const char SECTION_HEADERS[] = "section headers";
static const char PROGRAM_HEADERS[] = "program headers";
static const char SECTION_NAMES[] = "section names";

struct header {
    uint64_t segment_offset, section_offset;
    uint64_t segment_count, section_count;
    uint32_t names_index;
    uint16_t segment_stride, section_stride;
};

static uint64_t read_word(
    struct wndl_cursor *c, const struct wndl_object *object)
{
    return object->address_size == 8 ? wndl_cursor_u64(c) : wndl_cursor_u32(c);
}

static bool is_64(const struct wndl_object *object)
{
    return object->address_size == 8;
}

static bool begins(const struct wndl_object *object, const char *magic)
{
    return wndl_bytes_is(
        wndl_bytes_slice(object->file, 0, strlen(magic)), magic);
}

/* Readers of symbol files check for those before they call this. */
static enum wndl_status refuse_format(
    const struct wndl_object *object, struct wndl_error *err)
{
    if (begins(object, "Microsoft C/C++ "))
        return wndl_fail(err, WNDL_UNSUPPORTED, "a PDB file, not a binary");
    if (begins(object, "MODULE "))
        return wndl_fail(
            err, WNDL_UNSUPPORTED, "a Breakpad symbol file, not a binary");
    return wndl_fail(err, WNDL_UNSUPPORTED,
        "not an ELF, PE, PDB, Mach-O, WebAssembly or Breakpad symbol file");
}

static enum wndl_status read_ident(
    struct wndl_object *object, struct wndl_error *err)
{
    struct wndl_bytes ident = wndl_bytes_slice(object->file, 0, EI_NIDENT);
    struct wndl_bytes magic = wndl_bytes_slice(object->file, 0, SELFMAG);
    if (!wndl_bytes_is(magic, ELFMAG))
        return refuse_format(object, err);
    if (ident.size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED, FILE_HEADER, object->file.size,
            "the file ends inside the ELF header");
    uint8_t class = ident.data[EI_CLASS];
    uint8_t order = ident.data[EI_DATA];
    if (class != ELFCLASS32 && class != ELFCLASS64)
        return wndl_fail_at(err, WNDL_MALFORMED, FILE_HEADER, EI_CLASS,
            "neither a 32-bit nor a 64-bit class");
    if (order != ELFDATA2LSB && order != ELFDATA2MSB)
        return wndl_fail_at(err, WNDL_MALFORMED, FILE_HEADER, EI_DATA,
            "neither little-endian nor big-endian");
    object->address_size = class == ELFCLASS64 ? 8 : 4;
    object->big_endian = order == ELFDATA2MSB;
    return WNDL_OK;
}

static enum wndl_status read_header(
    struct wndl_object *object, struct header *header, struct wndl_error *err)
{
    struct wndl_cursor c =
        wndl_cursor_at(object->file, EI_NIDENT, object->big_endian);
    object->type = wndl_cursor_u16(&c);
    object->machine = wndl_cursor_u16(&c);
    wndl_cursor_skip(&c, 4); /* e_version */
    object->entry.v = read_word(&c, object);
    header->segment_offset = read_word(&c, object);
    header->section_offset = read_word(&c, object);
    wndl_cursor_skip(&c, 4 + 2); /* e_flags, e_ehsize */
    header->segment_stride = wndl_cursor_u16(&c);
    header->segment_count = wndl_cursor_u16(&c);
    header->section_stride = wndl_cursor_u16(&c);
    header->section_count = wndl_cursor_u16(&c);
    header->names_index = wndl_cursor_u16(&c);
    if (c.failed)
        return wndl_fail_at(err, WNDL_TRUNCATED, FILE_HEADER, object->file.size,
            "the file ends inside the ELF header");
    return WNDL_OK;
}

/* sh_name goes to *name; the name itself is found later. */
static void read_section(struct wndl_cursor *c,
    const struct wndl_object *object, struct wndl_object_section *section,
    uint32_t *name)
{
    *name = wndl_cursor_u32(c);
    section->view.type = wndl_cursor_u32(c);
    section->view.flags = read_word(c, object);
    section->view.addr.v = read_word(c, object);
    section->view.offset = read_word(c, object);
    section->view.size = read_word(c, object);
    section->stored_size = section->view.size;
    section->link = wndl_cursor_u32(c);
    section->info = wndl_cursor_u32(c);
    section->alignment = read_word(c, object);
    section->entry_size = read_word(c, object);
}

/*
 * Counts that do not fit the header's 16 bits are in section 0 (gABI 4.1,
 * "Extended section numbering"; PN_XNUM for segments).
 */
static enum wndl_status extend_counts(const struct wndl_object *object,
    struct header *header, struct wndl_error *err)
{
    bool extended = header->section_count == 0 ||
                    header->names_index == SHN_XINDEX ||
                    header->segment_count == PN_XNUM;
    if (header->section_offset == 0 || !extended)
        return WNDL_OK;
    struct wndl_cursor c = wndl_cursor_at(
        object->file, header->section_offset, object->big_endian);
    struct wndl_object_section zero = {0};
    uint32_t name;
    read_section(&c, object, &zero, &name);
    if (c.failed)
        return wndl_fail_at(err, WNDL_TRUNCATED, SECTION_HEADERS, 0,
            "the file ends inside section header 0");
    if (header->section_count == 0)
        header->section_count = zero.stored_size;
    if (header->names_index == SHN_XINDEX)
        header->names_index = zero.link;
    if (header->segment_count == PN_XNUM)
        header->segment_count = zero.info;
    return WNDL_OK;
}

struct table {
    const char *name;
    uint64_t offset, count;
    uint16_t stride, entry_size;
};

/* All of a header table must be in the file, which bounds its count. */
static enum wndl_status check_table(const struct wndl_object *object,
    const struct table *table, struct wndl_error *err)
{
    if (table->stride < table->entry_size)
        return wndl_fail_at(err, WNDL_MALFORMED, table->name, 0,
            "entries too small for their class");
    uint64_t size;
    if (__builtin_mul_overflow(table->count, table->stride, &size) ||
        wndl_bytes_slice(object->file, table->offset, size).size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED, table->name, 0,
            "the table reaches past the end of the file");
    return WNDL_OK;
}

static void read_segment(struct wndl_cursor *c,
    const struct wndl_object *object, struct wndl_segment *segment,
    uint32_t *type)
{
    uint32_t flags = 0;
    *type = wndl_cursor_u32(c);
    if (is_64(object))
        flags = wndl_cursor_u32(c);
    segment->file_offset = read_word(c, object);
    segment->addr.v = read_word(c, object);
    (void)read_word(c, object); /* p_paddr */
    segment->file_size = read_word(c, object);
    segment->mem_size = read_word(c, object);
    if (!is_64(object))
        flags = wndl_cursor_u32(c);
    segment->executable = (flags & PF_X) != 0;
}

static struct wndl_cursor entry_cursor(
    const struct wndl_object *object, const struct table *table, uint64_t index)
{
    return wndl_cursor_at(object->file, table->offset + index * table->stride,
        object->big_endian);
}

/* `unread`: as in find_build_id. */
static void add_note_segment(struct wndl_object *object,
    const struct wndl_segment *segment, uint64_t alignment, uint64_t *unread)
{
    if (segment->file_size > *unread)
        return;
    *unread -= segment->file_size;
    struct wndl_bytes notes = wndl_bytes_slice(
        object->file, segment->file_offset, segment->file_size);
    if (object->build_id.size == 0)
        object->build_id =
            wndl_elf_find_build_id(notes, alignment, object->big_endian);
}

/* `eh_frame` receives PT_GNU_EH_FRAME, and is left alone if there is none. */
static enum wndl_status read_segments(struct wndl_object *object,
    const struct header *header, struct wndl_segment *eh_frame,
    struct wndl_error *err)
{
    struct table table = {PROGRAM_HEADERS, header->segment_offset,
        header->segment_count, header->segment_stride,
        is_64(object) ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)};
    if (table.count == 0 || table.offset == 0)
        return WNDL_OK;
    enum wndl_status status = check_table(object, &table, err);
    if (status != WNDL_OK)
        return status;
    object->segments = wndl_arena_calloc(
        &object->arena, table.count, sizeof *object->segments);
    if (object->segments == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the segments");
    uint64_t unread = object->file.size;
    for (uint64_t i = 0; i < table.count; i++) {
        struct wndl_cursor c = entry_cursor(object, &table, i);
        struct wndl_segment segment = {0};
        uint32_t type;
        read_segment(&c, object, &segment, &type);
        uint64_t alignment = read_word(&c, object);
        if (type == PT_LOAD)
            object->segments[object->segment_count++] = segment;
        if (type == PT_DYNAMIC)
            object->dynamic = wndl_bytes_slice(
                object->file, segment.file_offset, segment.file_size);
        if (type == PT_GNU_EH_FRAME)
            *eh_frame = segment;
        if (type == PT_NOTE)
            add_note_segment(object, &segment, alignment, &unread);
    }
    return WNDL_OK;
}

static void find_image_base(struct wndl_object *object)
{
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < object->segment_count; i++)
        if (object->segments[i].addr.v < lowest)
            lowest = object->segments[i].addr.v;
    if (object->segment_count != 0)
        object->image_base.v = lowest & ~(uint64_t)(PAGE - 1);
}

/* `index` 0 (SHN_UNDEF) means that sections have no names. */
static enum wndl_status section_names(const struct wndl_object *object,
    uint32_t index, struct wndl_bytes *names, struct wndl_error *err)
{
    *names = (struct wndl_bytes){0};
    if (index == SHN_UNDEF)
        return WNDL_OK;
    if (index >= object->section_count)
        return wndl_fail_at(err, WNDL_MALFORMED, FILE_HEADER,
            is_64(object) ? 62 : 50, "no section has the names' index");
    enum wndl_status status =
        wndl_object_stored_bytes(object, &object->sections[index], names, NULL);
    if (status == WNDL_OK)
        return WNDL_OK;
    return wndl_fail_at(err, status == WNDL_NOT_FOUND ? WNDL_MALFORMED : status,
        SECTION_NAMES, 0, "the section of the names is not in the file");
}

static enum wndl_status name_section(struct wndl_object_section *section,
    struct wndl_bytes names, uint32_t offset, struct wndl_error *err)
{
    section->view.name = (struct wndl_bytes){(const uint8_t *)"", 0};
    if (names.size == 0)
        return WNDL_OK;
    struct wndl_bytes name = wndl_object_name_at(names, offset);
    if (name.data == NULL)
        return wndl_fail_at(err, WNDL_MALFORMED, SECTION_NAMES, offset,
            "a section name reaches past their end");
    section->view.name = name;
    return WNDL_OK;
}

static enum wndl_status name_sections(const struct wndl_object *object,
    const struct header *header, const struct table *table,
    struct wndl_error *err)
{
    struct wndl_bytes names;
    enum wndl_status status =
        section_names(object, header->names_index, &names, err);
    for (size_t i = 0; i < object->section_count && status == WNDL_OK; i++) {
        struct wndl_cursor c = entry_cursor(object, table, i);
        struct wndl_object_section *section = &object->sections[i];
        uint32_t offset = wndl_cursor_u32(&c);
        status = name_section(section, names, offset, err);
        if (status == WNDL_OK)
            wndl_object_detect_packing(object, section);
    }
    return status;
}

static enum wndl_status read_sections(struct wndl_object *object,
    const struct header *header, struct wndl_error *err)
{
    struct table table = {SECTION_HEADERS, header->section_offset,
        header->section_count, header->section_stride,
        is_64(object) ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)};
    if (table.count == 0 || table.offset == 0)
        return WNDL_OK;
    enum wndl_status status = check_table(object, &table, err);
    if (status != WNDL_OK)
        return status;
    object->sections = wndl_arena_calloc(
        &object->arena, table.count, sizeof *object->sections);
    if (object->sections == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the sections");
    object->section_count = table.count;
    for (size_t i = 0; i < table.count; i++) {
        struct wndl_cursor c = entry_cursor(object, &table, i);
        uint32_t name;
        read_section(&c, object, &object->sections[i], &name);
    }
    return name_sections(object, header, &table, err);
}

/*
 * Sections win over segments: strip and objcopy keep them right. Those of a
 * sound file do not overlap, so no more notes are read than there are bytes.
 */
static void find_build_id(struct wndl_object *object)
{
    uint64_t unread = object->file.size;
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        if (section->view.type != SHT_NOTE || section->stored_size > unread)
            continue;
        unread -= section->stored_size;
        struct wndl_bytes notes = wndl_bytes_slice(
            object->file, section->view.offset, section->stored_size);
        struct wndl_bytes id = wndl_elf_find_build_id(
            notes, section->alignment, object->big_endian);
        if (id.size != 0) {
            object->build_id = id;
            return;
        }
    }
}

enum wndl_status wndl_elf_open(
    struct wndl_object *object, const char *arch, struct wndl_error *err)
{
    (void)arch;
    struct header header = {0};
    struct wndl_segment eh_frame = {0};
    enum wndl_status status = read_ident(object, err);
    if (status == WNDL_OK)
        status = read_header(object, &header, err);
    if (status == WNDL_OK)
        status = extend_counts(object, &header, err);
    if (status == WNDL_OK)
        status = read_segments(object, &header, &eh_frame, err);
    if (status == WNDL_OK)
        status = read_sections(object, &header, err);
    if (status == WNDL_OK && object->section_count == 0 &&
        eh_frame.file_size != 0)
        status = wndl_elf_find_eh_frame(object, &eh_frame, err);
    if (status != WNDL_OK)
        return status;
    find_image_base(object);
    find_build_id(object);
    if (object->type == ET_REL)
        status = wndl_elf_place_sections(object, err);
    return status;
}
