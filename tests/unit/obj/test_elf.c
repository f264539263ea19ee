/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "elfmake.h"
#include "obj/core/object.h"

#include <elf.h>
#include <stdlib.h>
#include <zlib.h>

enum { FUNC = STT_FUNC, TEXT = 1 };

static const uint8_t build_id[] = {0xab, 0xcd, 0xef, 0x01, 0x23};

static const char debug_text[] = "the same forty bytes, again and again; "
                                 "the same forty bytes, again and again; "
                                 "the same forty bytes, again and again; ";

/* Contents of the sections of the sample; freed together. */
struct parts {
    struct wndl_buf notes, symbols, strings, link, packed, zdebug;
};

static void parts_init(struct parts *parts)
{
    struct wndl_buf *all[] = {&parts->notes, &parts->symbols, &parts->strings,
        &parts->link, &parts->packed, &parts->zdebug};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wndl_buf_init(all[i], wndl_mem_libc());
}

static void parts_free(struct parts *parts)
{
    struct wndl_buf *all[] = {&parts->notes, &parts->symbols, &parts->strings,
        &parts->link, &parts->packed, &parts->zdebug};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wndl_buf_free(all[i]);
}

static void put_deflated(struct wndl_buf *buf, const void *data, size_t size)
{
    uLongf packed = compressBound(size);
    uint8_t *to = wndl_buf_reserve(buf, packed);
    assert_non_null(to);
    assert_int_equal(compress(to, &packed, data, size), Z_OK);
    buf->size += packed;
}

static void put_chdr(struct wndl_buf *buf, const struct elf_recipe *recipe,
    uint32_t method, uint64_t size)
{
    put(buf, recipe, method, 4);
    if (recipe->is_64)
        put(buf, recipe, 0, 4);
    put_word(buf, recipe, size);
    put_word(buf, recipe, 1);
}

static void fill_parts(struct parts *parts, const struct elf_recipe *recipe)
{
    static const struct made_symbol symbols[] = {
        {"outer", 0x401000, 0x100, ELF64_ST_INFO(STB_GLOBAL, FUNC), TEXT},
        {"inner", 0x401040, 0x10, ELF64_ST_INFO(STB_LOCAL, FUNC), TEXT},
        {"table", 0x402000, 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 2},
        {"undefined", 0, 0, ELF64_ST_INFO(STB_GLOBAL, FUNC), SHN_UNDEF},
    };
    const struct elf_recipe big = {.is_64 = true, .big_endian = true};
    parts_init(parts);
    put_build_id(&parts->notes, recipe, build_id, sizeof build_id);
    make_symbols(recipe, symbols, sizeof symbols / sizeof *symbols,
        &parts->symbols, &parts->strings);
    wndl_buf_add(&parts->link, "prog.debug\0", 12);
    put(&parts->link, recipe, 0x12345678, 4);
    put_chdr(&parts->packed, recipe, ELFCOMPRESS_ZLIB, sizeof debug_text);
    put_deflated(&parts->packed, debug_text, sizeof debug_text);
    wndl_buf_add(&parts->zdebug, "ZLIB", 4);
    put(&parts->zdebug, &big, sizeof debug_text, 8);
    put_deflated(&parts->zdebug, debug_text, sizeof debug_text);
}

static struct wndl_bytes text_bytes(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

/* A file with one of everything; `recipe` says in which class and order. */
static struct wndl_bytes make_sample(struct elf_recipe *recipe)
{
    struct parts parts;
    fill_parts(&parts, recipe);
    const struct made_section sections[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000,
            text_bytes("code"), 0, 0, 16, 0, 0},
        {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0x402000, {0}, 0, 0, 8, 0,
            0x1234},
        {".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0x400200,
            bytes_of(&parts.notes), 0, 0, 4, 0, 0},
        {".symtab", SHT_SYMTAB, 0, 0, bytes_of(&parts.symbols), 5, 0, 8,
            recipe->is_64 ? 24 : 16, 0},
        {".strtab", SHT_STRTAB, 0, 0, bytes_of(&parts.strings), 0, 0, 1, 0, 0},
        {".gnu_debuglink", SHT_PROGBITS, 0, 0, bytes_of(&parts.link), 0, 0, 4,
            0, 0},
        {".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0,
            bytes_of(&parts.packed), 0, 0, 1, 0, 0},
        {".zdebug_line", SHT_PROGBITS, 0, 0, bytes_of(&parts.zdebug), 0, 0, 1,
            0, 0},
    };
    const struct made_segment segments[] = {
        {PT_LOAD, PF_R | PF_X, 0x401000, 0x1000, 0x1000, 1},
        {PT_NOTE, PF_R, 0x400200, 0x20, 4, 3},
        {PT_LOAD, PF_R, 0x400200, 0x100, 0x1000, 3},
    };
    recipe->type = ET_DYN;
    recipe->sections = sections;
    recipe->section_count = sizeof sections / sizeof *sections;
    recipe->segments = segments;
    recipe->segment_count = sizeof segments / sizeof *segments;
    struct wndl_bytes elf = make_elf(recipe);
    parts_free(&parts);
    return elf;
}

static struct wndl_object *open_or_fail(struct wndl_bytes bytes)
{
    struct wndl_object *object;
    struct wndl_error err = {0};
    char text[512];
    if (wndl_object_open(bytes, "sample", wndl_mem_libc(), &object, &err) !=
        WNDL_OK)
        fail_msg("%s", wndl_error_text(&err, text, sizeof text));
    return object;
}

static void for_each_layout(void (*check)(struct elf_recipe *recipe))
{
    for (unsigned bits = 0; bits < 8; bits++) {
        struct elf_recipe recipe = {
            .is_64 = (bits & 1) != 0,
            .big_endian = (bits & 2) != 0,
            .extended = (bits & 4) != 0,
            .machine = EM_PPC64,
        };
        check(&recipe);
    }
}

static void check_tables(struct elf_recipe *recipe)
{
    struct wndl_bytes elf = make_sample(recipe);
    struct wndl_object *object = open_or_fail(elf);
    assert_int_equal(wndl_object_is_big_endian(object), recipe->big_endian);
    assert_int_equal(wndl_object_address_size(object), recipe->is_64 ? 8 : 4);
    assert_int_equal(wndl_object_machine(object), EM_PPC64);
    assert_true(wndl_object_is_image(object));
    assert_int_equal(wndl_object_section_count(object), 10);
    struct wndl_section bss = wndl_object_section(object, 2);
    assert_true(wndl_bytes_is(bss.name, ".bss"));
    assert_int_equal(bss.type, SHT_NOBITS);
    assert_int_equal(bss.flags, SHF_ALLOC | SHF_WRITE);
    assert_int_equal(bss.addr.v, 0x402000);
    assert_int_equal(bss.size, 0x1234);
    assert_int_equal(wndl_object_segment_count(object), 2);
    struct wndl_segment code = wndl_object_segment(object, 0);
    assert_int_equal(code.addr.v, 0x401000);
    assert_int_equal(code.mem_size, 0x1000);
    assert_int_equal(code.file_size, 4);
    assert_true(code.executable);
    assert_false(wndl_object_segment(object, 1).executable);
    assert_int_equal(wndl_object_image_base(object).v, 0x400000);
    wndl_object_close(object);
    free((void *)elf.data);
}

static void open_reads_every_class_order_and_numbering(void **state)
{
    (void)state;
    for_each_layout(check_tables);
}

static void check_identity(struct elf_recipe *recipe)
{
    struct wndl_bytes elf = make_sample(recipe);
    struct wndl_object *object = open_or_fail(elf);
    struct wndl_bytes id = wndl_object_build_id(object);
    assert_int_equal(id.size, sizeof build_id);
    assert_memory_equal(id.data, build_id, sizeof build_id);
    struct wndl_bytes link;
    uint32_t crc;
    assert_int_equal(wndl_object_debuglink(object, &link, &crc), WNDL_OK);
    assert_true(wndl_bytes_is(link, "prog.debug"));
    assert_int_equal(crc, 0x12345678);
    wndl_object_close(object);
    free((void *)elf.data);
}

static void identity_is_read_in_every_layout(void **state)
{
    (void)state;
    for_each_layout(check_identity);
}

static void check_contents(struct elf_recipe *recipe)
{
    struct wndl_bytes elf = make_sample(recipe);
    struct wndl_object *object = open_or_fail(elf);
    const char *const names[] = {".debug_info", ".debug_line"};
    struct wndl_bytes bytes;
    struct wndl_section info;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            wndl_object_section_bytes(object, names[i], &bytes, &info, NULL),
            WNDL_OK);
        assert_int_equal(bytes.size, sizeof debug_text);
        assert_int_equal(info.size, sizeof debug_text);
        assert_memory_equal(bytes.data, debug_text, sizeof debug_text);
        struct wndl_bytes again;
        assert_int_equal(
            wndl_object_section_bytes(object, names[i], &again, NULL, NULL),
            WNDL_OK);
        assert_ptr_equal(again.data, bytes.data);
    }
    assert_int_equal(
        wndl_object_section_bytes(object, ".text", &bytes, NULL, NULL),
        WNDL_OK);
    assert_true(wndl_bytes_is(bytes, "code"));
    assert_int_equal(
        wndl_object_section_bytes(object, ".bss", &bytes, NULL, NULL),
        WNDL_NOT_FOUND);
    assert_int_equal(
        wndl_object_section_bytes(object, ".absent", &bytes, NULL, NULL),
        WNDL_NOT_FOUND);
    wndl_object_close(object);
    free((void *)elf.data);
}

static void packed_sections_are_inflated_once_and_found_by_plain_name(
    void **state)
{
    (void)state;
    for_each_layout(check_contents);
}

static const char *name_at(struct wndl_object *object, uint64_t addr)
{
    struct wndl_symbol symbol;
    enum wndl_status status =
        wndl_object_find_function(object, (wndl_svma){addr}, &symbol, NULL);
    if (status == WNDL_NOT_FOUND)
        return "-";
    assert_int_equal(status, WNDL_OK);
    return (const char *)symbol.name.data;
}

static void check_functions(struct elf_recipe *recipe)
{
    struct wndl_bytes elf = make_sample(recipe);
    struct wndl_object *object = open_or_fail(elf);
    const struct wndl_symbol *functions;
    size_t count;
    assert_int_equal(
        wndl_object_functions(object, &functions, &count, NULL), WNDL_OK);
    assert_int_equal(count, 2);
    assert_true(wndl_bytes_is(functions[1].name, "inner"));
    assert_int_equal(functions[1].addr.v, 0x401040);
    assert_int_equal(functions[1].size, 0x10);
    assert_int_equal(functions[0].binding, STB_GLOBAL);
    assert_string_equal(name_at(object, 0x400fff), "-");
    assert_string_equal(name_at(object, 0x401000), "outer");
    assert_string_equal(name_at(object, 0x401040), "inner");
    assert_string_equal(name_at(object, 0x40104f), "inner");
    assert_string_equal(name_at(object, 0x401050), "outer");
    assert_string_equal(name_at(object, 0x4010ff), "outer");
    assert_string_equal(name_at(object, 0x401100), "-");
    wndl_object_close(object);
    free((void *)elf.data);
}

static void highest_start_wins_and_the_outer_function_resumes(void **state)
{
    (void)state;
    for_each_layout(check_functions);
}

/* A little-endian 64-bit file of just symbols in .text [0x1000, 0x2000). */
static struct wndl_bytes make_with_symbols(
    const struct made_symbol *symbols, size_t count, uint16_t machine)
{
    static const uint8_t code[0x1000];
    struct elf_recipe recipe = {
        .is_64 = true, .type = ET_DYN, .machine = machine};
    struct wndl_buf entries, strings;
    wndl_buf_init(&entries, wndl_mem_libc());
    wndl_buf_init(&strings, wndl_mem_libc());
    make_symbols(&recipe, symbols, count, &entries, &strings);
    const struct made_section sections[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
            {code, sizeof code}, 0, 0, 16, 0, 0},
        {".symtab", SHT_SYMTAB, 0, 0, bytes_of(&entries), 3, 0, 8, 24, 0},
        {".strtab", SHT_STRTAB, 0, 0, bytes_of(&strings), 0, 0, 1, 0, 0},
        {".data", SHT_PROGBITS, SHF_ALLOC, 0x3000, {code, 16}, 0, 0, 1, 0, 0},
    };
    recipe.sections = sections;
    recipe.section_count = 4;
    struct wndl_bytes elf = make_elf(&recipe);
    wndl_buf_free(&entries);
    wndl_buf_free(&strings);
    return elf;
}

#define GLOBAL(type) ELF64_ST_INFO(STB_GLOBAL, type)
#define WEAK(type) ELF64_ST_INFO(STB_WEAK, type)
#define LOCAL(type) ELF64_ST_INFO(STB_LOCAL, type)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void unsized_symbol_reaches_the_next_and_ends_with_its_section(
    void **state)
{
    (void)state;
    const struct made_symbol symbols[] = {
        {"alias", 0x1100, 0, LOCAL(FUNC), TEXT},
        {"first", 0x1000, 0, GLOBAL(FUNC), TEXT},
        {"second", 0x1100, 0, GLOBAL(FUNC), TEXT},
        {"sized", 0x1200, 0x10, GLOBAL(FUNC), TEXT},
        {"last", 0x1300, 0, GLOBAL(FUNC), TEXT},
        {"far", 0x9000, 0, GLOBAL(FUNC), SHN_ABS},
    };
    struct wndl_bytes elf =
        make_with_symbols(symbols, COUNT(symbols), EM_X86_64);
    struct wndl_object *object = open_or_fail(elf);
    assert_string_equal(name_at(object, 0x10ff), "first");
    assert_string_equal(name_at(object, 0x1100), "second");
    assert_string_equal(name_at(object, 0x11ff), "second");
    assert_string_equal(name_at(object, 0x1210), "-");
    assert_string_equal(name_at(object, 0x1fff), "last");
    assert_string_equal(name_at(object, 0x2000), "-");
    wndl_object_close(object);
    free((void *)elf.data);
}

static void equal_starts_prefer_the_longest_then_the_last(void **state)
{
    (void)state;
    const struct made_symbol symbols[] = {
        {"local", 0x1000, 0x10, LOCAL(FUNC), TEXT},
        {"unsized", 0x1000, 0, GLOBAL(FUNC), TEXT},
        {"global", 0x1000, 0x10, GLOBAL(FUNC), TEXT},
        {"weak", 0x1000, 0x10, WEAK(FUNC), TEXT},
        {"shorter", 0x1000, 0x8, GLOBAL(FUNC), TEXT},
    };
    struct wndl_bytes elf =
        make_with_symbols(symbols, COUNT(symbols), EM_X86_64);
    struct wndl_object *object = open_or_fail(elf);
    assert_string_equal(name_at(object, 0x1000), "weak");
    assert_string_equal(name_at(object, 0x100f), "weak");
    assert_string_equal(name_at(object, 0x1010), "unsized");
    wndl_object_close(object);
    free((void *)elf.data);
}

static void untyped_labels_count_only_outside_of_functions(void **state)
{
    (void)state;
    const struct made_symbol symbols[] = {
        {"function", 0x1000, 0x100, GLOBAL(FUNC), TEXT},
        {"label_inside", 0x1040, 0, LOCAL(STT_NOTYPE), TEXT},
        {"label_outside", 0x1200, 0, LOCAL(STT_NOTYPE), TEXT},
        {".Llocal", 0x1240, 0, LOCAL(STT_NOTYPE), TEXT},
        {"$x", 0x1250, 0, LOCAL(STT_NOTYPE), TEXT},
        {"$d.7", 0x1260, 0, LOCAL(STT_NOTYPE), TEXT},
        {"constant", 0x1300, 0, LOCAL(STT_NOTYPE), SHN_ABS},
        {"in_data", 0x3000, 0, LOCAL(STT_NOTYPE), 4},
    };
    struct wndl_bytes elf =
        make_with_symbols(symbols, COUNT(symbols), EM_AARCH64);
    struct wndl_object *object = open_or_fail(elf);
    assert_string_equal(name_at(object, 0x1050), "function");
    assert_string_equal(name_at(object, 0x1100), "-");
    assert_string_equal(name_at(object, 0x1270), "label_outside");
    assert_string_equal(name_at(object, 0x1310), "label_outside");
    assert_string_equal(name_at(object, 0x3000), "-");
    wndl_object_close(object);
    free((void *)elf.data);
}

/* Index 0xffff says that the section's is in the table of indexes. */
static void section_of_a_symbol_may_be_in_the_table_of_indexes(void **state)
{
    (void)state;
    const struct made_symbol symbol = {
        "label", 0x1000, 0, LOCAL(STT_NOTYPE), SHN_XINDEX};
    struct elf_recipe recipe = {.is_64 = true, .type = ET_DYN};
    struct wndl_buf entries, strings, indexes;
    wndl_buf_init(&entries, wndl_mem_libc());
    wndl_buf_init(&strings, wndl_mem_libc());
    wndl_buf_init(&indexes, wndl_mem_libc());
    make_symbols(&recipe, &symbol, 1, &entries, &strings);
    put(&indexes, &recipe, 0, 4);
    put(&indexes, &recipe, TEXT, 4);
    const struct made_section sections[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
            text_bytes("code"), 0, 0, 16, 0, 0},
        {".symtab", SHT_SYMTAB, 0, 0, bytes_of(&entries), 3, 0, 8, 24, 0},
        {".strtab", SHT_STRTAB, 0, 0, bytes_of(&strings), 0, 0, 1, 0, 0},
        {".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 0, bytes_of(&indexes), 2, 0, 4,
            4, 0},
    };
    recipe.sections = sections;
    recipe.section_count = 4;
    struct wndl_bytes elf = make_elf(&recipe);
    struct wndl_object *object = open_or_fail(elf);
    assert_string_equal(name_at(object, 0x1003), "label");
    assert_string_equal(name_at(object, 0x1004), "-");
    wndl_object_close(object);
    free((void *)elf.data);
    wndl_buf_free(&entries);
    wndl_buf_free(&strings);
    wndl_buf_free(&indexes);
}

static void thumb_bit_is_not_part_of_an_arm_address(void **state)
{
    (void)state;
    const struct made_symbol symbols[] = {
        {"thumb", 0x1001, 0x10, GLOBAL(FUNC), TEXT}};
    struct wndl_bytes elf = make_with_symbols(symbols, 1, EM_ARM);
    struct wndl_object *object = open_or_fail(elf);
    assert_string_equal(name_at(object, 0x1000), "thumb");
    assert_string_equal(name_at(object, 0x1010), "-");
    wndl_object_close(object);
    free((void *)elf.data);
}

static void sizes_that_wrap_the_address_space_are_harmless(void **state)
{
    (void)state;
    const struct made_symbol symbols[] = {
        {"wrapping", 0x1000, UINT64_MAX, GLOBAL(FUNC), TEXT},
        {"last", UINT64_MAX, 5, GLOBAL(FUNC), TEXT},
    };
    struct wndl_bytes elf = make_with_symbols(symbols, 2, EM_X86_64);
    struct wndl_object *object = open_or_fail(elf);
    assert_string_equal(name_at(object, 0x1000), "wrapping");
    assert_string_equal(name_at(object, UINT64_MAX - 1), "wrapping");
    wndl_object_close(object);
    free((void *)elf.data);
}

static void build_id_is_found_without_section_headers(void **state)
{
    (void)state;
    struct elf_recipe recipe = {.is_64 = true, .no_sections = true};
    struct wndl_bytes elf = make_sample(&recipe);
    struct wndl_object *object = open_or_fail(elf);
    assert_int_equal(wndl_object_section_count(object), 0);
    assert_int_equal(wndl_object_build_id(object).size, sizeof build_id);
    assert_int_equal(wndl_object_image_base(object).v, 0x400000);
    assert_string_equal(name_at(object, 0x401000), "-");
    wndl_object_close(object);
    free((void *)elf.data);
}

/* Else a file of some megabytes could keep us busy for minutes. */
static void notes_that_overlap_are_not_all_read(void **state)
{
    (void)state;
    enum { COUNT = 3, SIZE = 12 * 100 };
    static const uint8_t nameless[SIZE];
    struct elf_recipe recipe = {.is_64 = true, .type = ET_DYN};
    struct wndl_buf id;
    wndl_buf_init(&id, wndl_mem_libc());
    put_build_id(&id, &recipe, "idid", 4);
    const struct made_section sections[COUNT] = {
        {".a", SHT_NOTE, 0, 0, {nameless, SIZE}, 0, 0, 4, 0, 0},
        {".b", SHT_NOTE, 0, 0, {nameless, SIZE}, 0, 0, 4, 0, 0},
        {".id", SHT_NOTE, 0, 0, bytes_of(&id), 0, 0, 4, 0, 0},
    };
    recipe.sections = sections;
    recipe.section_count = COUNT;
    struct wndl_bytes elf = make_elf(&recipe);
    struct wndl_object *object = open_or_fail(elf);
    assert_true(wndl_bytes_is(wndl_object_build_id(object), "idid"));
    wndl_object_close(object);
    /* sh_size of .a, .b: each nearly the whole file's. */
    uint8_t *headers = (uint8_t *)elf.data + elf.size - (COUNT + 2) * 64;
    for (size_t i = 1; i < COUNT; i++) {
        uint64_t offset = 0, size = elf.size - 19;
        memcpy(headers + i * 64 + 24, &offset, sizeof offset);
        memcpy(headers + i * 64 + 32, &size, sizeof size);
    }
    object = open_or_fail(elf);
    assert_int_equal(wndl_object_build_id(object).size, 0);
    wndl_object_close(object);
    free((void *)elf.data);
    wndl_buf_free(&id);
}

static void build_id_is_found_behind_a_note_padded_to_eight(void **state)
{
    (void)state;
    struct elf_recipe recipe = {.is_64 = true, .type = ET_DYN};
    struct wndl_buf notes;
    wndl_buf_init(&notes, wndl_mem_libc());
    put(&notes, &recipe, 4, 4);
    put(&notes, &recipe, 12, 4);
    put(&notes, &recipe, 5, 4);
    wndl_buf_add(&notes, "GNU\0abcdefghijkl\0\0\0", 20);
    put_build_id(&notes, &recipe, "idid", 4);
    struct made_section note = {
        ".note", SHT_NOTE, 0, 0, bytes_of(&notes), 0, 0, 8, 0, 0};
    recipe.sections = &note;
    recipe.section_count = 1;
    struct wndl_bytes elf = make_elf(&recipe);
    struct wndl_object *object = open_or_fail(elf);
    assert_true(wndl_bytes_is(wndl_object_build_id(object), "idid"));
    wndl_object_close(object);
    free((void *)elf.data);
    wndl_buf_free(&notes);
}

/* Status of .debug_info made of a header and `body`. */
static enum wndl_status inflate_status(uint32_t method, uint64_t claimed,
    struct wndl_bytes body, struct wndl_error *err)
{
    struct elf_recipe recipe = {.is_64 = true, .type = ET_DYN};
    struct wndl_buf packed;
    wndl_buf_init(&packed, wndl_mem_libc());
    put_chdr(&packed, &recipe, method, claimed);
    wndl_buf_add(&packed, body.data, body.size);
    struct made_section section = {".debug_info", SHT_PROGBITS, SHF_COMPRESSED,
        0, bytes_of(&packed), 0, 0, 1, 0, 0};
    recipe.sections = &section;
    recipe.section_count = 1;
    struct wndl_bytes elf = make_elf(&recipe);
    struct wndl_object *object = open_or_fail(elf);
    struct wndl_bytes bytes;
    enum wndl_status status =
        wndl_object_section_bytes(object, ".debug_info", &bytes, NULL, err);
    wndl_object_close(object);
    free((void *)elf.data);
    wndl_buf_free(&packed);
    return status;
}

static void packed_sections_that_lie_are_refused(void **state)
{
    (void)state;
    struct wndl_error err = {0};
    struct wndl_buf body;
    wndl_buf_init(&body, wndl_mem_libc());
    put_deflated(&body, debug_text, sizeof debug_text);
    struct wndl_bytes whole = bytes_of(&body);
    struct wndl_bytes cut = {body.data, body.size - 5};
    uint64_t size = sizeof debug_text;
    uint32_t zlib = ELFCOMPRESS_ZLIB;
    assert_int_equal(inflate_status(zlib, size, whole, &err), WNDL_OK);
    assert_int_equal(
        inflate_status(zlib, size + 1, whole, &err), WNDL_MALFORMED);
    assert_string_equal(err.section, ".debug_info");
    assert_string_equal(err.file, "sample");
    assert_int_equal(
        inflate_status(zlib, size - 1, whole, &err), WNDL_MALFORMED);
    assert_int_equal(inflate_status(zlib, 0, whole, &err), WNDL_MALFORMED);
    assert_int_equal(inflate_status(zlib, size, cut, &err), WNDL_MALFORMED);
    assert_int_equal(inflate_status(zlib, UINT64_MAX, whole, &err), WNDL_LIMIT);
    assert_int_equal(
        inflate_status(zlib, (whole.size + 1) * 1032, whole, &err), WNDL_LIMIT);
    assert_int_equal(inflate_status(2, size, whole, &err), WNDL_MALFORMED);
    assert_int_equal(inflate_status(77, size, whole, &err), WNDL_UNSUPPORTED);
    body.data[4] ^= 0xff;
    assert_int_equal(inflate_status(zlib, size, whole, &err), WNDL_MALFORMED);
    wndl_buf_free(&body);
}

static void the_densest_deflate_stream_is_accepted(void **state)
{
    (void)state;
    size_t size = 8 * 1024 * 1024;
    uint8_t *zeroes = calloc(1, size);
    assert_non_null(zeroes);
    struct wndl_buf body;
    wndl_buf_init(&body, wndl_mem_libc());
    uLongf packed = compressBound(size);
    assert_int_equal(compress2(wndl_buf_reserve(&body, packed), &packed, zeroes,
                         size, Z_BEST_COMPRESSION),
        Z_OK);
    body.size = packed;
    assert_int_equal(
        inflate_status(ELFCOMPRESS_ZLIB, size, bytes_of(&body), NULL), WNDL_OK);
    wndl_buf_free(&body);
    free(zeroes);
}

static enum wndl_status open_patched(struct elf_recipe *recipe, size_t offset,
    uint8_t value, struct wndl_error *err)
{
    struct wndl_bytes elf = make_sample(recipe);
    ((uint8_t *)elf.data)[offset] = value;
    struct wndl_object *object;
    enum wndl_status status =
        wndl_object_open(elf, "patched", wndl_mem_libc(), &object, err);
    if (status == WNDL_OK)
        wndl_object_close(object);
    free((void *)elf.data);
    return status;
}

static void damaged_headers_are_named(void **state)
{
    (void)state;
    struct elf_recipe recipe = {.is_64 = true};
    struct wndl_error err = {0};
    assert_int_equal(open_patched(&recipe, 0, 'x', &err), WNDL_UNSUPPORTED);
    assert_string_equal(err.file, "patched");
    assert_string_equal(
        err.what, "not an ELF, PE, PDB, Mach-O or Breakpad symbol file");
    assert_int_equal(open_patched(&recipe, EI_CLASS, 9, &err), WNDL_MALFORMED);
    assert_int_equal(err.offset, EI_CLASS);
    assert_int_equal(open_patched(&recipe, EI_DATA, 0, &err), WNDL_MALFORMED);
    /* e_phentsize, e_shentsize, e_shnum's high byte, e_shstrndx */
    assert_int_equal(open_patched(&recipe, 54, 8, &err), WNDL_MALFORMED);
    assert_string_equal(err.section, "program headers");
    assert_int_equal(open_patched(&recipe, 58, 8, &err), WNDL_MALFORMED);
    assert_string_equal(err.section, "section headers");
    assert_int_equal(open_patched(&recipe, 61, 0x10, &err), WNDL_TRUNCATED);
    assert_int_equal(open_patched(&recipe, 62, 99, &err), WNDL_MALFORMED);
    /* .bss, which has no bytes in the file */
    assert_int_equal(open_patched(&recipe, 62, 2, &err), WNDL_MALFORMED);
    assert_string_equal(err.section, "section names");
}

/* PN_XNUM alone: 0xffff segments or more, but few sections. */
static void segments_alone_may_be_too_many_for_the_header(void **state)
{
    (void)state;
    struct elf_recipe recipe = {.is_64 = true, .extended = true};
    struct wndl_bytes elf = make_sample(&recipe);
    uint8_t *bytes = (uint8_t *)elf.data;
    bytes[60] = 10; /* e_shnum */
    bytes[62] = 9;  /* e_shstrndx */
    bytes[63] = 0;
    struct wndl_object *object = open_or_fail(elf);
    assert_int_equal(wndl_object_section_count(object), 10);
    assert_int_equal(wndl_object_segment_count(object), 2);
    wndl_object_close(object);
    free((void *)elf.data);
}

static void symbol_with_a_wild_name_spoils_the_table_for_good(void **state)
{
    (void)state;
    const struct made_symbol symbols[] = {
        {"f", 0x1000, 0x10, GLOBAL(FUNC), TEXT}};
    struct wndl_bytes elf = make_with_symbols(symbols, 1, EM_X86_64);
    struct wndl_object *object = open_or_fail(elf);
    struct wndl_section symtab = wndl_object_section(object, 2);
    ((uint8_t *)elf.data)[symtab.offset + 24 + 3] = 0x7f;
    for (int i = 0; i < 2; i++) {
        struct wndl_symbol symbol;
        struct wndl_error err = {0};
        assert_int_equal(wndl_object_find_function(
                             object, (wndl_svma){0x1000}, &symbol, &err),
            WNDL_MALFORMED);
        assert_string_equal(err.section, ".symtab");
        assert_int_equal(err.offset, 24);
    }
    wndl_object_close(object);
    free((void *)elf.data);
}

static enum wndl_status find_variable(
    const struct wndl_object *object, const char *name, uint64_t *svma)
{
    wndl_svma addr = {0};
    enum wndl_status status =
        wndl_object_find_variable(object, name, &addr, NULL);
    *svma = addr.v;
    return status;
}

static void variables_are_found_by_their_whole_name(void **state)
{
    (void)state;
    const struct made_symbol symbols[] = {
        {"variable_of_more", 0x3000, 8, GLOBAL(STT_OBJECT), 4},
        {"variable", 0x1000, 8, GLOBAL(FUNC), TEXT},
        {"variable", 0, 8, GLOBAL(STT_OBJECT), SHN_UNDEF},
        {"variable", 0x3008, 8, GLOBAL(STT_OBJECT), 4},
    };
    struct wndl_bytes elf =
        make_with_symbols(symbols, COUNT(symbols), EM_X86_64);
    struct wndl_object *object = open_or_fail(elf);
    uint64_t svma;
    assert_int_equal(find_variable(object, "variable", &svma), WNDL_OK);
    assert_int_equal(svma, 0x3008);
    assert_int_equal(find_variable(object, "variabl", &svma), WNDL_NOT_FOUND);
    assert_int_equal(find_variable(object, "ariable", &svma), WNDL_NOT_FOUND);
    assert_int_equal(find_variable(object, "of_more", &svma), WNDL_NOT_FOUND);
    wndl_object_close(object);
    free((void *)elf.data);
}

/* As many symbols in one long string would cost the square of its length. */
static void names_without_end_are_none(void **state)
{
    (void)state;
    enum { LONGEST = 64 * 1024 };
    char *names[2] = {calloc(1, LONGEST), calloc(1, LONGEST + 1)};
    memset(names[0], 'a', LONGEST - 1);
    memset(names[1], 'b', LONGEST);
    const struct made_symbol symbols[] = {
        {names[0], 0x1000, 0x10, GLOBAL(FUNC), TEXT},
        {names[1], 0x1010, 0x10, GLOBAL(FUNC), TEXT},
        {"f", 0x1020, 0x10, GLOBAL(FUNC), TEXT},
    };
    struct wndl_bytes elf =
        make_with_symbols(symbols, COUNT(symbols), EM_X86_64);
    struct wndl_object *object = open_or_fail(elf);
    assert_string_equal(name_at(object, 0x1000), names[0]);
    assert_string_equal(name_at(object, 0x1010), "-");
    assert_string_equal(name_at(object, 0x1020), "f");
    wndl_object_close(object);
    free((void *)elf.data);
    free(names[0]);
    free(names[1]);
}

/* Everything a caller can ask for, whatever the answers are. */
static enum wndl_status use_everything(
    struct wndl_bytes elf, struct wndl_mem *mem)
{
    struct wndl_object *object;
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_object_open(elf, "sample", mem, &object, &err);
    if (status != WNDL_OK) {
        assert_int_equal(err.status, status);
        return status;
    }
    struct wndl_bytes bytes;
    const struct wndl_symbol *functions;
    size_t count;
    wndl_svma addr;
    (void)!wndl_object_find_variable(object, "table", &addr, NULL);
    status = wndl_object_functions(object, &functions, &count, NULL);
    if (status == WNDL_OK)
        status = wndl_object_section_bytes(
            object, ".debug_info", &bytes, NULL, NULL);
    if (status == WNDL_OK)
        status = wndl_object_section_bytes(
            object, ".debug_line", &bytes, NULL, NULL);
    wndl_object_close(object);
    return status;
}

static void expect_refusal(struct wndl_bytes prefix, void *context)
{
    (void)context;
    enum wndl_status status = use_everything(prefix, wndl_mem_libc());
    assert_true(status == WNDL_TRUNCATED || status == WNDL_UNSUPPORTED);
}

static void check_truncations(struct elf_recipe *recipe)
{
    struct wndl_bytes elf = make_sample(recipe);
    for_each_truncation(elf, expect_refusal, NULL);
    free((void *)elf.data);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    for_each_layout(check_truncations);
}

/* A file whose headers come first, as a core or a download cut short. */
static void truncated_contents_are_refused_when_asked_for(void **state)
{
    (void)state;
    struct elf_recipe recipe = {.is_64 = true};
    struct wndl_bytes elf = make_sample(&recipe);
    struct wndl_object *object = open_or_fail(elf);
    struct wndl_bytes bytes;
    struct wndl_error err = {0};
    /* .text's sh_size: entry 1 of the section headers at the very end. */
    size_t header = elf.size - 9 * 64 + 32;
    ((uint8_t *)elf.data)[header + 6] = 0x7f;
    wndl_object_close(object);
    object = open_or_fail(elf);
    assert_int_equal(
        wndl_object_section_bytes(object, ".text", &bytes, NULL, &err),
        WNDL_TRUNCATED);
    assert_string_equal(err.section, ".text");
    wndl_object_close(object);
    free((void *)elf.data);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct elf_recipe recipe = {.is_64 = true};
    struct wndl_bytes elf = make_sample(&recipe);
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status == WNDL_NOMEM; budget++) {
        struct failing_mem mem;
        failing_mem_init(&mem, budget);
        status = use_everything(elf, &mem.mem);
        assert_int_equal(mem.live, 0);
        assert_true(budget < 100);
    }
    assert_int_equal(status, WNDL_OK);
    free((void *)elf.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_reads_every_class_order_and_numbering),
        cmocka_unit_test(identity_is_read_in_every_layout),
        cmocka_unit_test(
            packed_sections_are_inflated_once_and_found_by_plain_name),
        cmocka_unit_test(highest_start_wins_and_the_outer_function_resumes),
        cmocka_unit_test(
            unsized_symbol_reaches_the_next_and_ends_with_its_section),
        cmocka_unit_test(equal_starts_prefer_the_longest_then_the_last),
        cmocka_unit_test(untyped_labels_count_only_outside_of_functions),
        cmocka_unit_test(section_of_a_symbol_may_be_in_the_table_of_indexes),
        cmocka_unit_test(thumb_bit_is_not_part_of_an_arm_address),
        cmocka_unit_test(sizes_that_wrap_the_address_space_are_harmless),
        cmocka_unit_test(build_id_is_found_without_section_headers),
        cmocka_unit_test(notes_that_overlap_are_not_all_read),
        cmocka_unit_test(build_id_is_found_behind_a_note_padded_to_eight),
        cmocka_unit_test(packed_sections_that_lie_are_refused),
        cmocka_unit_test(the_densest_deflate_stream_is_accepted),
        cmocka_unit_test(damaged_headers_are_named),
        cmocka_unit_test(segments_alone_may_be_too_many_for_the_header),
        cmocka_unit_test(symbol_with_a_wild_name_spoils_the_table_for_good),
        cmocka_unit_test(variables_are_found_by_their_whole_name),
        cmocka_unit_test(names_without_end_are_none),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(truncated_contents_are_refused_when_asked_for),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
