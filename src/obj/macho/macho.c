/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "obj/macho/impl.h"

#include <elf.h>
#include <string.h>

/* Load commands. */
enum {
    CMD_SEGMENT = 0x1,
    CMD_SYMTAB = 0x2,
    CMD_SEGMENT_64 = 0x19,
    CMD_UUID = 0x1b,
    CMD_DYLD_INFO = 0x22,
    CMD_FUNCTION_STARTS = 0x26,
    CMD_EXPORTS_TRIE = 0x33,
    CMD_MASK = 0x7fffffff, /* without "dyld must know it" */
};

enum { NAME_SIZE = 16 };

/* Sections. */
enum {
    ZEROFILL = 0x1,
    GB_ZEROFILL = 0xc,
    THREAD_LOCAL_ZEROFILL = 0x12,
    HAS_INSTRUCTIONS = 0x400,
};
#define ONLY_INSTRUCTIONS UINT32_C(0x80000000)

enum { MAY_EXECUTE = 4 };

static uint16_t machine_of(uint32_t cpu)
{
    switch (cpu) {
    case 7:
        return EM_386;
    case 12:
        return EM_ARM;
    case 18:
        return EM_PPC;
    case 0x01000007:
        return EM_X86_64;
    case 0x0100000c:
    case 0x0200000c:
        return EM_AARCH64;
    case 0x01000012:
        return EM_PPC64;
    default:
        return EM_NONE;
    }
}

/*
 * Libraries, bundles, kernel extensions and the like; also dSYM files, which
 * have the addresses of their image.
 */
static uint16_t type_of(uint32_t kind)
{
    switch (kind) {
    case WNDL_MACHO_OBJECT:
        return ET_REL;
    case WNDL_MACHO_CORE:
        return ET_CORE;
    case 2:
        return ET_EXEC;
    default:
        return ET_DYN;
    }
}

/* Reading of load commands; `sections` and `segments` grow in the arena. */
struct reading {
    struct wndl_object *object;
    struct wndl_macho *macho;
    struct wndl_vec sections; /* struct wndl_object_section */
    struct wndl_vec segments; /* struct wndl_segment */
    bool has_text;
};

static enum wndl_status fail_command(const struct reading *r,
    const struct wndl_cursor *at, const char *what, struct wndl_error *err)
{
    return wndl_fail_at(err, WNDL_MALFORMED, "load commands",
        r->macho->offset + wndl_cursor_offset(at), what);
}

static struct wndl_bytes take_name(struct wndl_cursor *c)
{
    const uint8_t *name = wndl_cursor_take(c, NAME_SIZE);
    if (name == NULL)
        return (struct wndl_bytes){0};
    return (struct wndl_bytes){name, strnlen((const char *)name, NAME_SIZE)};
}

static uint64_t take_address(const struct reading *r, struct wndl_cursor *c)
{
    return r->object->address_size == 8 ? wndl_cursor_u64(c)
                                        : wndl_cursor_u32(c);
}

/* ELF's name for a section whose name was cut off at 16 bytes; else NULL. */
static const char *whole_name(struct wndl_bytes name)
{
    static const char *const longer[] = {".debug_str_offsets",
        ".zdebug_str_offsets", ".zdebug_line_str", ".zdebug_rnglists",
        ".zdebug_loclists"};
    for (size_t i = 0; i < sizeof longer / sizeof longer[0]; i++)
        if (name.size == NAME_SIZE &&
            memcmp(name.data + 2, longer[i] + 1, NAME_SIZE - 2) == 0)
            return longer[i];
    return NULL;
}

/* Sections that we read have ELF's names, ".debug_info" for "__debug_info";
 * all others their own. */
static bool set_name(
    struct wndl_arena *arena, struct wndl_section *view, struct wndl_bytes name)
{
    char text[NAME_SIZE + 1] = {0};
    bool debug = wndl_bytes_start_with(name, "__debug_") ||
                 wndl_bytes_start_with(name, "__zdebug_");
    const char *whole = debug ? whole_name(name) : NULL;
    if (whole != NULL) {
        view->name = (struct wndl_bytes){(const uint8_t *)whole, strlen(whole)};
        return true;
    }
    if (name.size != 0)
        memcpy(text, name.data, name.size);
    bool known = debug || wndl_bytes_is(name, "__eh_frame");
    if (known)
        text[1] = '.';
    const char *start = text + (known ? 1 : 0);
    char *copy = wndl_arena_copy(arena, start, strlen(start));
    view->name = (struct wndl_bytes){(const uint8_t *)copy, strlen(start)};
    return copy != NULL;
}

static bool has_bytes(const struct reading *r, uint32_t flags, bool debug)
{
    uint32_t type = flags & 0xff;
    if (r->macho->kind == WNDL_MACHO_DSYM && !debug)
        return false;
    return type != ZEROFILL && type != GB_ZEROFILL &&
           type != THREAD_LOCAL_ZEROFILL;
}

static enum wndl_status add_section(
    struct reading *r, struct wndl_cursor *c, struct wndl_error *err)
{
    struct wndl_object_section *section = wndl_vec_push(&r->sections);
    struct wndl_bytes name = take_name(c);
    struct wndl_bytes segment = take_name(c);
    if (section == NULL || !set_name(&r->object->arena, &section->view, name))
        return wndl_fail(err, WNDL_NOMEM, "no memory for the file's tables");
    bool debug = wndl_bytes_is(segment, "__DWARF");
    section->view.addr.v = take_address(r, c);
    section->view.size = take_address(r, c);
    section->view.offset = r->macho->offset + wndl_cursor_u32(c);
    section->stored_size = section->view.size;
    section->alignment = UINT64_C(1) << (wndl_cursor_u32(c) & 31);
    wndl_cursor_skip(c, 8);
    uint32_t flags = wndl_cursor_u32(c);
    wndl_cursor_skip(c, r->object->address_size == 8 ? 12 : 8);
    section->view.type = has_bytes(r, flags, debug) ? SHT_PROGBITS : SHT_NOBITS;
    section->view.flags = debug ? 0 : SHF_ALLOC;
    if ((flags & (ONLY_INSTRUCTIONS | HAS_INSTRUCTIONS)) != 0)
        section->view.flags |= SHF_EXECINSTR;
    wndl_object_detect_packing(r->object, section);
    return WNDL_OK;
}

/* A segment that is not loaded has no place in the image. */
static bool is_loaded(struct wndl_bytes name)
{
    return !wndl_bytes_is(name, "__PAGEZERO") &&
           !wndl_bytes_is(name, "__DWARF");
}

static enum wndl_status add_segment(
    struct reading *r, struct wndl_cursor *c, struct wndl_error *err)
{
    struct wndl_bytes name = take_name(c);
    struct wndl_segment segment = {0};
    segment.addr.v = take_address(r, c);
    segment.mem_size = take_address(r, c);
    segment.file_offset = r->macho->offset + take_address(r, c);
    segment.file_size = take_address(r, c);
    wndl_cursor_skip(c, 4);
    segment.executable = (wndl_cursor_u32(c) & MAY_EXECUTE) != 0;
    uint32_t sections = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 4);
    size_t each = r->object->address_size == 8 ? 80 : 68;
    if (c->failed || sections > wndl_cursor_left(c) / each)
        return fail_command(
            r, c, "a segment's sections do not fit its load command", err);
    if (wndl_bytes_is(name, "__TEXT") && !r->has_text) {
        r->macho->header = segment.addr.v;
        r->has_text = true;
    }
    if (is_loaded(name)) {
        struct wndl_segment *slot = wndl_vec_push(&r->segments);
        if (slot == NULL)
            return wndl_fail(
                err, WNDL_NOMEM, "no memory for the file's tables");
        *slot = segment;
    }
    enum wndl_status status = WNDL_OK;
    for (uint32_t i = 0; i < sections && status == WNDL_OK; i++)
        status = add_section(r, c, err);
    return status;
}

static void read_dyld_info(struct reading *r, struct wndl_cursor *c)
{
    wndl_cursor_skip(c, 32);
    r->macho->exports.offset = wndl_cursor_u32(c);
    r->macho->exports.size = wndl_cursor_u32(c);
}

static void read_part(struct wndl_macho_part *part, struct wndl_cursor *c)
{
    part->offset = wndl_cursor_u32(c);
    part->size = wndl_cursor_u32(c);
}

/* `c` is at the bytes after the command's kind and size. */
static enum wndl_status read_command(struct reading *r, uint32_t kind,
    struct wndl_cursor *c, struct wndl_error *err)
{
    struct wndl_macho *m = r->macho;
    switch (kind & CMD_MASK) {
    case CMD_SEGMENT:
    case CMD_SEGMENT_64:
        if (((kind & CMD_MASK) == CMD_SEGMENT_64) !=
            (r->object->address_size == 8))
            return WNDL_OK;
        return add_segment(r, c, err);
    case CMD_SYMTAB:
        m->symbol_offset = wndl_cursor_u32(c);
        m->symbol_count = wndl_cursor_u32(c);
        read_part(&m->strings, c);
        break;
    case CMD_UUID:
        r->object->build_id = (struct wndl_bytes){wndl_cursor_take(c, 16), 16};
        if (c->failed)
            r->object->build_id = (struct wndl_bytes){0};
        break;
    case CMD_DYLD_INFO:
        read_dyld_info(r, c);
        break;
    case CMD_FUNCTION_STARTS:
        read_part(&m->starts, c);
        break;
    case CMD_EXPORTS_TRIE:
        read_part(&m->exports, c);
        break;
    default:
        break;
    }
    return c->failed ? fail_command(r, c,
                           "a load command is too short for its kind", err)
                     : WNDL_OK;
}

static enum wndl_status read_commands(
    struct reading *r, uint32_t count, uint32_t size, struct wndl_error *err)
{
    uint64_t header = r->object->address_size == 8 ? 32 : 28;
    struct wndl_cursor all =
        wndl_cursor_at(r->macho->bytes, header, r->object->big_endian);
    struct wndl_cursor c = wndl_cursor_sub(&all, size);
    if (c.failed)
        return wndl_fail_at(err, WNDL_TRUNCATED, "load commands",
            r->macho->offset + header, "they reach past the end of the file");
    for (uint32_t i = 0; i < count; i++) {
        struct wndl_cursor start = c;
        uint32_t kind = wndl_cursor_u32(&c);
        uint32_t length = wndl_cursor_u32(&c);
        if (c.failed || length < 8 || length - 8 > wndl_cursor_left(&c))
            return fail_command(r, &start,
                "a load command reaches beyond those of the header", err);
        struct wndl_cursor command = wndl_cursor_sub(&c, length - 8);
        enum wndl_status status = read_command(r, kind, &command, err);
        if (status != WNDL_OK)
            return status;
    }
    return WNDL_OK;
}

static void finish(struct reading *r)
{
    struct wndl_object *object = r->object;
    object->sections = r->sections.data;
    object->section_count = r->sections.len;
    object->segments = r->segments.data;
    object->segment_count = r->segments.len;
    object->image_base.v = r->macho->header;
}

bool wndl_macho_is_object_file(const struct wndl_object *object)
{
    return object->macho != NULL && object->macho->kind == WNDL_MACHO_OBJECT;
}

enum wndl_status wndl_macho_open(
    struct wndl_object *object, const char *arch, struct wndl_error *err)
{
    struct wndl_macho *m = wndl_arena_alloc(&object->arena, sizeof *m);
    if (m == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the file's tables");
    enum wndl_status status =
        wndl_macho_choose(object->file, arch, &m->bytes, err);
    if (status != WNDL_OK)
        return status;
    m->offset = (uint64_t)(m->bytes.data - object->file.data);
    if (!wndl_macho_read_magic(
            m->bytes, &object->big_endian, &object->address_size))
        return wndl_fail_at(err, WNDL_MALFORMED, "Mach-O header", m->offset,
            "the part for the architecture is not a binary");
    struct wndl_cursor c = wndl_cursor_at(m->bytes, 4, object->big_endian);
    m->cpu = wndl_cursor_u32(&c);
    m->subtype = wndl_cursor_u32(&c);
    m->kind = wndl_cursor_u32(&c);
    uint32_t count = wndl_cursor_u32(&c);
    uint32_t size = wndl_cursor_u32(&c);
    if (c.failed)
        return wndl_fail_at(err, WNDL_TRUNCATED, "Mach-O header", m->offset,
            "the header is cut short");
    object->macho = m;
    object->machine = machine_of(m->cpu);
    object->type = type_of(m->kind);
    struct reading r = {.object = object, .macho = m};
    wndl_vec_init(
        &r.sections, &object->arena, sizeof(struct wndl_object_section));
    wndl_vec_init(&r.segments, &object->arena, sizeof(struct wndl_segment));
    status = read_commands(&r, count, size, err);
    if (status == WNDL_OK)
        finish(&r);
    return status;
}
