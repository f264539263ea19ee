/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "dwarfmake.h"

enum tag {
    TAG_COMPILE_UNIT = 0x11,
    TAG_STRUCTURE = 0x13,
    TAG_INLINED = 0x1d,
    TAG_SUBPROGRAM = 0x2e,
    TAG_BLOCK = 0x0b,
    TAG_NAMESPACE = 0x39,
};

enum attribute {
    AT_SIBLING = 0x01,
    AT_NAME = 0x03,
    AT_STMT_LIST = 0x10,
    AT_LOW_PC = 0x11,
    AT_HIGH_PC = 0x12,
    AT_COMP_DIR = 0x1b,
    AT_ORIGIN = 0x31,
    AT_EXTERNAL = 0x3f,
    AT_FRAME_BASE = 0x40,
    AT_SPECIFICATION = 0x47,
    AT_RANGES = 0x55,
    AT_CALL_COLUMN = 0x57,
    AT_CALL_FILE = 0x58,
    AT_CALL_LINE = 0x59,
    AT_LINKAGE_NAME = 0x6e,
    AT_STR_OFFSETS_BASE = 0x72,
    AT_ADDR_BASE = 0x73,
    AT_RNGLISTS_BASE = 0x74,
    AT_DWO_NAME = 0x76,
    AT_GNU_DWO_NAME = 0x2130,
    AT_GNU_DWO_ID = 0x2131,
    AT_GNU_RANGES_BASE = 0x2132,
    AT_GNU_ADDR_BASE = 0x2133,
};

/* DW_UT_* */
enum { UT_COMPILE = 1, UT_SKELETON = 4, UT_SPLIT_COMPILE = 5 };

enum form {
    FORM_ADDR = 0x01,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_BLOCK1 = 0x0a,
    FORM_DATA1 = 0x0b,
    FORM_FLAG = 0x0c,
    FORM_REF4 = 0x13,
    FORM_SEC_OFFSET = 0x17,
    FORM_STRX = 0x1a,
    FORM_ADDRX = 0x1b,
    FORM_RNGLISTX = 0x23,
};

enum { LINE_BASE = -3, LINE_RANGE = 12, OPCODE_BASE = 13 };

static void each_buf(struct dwarfmake *m, void (*visit)(struct wndl_buf *buf))
{
    struct wndl_buf *all[] = {&m->info, &m->abbrev, &m->line, &m->line_str,
        &m->str, &m->str_offsets, &m->addr, &m->ranges, &m->rnglists,
        &m->aranges};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        visit(all[i]);
}

static void init_buf(struct wndl_buf *buf)
{
    wndl_buf_init(buf, wndl_mem_libc());
}

void dwarfmake_init(struct dwarfmake *m, const struct dwarf_recipe *how)
{
    *m = (struct dwarfmake){.how = *how};
    each_buf(m, init_buf);
}

void dwarfmake_free(struct dwarfmake *m)
{
    each_buf(m, wndl_buf_free);
}

static struct wndl_bytes bytes_of(const struct wndl_buf *buf)
{
    assert_false(buf->failed);
    return (struct wndl_bytes){buf->data, buf->size};
}

struct wndl_dwarf_sections dwarfmake_sections(const struct dwarfmake *m)
{
    return (struct wndl_dwarf_sections){
        .info = bytes_of(&m->info),
        .abbrev = bytes_of(&m->abbrev),
        .line = bytes_of(&m->line),
        .line_str = bytes_of(&m->line_str),
        .str = bytes_of(&m->str),
        .str_offsets = bytes_of(&m->str_offsets),
        .addr = bytes_of(&m->addr),
        .ranges = bytes_of(&m->ranges),
        .rnglists = bytes_of(&m->rnglists),
        .aranges = bytes_of(&m->aranges),
        .big_endian = m->how.big_endian,
    };
}

void dw_patch(struct dwarfmake *m, struct wndl_buf *buf, size_t at,
    uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        size_t shift = 8 * (m->how.big_endian ? size - 1 - i : i);
        buf->data[at + i] = (uint8_t)(value >> shift);
    }
}

void dw_uint(
    struct dwarfmake *m, struct wndl_buf *buf, uint64_t value, size_t size)
{
    size_t at = buf->size;
    assert_non_null(wndl_buf_reserve(buf, size));
    buf->size += size;
    dw_patch(m, buf, at, value, size);
}

void dw_address(struct dwarfmake *m, struct wndl_buf *buf, uint64_t value)
{
    dw_uint(m, buf, value, m->how.address_size);
}

void dw_offset(struct dwarfmake *m, struct wndl_buf *buf, uint64_t value)
{
    dw_uint(m, buf, value, m->how.offset_size);
}

void dw_string(struct wndl_buf *buf, const char *text)
{
    wndl_buf_add(buf, text, strlen(text) + 1);
}

size_t dw_begin(struct dwarfmake *m, struct wndl_buf *buf)
{
    if (m->how.offset_size == 8)
        dw_uint(m, buf, UINT32_MAX, 4);
    dw_offset(m, buf, 0);
    return buf->size;
}

void dw_end(struct dwarfmake *m, struct wndl_buf *buf, size_t begun)
{
    dw_patch(m, buf, begun - m->how.offset_size, buf->size - begun,
        m->how.offset_size);
}

size_t dw_begin_unit(struct dwarfmake *m, uint64_t abbrev_offset)
{
    m->unit = m->info.size;
    size_t begun = dw_begin(m, &m->info);
    dw_uint(m, &m->info, m->how.version, 2);
    if (m->how.version >= 5) {
        wndl_buf_byte(&m->info, m->unit_type == 0 ? UT_COMPILE : m->unit_type);
        wndl_buf_byte(&m->info, (uint8_t)m->how.address_size);
        dw_offset(m, &m->info, abbrev_offset);
        if (m->unit_type == UT_SKELETON || m->unit_type == UT_SPLIT_COMPILE)
            dw_uint(m, &m->info, m->dwo_id, 8);
    } else {
        dw_offset(m, &m->info, abbrev_offset);
        wndl_buf_byte(&m->info, (uint8_t)m->how.address_size);
    }
    return begun;
}

void dw_abbrev(struct dwarfmake *m, uint64_t code, unsigned tag, bool children,
    const uint16_t *pairs)
{
    wndl_buf_uleb(&m->abbrev, code);
    wndl_buf_uleb(&m->abbrev, tag);
    wndl_buf_byte(&m->abbrev, children);
    for (; *pairs != 0; pairs++)
        wndl_buf_uleb(&m->abbrev, *pairs);
    wndl_buf_u64le(&m->abbrev, 0);
    m->abbrev.size -= 6; /* a pair of zeros */
}

struct dw_line dw_begin_line(struct dwarfmake *m, unsigned max_ops)
{
    static const uint8_t lengths[OPCODE_BASE - 1] = {
        0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    struct wndl_buf *b = &m->line;
    struct dw_line line = {.length = dw_begin(m, b)};
    dw_uint(m, b, m->how.version, 2);
    if (m->how.version >= 5) {
        wndl_buf_byte(b, (uint8_t)m->how.address_size);
        wndl_buf_byte(b, 0);
    }
    line.header_length = b->size;
    dw_offset(m, b, 0);
    wndl_buf_byte(b, 1);
    if (m->how.version >= 4)
        wndl_buf_byte(b, (uint8_t)max_ops);
    wndl_buf_byte(b, 1);
    wndl_buf_byte(b, (uint8_t)LINE_BASE);
    wndl_buf_byte(b, LINE_RANGE);
    wndl_buf_byte(b, OPCODE_BASE);
    wndl_buf_add(b, lengths, sizeof lengths);
    line.tables = b->size;
    return line;
}

void dw_begin_program(struct dwarfmake *m, const struct dw_line *line)
{
    size_t from = line->header_length + m->how.offset_size;
    dw_patch(m, &m->line, line->header_length, m->line.size - from,
        m->how.offset_size);
}

void dw_end_line(struct dwarfmake *m, const struct dw_line *line)
{
    dw_end(m, &m->line, line->length);
}

static void old_files(struct dwarfmake *m)
{
    static const char tables[] = "inc\0\0a.c\0\0\0\0b.h\0\1\0\0";
    wndl_buf_add(&m->line, tables, sizeof tables);
}

void dw_sample_files(struct dwarfmake *m)
{
    static const uint8_t dir_format[] = {1, 1, FORM_STRING, 2};
    static const uint8_t file_format[] = {2, 1, FORM_STRING, 2, 0x0b, 3};
    if (m->how.version < 5) {
        old_files(m);
        return;
    }
    wndl_buf_add(&m->line, dir_format, sizeof dir_format);
    dw_string(&m->line, "/src");
    dw_string(&m->line, "inc");
    wndl_buf_add(&m->line, file_format, sizeof file_format);
    wndl_buf_add(&m->line, "a.c\0\0a.c\0\0b.h\0\1", 15);
}

void dw_set_address(struct dwarfmake *m, uint64_t address)
{
    wndl_buf_byte(&m->line, 0);
    wndl_buf_uleb(&m->line, 1 + m->how.address_size);
    wndl_buf_byte(&m->line, 2);
    dw_address(m, &m->line, address);
}

void dw_row(struct dwarfmake *m, uint64_t address, unsigned file, int line,
    unsigned column)
{
    dw_set_address(m, address);
    wndl_buf_byte(&m->line, 4); /* DW_LNS_set_file */
    wndl_buf_uleb(&m->line, file);
    wndl_buf_byte(&m->line, 5); /* DW_LNS_set_column */
    wndl_buf_uleb(&m->line, column);
    wndl_buf_byte(&m->line, 3); /* DW_LNS_advance_line, there and back */
    wndl_buf_sleb(&m->line, line - 1);
    wndl_buf_byte(&m->line, 1); /* DW_LNS_copy */
    wndl_buf_byte(&m->line, 3);
    wndl_buf_sleb(&m->line, 1 - line);
}

void dw_end_sequence(struct dwarfmake *m, uint64_t address)
{
    static const uint8_t end[] = {0, 1, 1};
    dw_set_address(m, address);
    wndl_buf_add(&m->line, end, sizeof end);
}

/* ---- the sample ---- */

enum code {
    UNIT = 1,
    ABSTRACT,
    MAIN,
    BLOCK,
    LEAF,
    DEEP,
    SPACE,
    DECL,
    HELPER,
    TYPE,
    METHOD
};

static bool indexed(const struct dwarfmake *m)
{
    return m->how.indexed && m->how.version >= 5;
}

static uint16_t section_form(const struct dwarfmake *m)
{
    if (m->how.version >= 4)
        return FORM_SEC_OFFSET;
    return m->how.offset_size == 8 ? FORM_DATA8 : FORM_DATA4;
}

/* Before version 5 the root DIE has what the header has in it. */
static bool is_gnu_split(const struct dwarfmake *m)
{
    return m->how.version < 5 && m->unit_type == UT_SPLIT_COMPILE;
}

static void sample_abbrevs(struct dwarfmake *m)
{
    uint16_t str = indexed(m) ? FORM_STRX : FORM_STRING;
    uint16_t low = indexed(m) ? FORM_ADDRX : FORM_ADDR;
    uint16_t section = section_form(m);
    uint16_t list = indexed(m) ? FORM_RNGLISTX : section;
    const uint16_t split[] = {AT_NAME, str, AT_COMP_DIR, str, AT_STMT_LIST,
        section, AT_LOW_PC, low, AT_HIGH_PC, FORM_DATA4, AT_GNU_DWO_ID,
        FORM_DATA8, 0};
    const uint16_t unit[] = {AT_NAME, str, AT_COMP_DIR, str, AT_STMT_LIST,
        section, AT_LOW_PC, low, AT_HIGH_PC, FORM_DATA4,
        indexed(m) ? AT_STR_OFFSETS_BASE : 0, section, AT_ADDR_BASE, section,
        AT_RNGLISTS_BASE, section, 0};
    const uint16_t main[] = {AT_EXTERNAL, FORM_FLAG, AT_NAME, str, AT_LOW_PC,
        low, AT_HIGH_PC, FORM_DATA4, AT_FRAME_BASE, FORM_BLOCK1, AT_SIBLING,
        FORM_REF4, 0};
    const uint16_t leaf[] = {AT_ORIGIN, FORM_REF4, AT_RANGES, list,
        AT_CALL_FILE, FORM_DATA1, AT_CALL_LINE, FORM_DATA1, AT_CALL_COLUMN,
        FORM_DATA1, 0};
    const uint16_t deep[] = {AT_ORIGIN, FORM_REF4, AT_LOW_PC, low, AT_HIGH_PC,
        FORM_DATA4, AT_CALL_FILE, FORM_DATA1, AT_CALL_LINE, FORM_DATA1,
        AT_CALL_COLUMN, FORM_DATA1, 0};
    const uint16_t decl[] = {AT_NAME, str, AT_LINKAGE_NAME, str, 0};
    const uint16_t helper[] = {
        AT_SPECIFICATION, FORM_REF4, AT_LOW_PC, low, AT_HIGH_PC, FORM_DATA4, 0};
    const uint16_t type[] = {AT_NAME, str, AT_SIBLING, FORM_REF4, 0};
    const uint16_t method[] = {
        AT_NAME, str, AT_LOW_PC, low, AT_HIGH_PC, FORM_DATA4, 0};
    const uint16_t name[] = {AT_NAME, str, 0};
    const uint16_t none[] = {0};
    dw_abbrev(m, UNIT, TAG_COMPILE_UNIT, true, is_gnu_split(m) ? split : unit);
    dw_abbrev(m, ABSTRACT, TAG_SUBPROGRAM, false, name);
    dw_abbrev(m, MAIN, TAG_SUBPROGRAM, true, main);
    dw_abbrev(m, BLOCK, TAG_BLOCK, true, none);
    dw_abbrev(m, LEAF, TAG_INLINED, true, leaf);
    dw_abbrev(m, DEEP, TAG_INLINED, false, deep);
    dw_abbrev(m, SPACE, TAG_NAMESPACE, true, name);
    dw_abbrev(m, DECL, TAG_SUBPROGRAM, false, decl);
    dw_abbrev(m, HELPER, TAG_SUBPROGRAM, false, helper);
    dw_abbrev(m, TYPE, TAG_STRUCTURE, true, type);
    dw_abbrev(m, METHOD, TAG_SUBPROGRAM, false, method);
    wndl_buf_byte(&m->abbrev, 0);
}

/* A table header whose length nobody reads: 8 or 16 bytes. */
static void dummy_header(struct dwarfmake *m, struct wndl_buf *buf)
{
    if (buf->size != 0)
        return;
    dw_end(m, buf, dw_begin(m, buf));
    dw_uint(m, buf, 5, 2);
    dw_uint(m, buf, 0, 2);
}

static size_t header_size(const struct dwarfmake *m)
{
    return m->how.offset_size == 8 ? 16 : 8;
}

static void put_name(struct dwarfmake *m, const char *text)
{
    if (!indexed(m)) {
        dw_string(&m->info, text);
        return;
    }
    dummy_header(m, &m->str_offsets);
    size_t index = (m->str_offsets.size - header_size(m)) / m->how.offset_size;
    wndl_buf_uleb(&m->info, index);
    dw_offset(m, &m->str_offsets, m->str.size);
    dw_string(&m->str, text);
}

static void put_pc(struct dwarfmake *m, uint64_t low, uint64_t high)
{
    if (indexed(m)) {
        dummy_header(m, &m->addr);
        size_t index = (m->addr.size - header_size(m)) / m->how.address_size;
        wndl_buf_uleb(&m->info, index);
        dw_address(m, &m->addr, low);
    } else {
        dw_address(m, &m->info, low);
    }
    dw_uint(m, &m->info, high - low, 4);
}

/* The ranges of leaf, as offsets from the unit's base 0x1000. */
static void put_ranges(struct dwarfmake *m)
{
    static const uint8_t pairs[] = {0x10, 0x20, 0x30, 0x38, 0, 0};
    static const uint8_t list[] = {4, 0x10, 0x20, 4, 0x30, 0x38, 0};
    if (m->how.version < 5) {
        dw_offset(m, &m->info, m->ranges.size);
        for (size_t i = 0; i < 6; i++)
            dw_address(m, &m->ranges, pairs[i]);
        return;
    }
    size_t begun = dw_begin(m, &m->rnglists);
    dw_uint(m, &m->rnglists, 5, 2);
    dw_uint(m, &m->rnglists, m->how.address_size, 1);
    dw_uint(m, &m->rnglists, 0, 1);
    dw_uint(m, &m->rnglists, 1, 4);
    dw_offset(m, &m->rnglists, m->how.offset_size);
    if (indexed(m))
        wndl_buf_uleb(&m->info, 0);
    else
        dw_offset(m, &m->info, m->rnglists.size);
    wndl_buf_add(&m->rnglists, list, sizeof list);
    dw_end(m, &m->rnglists, begun);
}

static void put_ref(struct dwarfmake *m, size_t die)
{
    dw_uint(m, &m->info, die - m->unit, 4);
}

static size_t begin_die(struct dwarfmake *m, enum code code)
{
    size_t at = m->info.size;
    wndl_buf_uleb(&m->info, code);
    return at;
}

static void put_call(
    struct dwarfmake *m, uint8_t file, uint8_t line, uint8_t column)
{
    wndl_buf_byte(&m->info, file);
    wndl_buf_byte(&m->info, line);
    wndl_buf_byte(&m->info, column);
}

static void put_root(struct dwarfmake *m)
{
    begin_die(m, UNIT);
    put_name(m, "a.c");
    put_name(m, "/src");
    dw_offset(m, &m->info, 0);
    put_pc(m, 0x1000, 0x1150);
    if (is_gnu_split(m))
        dw_uint(m, &m->info, m->dwo_id, 8);
    if (!indexed(m))
        return;
    dw_offset(m, &m->info, header_size(m));
    dw_offset(m, &m->info, header_size(m));
    dw_offset(m, &m->info, header_size(m) + 4);
}

static size_t put_abstract(struct dwarfmake *m, const char *name)
{
    size_t at = begin_die(m, ABSTRACT);
    put_name(m, name);
    return at;
}

static void put_main(struct dwarfmake *m, size_t leaf, size_t deep)
{
    begin_die(m, MAIN);
    wndl_buf_byte(&m->info, 1);
    put_name(m, "main");
    put_pc(m, 0x1000, 0x1100);
    wndl_buf_byte(&m->info, 1); /* DW_AT_frame_base */
    wndl_buf_byte(&m->info, 0x9c);
    size_t sibling = m->info.size;
    dw_uint(m, &m->info, 0, 4);
    begin_die(m, BLOCK);
    begin_die(m, LEAF);
    put_ref(m, leaf);
    put_ranges(m);
    put_call(m, 1, 11, 3);
    begin_die(m, DEEP);
    put_ref(m, deep);
    put_pc(m, 0x1014, 0x1018);
    put_call(m, 2, 5, 7);
    wndl_buf_add(&m->info, "\0\0\0", 3);
    dw_patch(m, &m->info, sibling, m->info.size - m->unit, 4);
}

static void put_helper(struct dwarfmake *m)
{
    begin_die(m, SPACE);
    put_name(m, "space");
    size_t decl = begin_die(m, DECL);
    put_name(m, "helper");
    put_name(m, "_Z6helperv");
    wndl_buf_byte(&m->info, 0);
    begin_die(m, HELPER);
    put_ref(m, decl);
    put_pc(m, 0x1100, 0x1140);
}

static void put_type(struct dwarfmake *m)
{
    begin_die(m, TYPE);
    put_name(m, "type");
    size_t sibling = m->info.size;
    dw_uint(m, &m->info, 0, 4);
    begin_die(m, METHOD);
    put_name(m, "method");
    put_pc(m, 0x1140, 0x1148);
    wndl_buf_byte(&m->info, 0);
    dw_patch(m, &m->info, sibling, m->info.size - m->unit, 4);
}

static void sample_lines(struct dwarfmake *m)
{
    struct dw_line line = dw_begin_line(m, 1);
    dw_sample_files(m);
    dw_begin_program(m, &line);
    dw_row(m, 0x1000, 1, 10, 1);
    dw_row(m, 0x1010, 2, 4, 2);
    dw_row(m, 0x1014, 2, 8, 9);
    dw_row(m, 0x1018, 2, 4, 2);
    dw_row(m, 0x1020, 1, 12, 1);
    dw_row(m, 0x1100, 1, 20, 1);
    dw_row(m, 0x1148, 1, 0, 0);
    dw_end_sequence(m, 0x1150);
    dw_end_line(m, &line);
}

void make_sample_dwarf(struct dwarfmake *m)
{
    sample_abbrevs(m);
    size_t unit = dw_begin_unit(m, 0);
    put_root(m);
    size_t leaf = put_abstract(m, "leaf");
    size_t deep = put_abstract(m, "deep");
    put_main(m, leaf, deep);
    put_helper(m);
    put_type(m);
    wndl_buf_byte(&m->info, 0);
    dw_end(m, &m->info, unit);
    sample_lines(m);
}

/* ---- its skeleton ---- */

static void append_all(struct wndl_buf *to, const struct wndl_buf *from)
{
    wndl_buf_add(to, from->data, from->size);
}

static void skeleton_abbrevs(struct dwarfmake *m)
{
    uint16_t section = section_form(m);
    const uint16_t gnu[] = {AT_GNU_DWO_NAME, FORM_STRING, AT_COMP_DIR,
        FORM_STRING, AT_STMT_LIST, section, AT_LOW_PC, FORM_ADDR, AT_HIGH_PC,
        FORM_DATA4, AT_GNU_DWO_ID, FORM_DATA8, AT_GNU_RANGES_BASE, section, 0};
    const uint16_t standard[] = {AT_DWO_NAME, FORM_STRING, AT_COMP_DIR,
        FORM_STRING, AT_STMT_LIST, section, AT_LOW_PC, FORM_ADDR, AT_HIGH_PC,
        FORM_DATA4, AT_ADDR_BASE, section, 0};
    bool v5 = m->how.version >= 5;
    dw_abbrev(
        m, UNIT, v5 ? 0x4a : TAG_COMPILE_UNIT, false, v5 ? standard : gnu);
    wndl_buf_byte(&m->abbrev, 0);
}

void make_skeleton_dwarf(
    struct dwarfmake *m, const char *name, const struct dwarfmake *dwo)
{
    m->unit_type = UT_SKELETON;
    skeleton_abbrevs(m);
    dw_address(m, &m->ranges, 0); /* so that the base is not 0 */
    append_all(&m->ranges, &dwo->ranges);
    append_all(&m->addr, &dwo->addr);
    size_t unit = dw_begin_unit(m, 0);
    begin_die(m, UNIT);
    dw_string(&m->info, name);
    dw_string(&m->info, "/src");
    dw_offset(m, &m->info, 0);
    dw_address(m, &m->info, 0x1000);
    dw_uint(m, &m->info, 0x150, 4);
    if (m->how.version >= 5) {
        dw_offset(m, &m->info, header_size(m));
    } else {
        dw_uint(m, &m->info, m->dwo_id, 8);
        dw_offset(m, &m->info, m->how.address_size);
    }
    dw_end(m, &m->info, unit);
    sample_lines(m);
}
