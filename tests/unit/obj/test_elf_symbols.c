/* SPDX-License-Identifier: MIT */
/* Functions and variables by the symbols of an ELF file. */
#include "elf_sample.h"

#include <stdlib.h>

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

/* A file that was stripped of all but a few symbols. */
static void symbols_of_both_tables_are_one_where_one_lacks_some(void **state)
{
    (void)state;
    static const uint8_t code[0x1000];
    const struct made_symbol few[] = {
        {"kept", 0x1000, 0x10, LOCAL(FUNC), TEXT},
    };
    const struct made_symbol dynamic[] = {
        {"exported", 0x1100, 0x10, GLOBAL(FUNC), TEXT},
        {"other", 0x1200, 0x10, GLOBAL(FUNC), TEXT},
    };
    struct elf_recipe recipe = {
        .is_64 = true, .type = ET_DYN, .machine = EM_X86_64};
    struct wndl_buf entries, strings, dynamic_entries, dynamic_strings;
    struct wndl_buf *bufs[] = {
        &entries, &strings, &dynamic_entries, &dynamic_strings};
    for (size_t i = 0; i < COUNT(bufs); i++)
        wndl_buf_init(bufs[i], wndl_mem_libc());
    make_symbols(&recipe, few, COUNT(few), &entries, &strings);
    make_symbols(
        &recipe, dynamic, COUNT(dynamic), &dynamic_entries, &dynamic_strings);
    const struct made_section sections[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
            {code, sizeof code}, 0, 0, 16, 0, 0},
        {".symtab", SHT_SYMTAB, 0, 0, bytes_of(&entries), 3, 0, 8, 24, 0},
        {".strtab", SHT_STRTAB, 0, 0, bytes_of(&strings), 0, 0, 1, 0, 0},
        {".dynsym", SHT_DYNSYM, 0, 0, bytes_of(&dynamic_entries), 5, 0, 8, 24,
            0},
        {".dynstr", SHT_STRTAB, 0, 0, bytes_of(&dynamic_strings), 0, 0, 1, 0,
            0},
    };
    recipe.sections = sections;
    recipe.section_count = COUNT(sections);
    struct wndl_bytes elf = make_elf(&recipe);
    struct wndl_object *object = open_or_fail(elf);
    assert_string_equal(name_at(object, 0x1008), "kept");
    assert_string_equal(name_at(object, 0x1108), "exported");
    assert_string_equal(name_at(object, 0x1208), "other");
    assert_string_equal(name_at(object, 0x1108 + 0x10), "-");
    wndl_object_close(object);
    free((void *)elf.data);
    for (size_t i = 0; i < COUNT(bufs); i++)
        wndl_buf_free(bufs[i]);
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

/* GHC's runtime gives its code symbols of data. */
static void data_symbols_in_code_name_it_outside_of_functions(void **state)
{
    (void)state;
    const struct made_symbol symbols[] = {
        {"function", 0x1000, 0x100, GLOBAL(FUNC), TEXT},
        {"pool", 0x1040, 8, LOCAL(STT_OBJECT), TEXT},
        {"stg_upd_frame_info", 0x1200, 0x20, GLOBAL(STT_OBJECT), TEXT},
        {"$xrv64i2p1", 0x1210, 0, LOCAL(STT_NOTYPE), TEXT},
        {"in_data", 0x3000, 8, GLOBAL(STT_OBJECT), 4},
        {"in_thread", 0x1300, 8, GLOBAL(STT_TLS), TEXT},
    };
    struct wndl_bytes elf =
        make_with_symbols(symbols, COUNT(symbols), EM_RISCV);
    struct wndl_object *object = open_or_fail(elf);
    assert_string_equal(name_at(object, 0x1040), "function");
    assert_string_equal(name_at(object, 0x1200), "stg_upd_frame_info");
    assert_string_equal(name_at(object, 0x121f), "stg_upd_frame_info");
    assert_string_equal(name_at(object, 0x1220), "-");
    assert_string_equal(name_at(object, 0x1300), "-");
    assert_string_equal(name_at(object, 0x3000), "-");
    wndl_object_close(object);
    free((void *)elf.data);
}

/* ELFv1: symbols are those of descriptors. */
static void descriptors_lead_to_their_code(void **state)
{
    (void)state;
    static const uint8_t code[0x100];
    const struct made_symbol symbols[] = {
        {"sized", 0x3000, 0x10, GLOBAL(FUNC), 4},
        {"unsized", 0x3018, 0, GLOBAL(FUNC), 4},
        {"cut", 0x3030, 4, GLOBAL(FUNC), 4},
        {"plain", 0x1060, 4, GLOBAL(FUNC), TEXT},
    };
    struct elf_recipe recipe = {.is_64 = true,
        .big_endian = true,
        .type = ET_EXEC,
        .machine = EM_PPC64};
    struct wndl_buf entries, strings, opd;
    wndl_buf_init(&entries, wndl_mem_libc());
    wndl_buf_init(&strings, wndl_mem_libc());
    wndl_buf_init(&opd, wndl_mem_libc());
    make_symbols(&recipe, symbols, COUNT(symbols), &entries, &strings);
    const uint64_t words[] = {0x1020, 0x9000, 0, 0x1040, 0x9000, 0};
    for (size_t i = 0; i < COUNT(words); i++)
        put(&opd, &recipe, words[i], 8);
    put(&opd, &recipe, 0x1080, 4);
    const struct made_section sections[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
            {code, sizeof code}, 0, 0, 16, 0, 0},
        {".symtab", SHT_SYMTAB, 0, 0, bytes_of(&entries), 3, 0, 8, 24, 0},
        {".strtab", SHT_STRTAB, 0, 0, bytes_of(&strings), 0, 0, 1, 0, 0},
        {".opd", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x3000, bytes_of(&opd), 0,
            0, 8, 0, 0},
    };
    recipe.sections = sections;
    recipe.section_count = COUNT(sections);
    struct wndl_bytes elf = make_elf(&recipe);
    struct wndl_object *object = open_or_fail(elf);
    assert_string_equal(name_at(object, 0x1020), "sized");
    assert_string_equal(name_at(object, 0x102f), "sized");
    assert_string_equal(name_at(object, 0x1030), "-");
    assert_string_equal(name_at(object, 0x1040), "unsized");
    assert_string_equal(name_at(object, 0x1060), "plain");
    assert_string_equal(name_at(object, 0x1070), "-");
    assert_string_equal(name_at(object, 0x3000), "-");
    wndl_object_close(object);
    free((void *)elf.data);
    wndl_buf_free(&entries);
    wndl_buf_free(&strings);
    wndl_buf_free(&opd);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(highest_start_wins_and_the_outer_function_resumes),
        cmocka_unit_test(
            unsized_symbol_reaches_the_next_and_ends_with_its_section),
        cmocka_unit_test(equal_starts_prefer_the_longest_then_the_last),
        cmocka_unit_test(symbols_of_both_tables_are_one_where_one_lacks_some),
        cmocka_unit_test(untyped_labels_count_only_outside_of_functions),
        cmocka_unit_test(data_symbols_in_code_name_it_outside_of_functions),
        cmocka_unit_test(descriptors_lead_to_their_code),
        cmocka_unit_test(section_of_a_symbol_may_be_in_the_table_of_indexes),
        cmocka_unit_test(thumb_bit_is_not_part_of_an_arm_address),
        cmocka_unit_test(sizes_that_wrap_the_address_space_are_harmless),
        cmocka_unit_test(symbol_with_a_wild_name_spoils_the_table_for_good),
        cmocka_unit_test(variables_are_found_by_their_whole_name),
        cmocka_unit_test(names_without_end_are_none),
    };
    return cmocka_run_group_tests_name("elf_symbols", tests, NULL, NULL);
}
