/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "elfmake.h"
#include "marked.h"
#include "obj/core/object.h"
#include "os/file.h"
#include "symbolize/symbolizer.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIXTURE(name) WNDL_BUILT_FIXTURES "/symbolize/" name

enum { BASE = 0x400000, TEXT_AT = 0x401000 };

static struct wndl_symbolizer *open_or_fail(
    const char *path, const struct wndl_symbolizer_options *options)
{
    struct wndl_symbolizer *s;
    struct wndl_error err = {0};
    if (wndl_symbolizer_open(path, options, &s, &err) != WNDL_OK)
        fail_msg("%s: %s", err.file, err.what);
    return s;
}

static void expect_frame(const struct wndl_symbol_frame *frame,
    const char *function, uint32_t line, bool inlined)
{
    assert_string_equal(frame->function, function);
    assert_int_equal(frame->line, line);
    assert_int_equal(frame->inlined, inlined);
    assert_non_null(strstr(frame->file, "symbolize/sample.c"));
}

static void expect_chain(struct wndl_symbolizer *s, uint64_t rva)
{
    struct wndl_symbols answer;
    assert_int_equal(wndl_symbolizer_lookup(s, rva, &answer, NULL), WNDL_OK);
    assert_int_equal(answer.count, 3);
    expect_frame(&answer.frames[0], "innermost", LINE_INNERMOST, true);
    expect_frame(&answer.frames[1], "middle", LINE_MIDDLE, true);
    expect_frame(&answer.frames[2], "outer", LINE_OUTER, false);
    assert_true(answer.frames[2].function_rva <= rva);
}

static void inlined_chain_has_functions_files_and_lines(void **state)
{
    (void)state;
    const char *const samples[] = {
        FIXTURE("pie"), FIXTURE("fixed"), FIXTURE("zlib")};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct wndl_symbolizer *s = open_or_fail(samples[i], NULL);
        struct wndl_symbolizer_info info;
        expect_chain(s, marked_rva(samples[i]));
        wndl_symbolizer_get_info(s, &info);
        assert_true(info.has_dwarf);
        assert_true(info.has_symtab);
        assert_string_equal(info.debug_file, samples[i]);
        assert_int_equal(info.first_damage.status, WNDL_OK);
        wndl_symbolizer_close(s);
    }
}

static void debug_file_is_found_by_build_id(void **state)
{
    (void)state;
    const char *const dirs[] = {FIXTURE("debug"), NULL};
    struct wndl_symbolizer_options options = {
        .size = sizeof options, .debug_dirs = dirs};
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("stripped"), &options);
    struct wndl_symbolizer_info info;
    expect_chain(s, marked_rva(FIXTURE("stripped")));
    wndl_symbolizer_get_info(s, &info);
    assert_true(info.has_symtab);
    assert_non_null(strstr(info.debug_file, "/.build-id/"));
    wndl_symbolizer_close(s);
}

static void debug_file_is_found_by_debuglink(void **state)
{
    (void)state;
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("linked/fixed"), NULL);
    expect_chain(s, marked_rva(FIXTURE("linked/fixed")));
    wndl_symbolizer_close(s);
}

static void an_error_is_of_the_call_that_failed_alone(void **state)
{
    (void)state;
    struct wndl_symbolizer *s;
    struct wndl_symbols answer;
    struct wndl_error err;
    memset(&err, 'x', sizeof err);
    assert_int_equal(wndl_symbolizer_open("/nowhere", NULL, &s, &err), WNDL_IO);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_string_equal(err.file, "/nowhere");
    assert_string_equal(err.section, "");
    s = open_or_fail(FIXTURE("symtab"), NULL);
    memset(&err, 'x', sizeof err);
    assert_int_equal(wndl_symbolizer_lookup(s, UINT64_MAX / 2, &answer, &err),
        WNDL_NOT_FOUND);
    assert_int_equal(err.sys_errno, 0);
    assert_string_equal(err.file, "");
    wndl_symbolizer_close(s);
}

static void without_dwarf_the_symbol_table_answers(void **state)
{
    (void)state;
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("symtab"), NULL);
    struct wndl_symbols answer;
    struct wndl_symbolizer_info info;
    uint64_t rva = marked_rva(FIXTURE("symtab"));
    assert_int_equal(wndl_symbolizer_lookup(s, rva, &answer, NULL), WNDL_OK);
    assert_int_equal(answer.count, 1);
    assert_string_equal(answer.frames[0].function, "outer");
    assert_string_equal(answer.frames[0].file, "");
    assert_int_equal(answer.frames[0].line, 0);
    assert_false(answer.frames[0].inlined);
    wndl_symbolizer_get_info(s, &info);
    assert_false(info.has_dwarf);
    assert_true(info.has_symtab);
    assert_string_equal(info.debug_file, "");
    wndl_symbolizer_close(s);
}

static void symbol_names_the_function_and_dwarf_the_inlined_ones(void **state)
{
    (void)state;
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("cold"), NULL);
    struct wndl_symbols answer;
    uint64_t rva = marked_rva(FIXTURE("cold"));
    assert_int_equal(wndl_symbolizer_lookup(s, rva, &answer, NULL), WNDL_OK);
    assert_int_equal(answer.count, 3);
    expect_frame(&answer.frames[1], "middle", LINE_MIDDLE, true);
    expect_frame(&answer.frames[2], "outer.cold", LINE_OUTER, false);
    wndl_symbolizer_close(s);
}

/* A file of the test's own at a path of its own; *state is the path. */
static int make_path(void **state)
{
    static char path[64];
    strcpy(path, "/tmp/test_symbolize.XXXXXX");
    int fd = mkstemp(path);
    *state = path;
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    return unlink(*state);
}

static void write_file(const char *path, struct wndl_bytes bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
}

/* A program of just symbols, at BASE, .text at TEXT_AT. */
static void write_symbols(const char *path, uint16_t type,
    const struct made_symbol *symbols, size_t count)
{
    static const uint8_t code[0x100];
    struct elf_recipe recipe = {
        .is_64 = true, .type = type, .machine = EM_X86_64};
    struct wndl_buf entries, strings, note;
    wndl_buf_init(&entries, wndl_mem_libc());
    wndl_buf_init(&strings, wndl_mem_libc());
    wndl_buf_init(&note, wndl_mem_libc());
    make_symbols(&recipe, symbols, count, &entries, &strings);
    put_build_id(&note, &recipe, "abcd", 4);
    const struct made_section sections[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT_AT,
            {code, sizeof code}, 0, 0, 16, 0, 0},
        {".symtab", SHT_SYMTAB, 0, 0, bytes_of(&entries), 3, 0, 8, 24, 0},
        {".strtab", SHT_STRTAB, 0, 0, bytes_of(&strings), 0, 0, 1, 0, 0},
        {".note", SHT_NOTE, 0, 0, bytes_of(&note), 0, 0, 4, 0, 0},
    };
    const struct made_segment segment = {
        PT_LOAD, PF_R | PF_X, BASE + 0x10, 0x2000, 0x1000, 1};
    recipe.sections = sections;
    recipe.section_count = 4;
    recipe.segments = &segment;
    recipe.segment_count = 1;
    struct wndl_bytes elf = make_elf(&recipe);
    write_file(path, elf);
    free((void *)elf.data);
    wndl_buf_free(&entries);
    wndl_buf_free(&strings);
    wndl_buf_free(&note);
}

static const struct made_symbol named[] = {
    {"_Z3fooi", TEXT_AT, 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1},
    {"_Z3fooi.cold", TEXT_AT + 0x10, 0x10, ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
        1},
    {"plain.cold", TEXT_AT + 0x20, 0x10, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1},
};

enum { NAMED = sizeof named / sizeof *named, TEXT_RVA = TEXT_AT - BASE };

static void expect_name(struct wndl_symbolizer *s, uint64_t rva,
    const char *function, const char *mangled)
{
    struct wndl_symbols answer;
    assert_int_equal(wndl_symbolizer_lookup(s, rva, &answer, NULL), WNDL_OK);
    assert_int_equal(answer.count, 1);
    assert_string_equal(answer.frames[0].function, function);
    assert_string_equal(answer.frames[0].mangled, mangled);
}

static void addresses_count_from_the_page_of_the_lowest_segment(void **state)
{
    write_symbols(*state, ET_EXEC, named, NAMED);
    struct wndl_symbolizer *s = open_or_fail(*state, NULL);
    struct wndl_symbols answer;
    expect_name(s, TEXT_RVA + 0xf, "foo(int)", "_Z3fooi");
    assert_int_equal(
        wndl_symbolizer_lookup(s, TEXT_RVA + 0x1f, &answer, NULL), WNDL_OK);
    assert_int_equal(answer.frames[0].function_rva, TEXT_RVA + 0x10);
    wndl_symbolizer_close(s);
}

static void clones_keep_their_mark(void **state)
{
    write_symbols(*state, ET_DYN, named, NAMED);
    struct wndl_symbolizer *s = open_or_fail(*state, NULL);
    expect_name(s, TEXT_RVA + 0x10, "foo(int) [clone .cold]", "_Z3fooi.cold");
    expect_name(s, TEXT_RVA + 0x20, "plain.cold", "plain.cold");
    wndl_symbolizer_close(s);
}

static void no_demangle_gives_names_as_in_the_table(void **state)
{
    write_symbols(*state, ET_DYN, named, NAMED);
    struct wndl_symbolizer_options options = {
        .size = sizeof options, .no_demangle = true};
    struct wndl_symbolizer *s = open_or_fail(*state, &options);
    expect_name(s, TEXT_RVA, "_Z3fooi", "_Z3fooi");
    wndl_symbolizer_close(s);
}

static void repeated_address_gets_the_same_answer(void **state)
{
    (void)state;
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("pie"), NULL);
    uint64_t rva = marked_rva(FIXTURE("pie"));
    struct wndl_symbols first, other, again;
    assert_int_equal(wndl_symbolizer_lookup(s, rva, &first, NULL), WNDL_OK);
    for (uint64_t i = 1; i < 16; i++)
        (void)!wndl_symbolizer_lookup(s, rva + i, &other, NULL);
    assert_int_equal(wndl_symbolizer_lookup(s, rva, &again, NULL), WNDL_OK);
    assert_ptr_equal(first.frames, again.frames);
    expect_chain(s, rva);
    wndl_symbolizer_close(s);
}

static void unknown_address_is_not_found_each_time(void **state)
{
    (void)state;
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("pie"), NULL);
    const uint64_t rvas[] = {0, 1, UINT64_MAX, 0x7fffffffffff};
    for (size_t i = 0; i < 8; i++) {
        struct wndl_symbols answer;
        struct wndl_error err = {0};
        assert_int_equal(wndl_symbolizer_lookup(s, rvas[i % 4], &answer, &err),
            WNDL_NOT_FOUND);
        assert_int_equal(answer.count, 0);
        assert_int_equal(err.status, WNDL_NOT_FOUND);
    }
    wndl_symbolizer_close(s);
}

static enum wndl_status open_status(const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    struct wndl_symbolizer *s;
    enum wndl_status status = wndl_symbolizer_open(path, options, &s, err);
    if (status != WNDL_OK) {
        assert_null(s);
        assert_string_equal(err->file, path);
    }
    wndl_symbolizer_close(s);
    return status;
}

static void build_id_must_match_when_it_is_given(void **state)
{
    write_symbols(*state, ET_DYN, named, NAMED);
    struct wndl_error err = {0};
    struct wndl_symbolizer_options options = {.size = sizeof options,
        .build_id = (const uint8_t *)"abcd",
        .build_id_size = 4};
    assert_int_equal(open_status(*state, &options, &err), WNDL_OK);
    options.build_id = (const uint8_t *)"abce";
    assert_int_equal(open_status(*state, &options, &err), WNDL_NOT_FOUND);
    options.build_id_size = 3;
    assert_int_equal(open_status(*state, &options, &err), WNDL_NOT_FOUND);
    /* A caller of a time when there was no such field. */
    options.size = offsetof(struct wndl_symbolizer_options, build_id);
    assert_int_equal(open_status(*state, &options, &err), WNDL_OK);
}

static void what_is_no_image_is_refused(void **state)
{
    struct wndl_error err = {0};
    write_symbols(*state, ET_CORE, named, NAMED);
    assert_int_equal(open_status(*state, NULL, &err), WNDL_UNSUPPORTED);
    write_file(*state, (struct wndl_bytes){(const uint8_t *)"#!/bin/sh\n", 10});
    assert_int_equal(open_status(*state, NULL, &err), WNDL_UNSUPPORTED);
    assert_int_equal(open_status("/nonexistent", NULL, &err), WNDL_IO);
    assert_int_equal(err.sys_errno, ENOENT);
}

/* Every `stride`th byte of a section of a sample becomes `value`. */
struct change {
    const char *sample, *section;
    size_t first, stride;
    uint8_t value;
};

static void write_changed(const char *path, const struct change *change)
{
    struct wndl_bytes elf = read_whole_file(change->sample);
    struct wndl_object *object;
    struct wndl_bytes bytes;
    struct wndl_section info;
    assert_int_equal(
        wndl_object_open(elf, NULL, wndl_mem_libc(), &object, NULL), WNDL_OK);
    assert_int_equal(
        wndl_object_section_bytes(object, change->section, &bytes, &info, NULL),
        WNDL_OK);
    for (size_t at = change->first; at < bytes.size; at += change->stride)
        ((uint8_t *)elf.data)[info.offset + at] = change->value;
    write_file(path, elf);
    wndl_object_close(object);
    free((void *)elf.data);
}

static void symbol_without_a_size_yields_to_dwarf(void **state)
{
    const struct change no_sizes = {
        FIXTURE("cold"), ".symtab", 16, sizeof(Elf64_Sym), 0};
    write_changed(*state, &no_sizes);
    struct wndl_symbolizer *s = open_or_fail(*state, NULL);
    expect_chain(s, marked_rva(FIXTURE("cold")));
    wndl_symbolizer_close(s);
}

static void damaged_dwarf_leaves_the_symbol_table_and_is_told(void **state)
{
    /* unit_length of the only unit: more than there is. */
    const struct change length = {
        FIXTURE("fixed"), ".debug_info", 2, SIZE_MAX / 2, 0x7f};
    write_changed(*state, &length);
    struct wndl_symbolizer *s = open_or_fail(*state, NULL);
    struct wndl_symbols answer;
    struct wndl_symbolizer_info info;
    uint64_t rva = marked_rva(FIXTURE("fixed"));
    assert_int_equal(wndl_symbolizer_lookup(s, rva, &answer, NULL), WNDL_OK);
    assert_int_equal(answer.count, 1);
    assert_string_equal(answer.frames[0].function, "outer");
    wndl_symbolizer_get_info(s, &info);
    assert_int_not_equal(info.first_damage.status, WNDL_OK);
    assert_string_equal(info.first_damage.section, ".debug_info");
    wndl_symbolizer_close(s);
}

static void damaged_symbol_table_leaves_dwarf_and_is_told(void **state)
{
    /* The highest byte of each st_name. */
    const struct change names = {
        FIXTURE("fixed"), ".symtab", 3, sizeof(Elf64_Sym), 0x7f};
    write_changed(*state, &names);
    struct wndl_symbolizer_info info;
    struct wndl_symbolizer *s = open_or_fail(*state, NULL);
    expect_chain(s, marked_rva(FIXTURE("fixed")));
    wndl_symbolizer_get_info(s, &info);
    assert_int_equal(info.first_damage.status, WNDL_MALFORMED);
    assert_string_equal(info.first_damage.section, ".symtab");
    wndl_symbolizer_close(s);
}

static enum wndl_status open_and_look(struct wndl_mem *mem, uint64_t rva)
{
    struct wndl_symbolizer *s;
    struct wndl_symbols answer;
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_symbolizer_open_with(mem, FIXTURE("linked/fixed"), NULL, &s, &err);
    if (status != WNDL_OK)
        return status;
    status = wndl_symbolizer_lookup(s, rva, &answer, &err);
    if (status == WNDL_OK)
        assert_int_equal(answer.count, 3);
    wndl_symbolizer_close(s);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint64_t rva = marked_rva(FIXTURE("linked/fixed"));
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status == WNDL_NOMEM; budget++) {
        struct failing_mem mem;
        failing_mem_init(&mem, budget);
        status = open_and_look(&mem.mem, rva);
        assert_int_equal(mem.live, 0);
        assert_true(budget < 1000);
    }
    assert_int_equal(status, WNDL_OK);
}

#define WITH_PATH(test)                                                        \
    cmocka_unit_test_setup_teardown(test, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlined_chain_has_functions_files_and_lines),
        cmocka_unit_test(debug_file_is_found_by_build_id),
        cmocka_unit_test(debug_file_is_found_by_debuglink),
        cmocka_unit_test(an_error_is_of_the_call_that_failed_alone),
        cmocka_unit_test(without_dwarf_the_symbol_table_answers),
        cmocka_unit_test(symbol_names_the_function_and_dwarf_the_inlined_ones),
        WITH_PATH(addresses_count_from_the_page_of_the_lowest_segment),
        WITH_PATH(clones_keep_their_mark),
        WITH_PATH(no_demangle_gives_names_as_in_the_table),
        cmocka_unit_test(repeated_address_gets_the_same_answer),
        cmocka_unit_test(unknown_address_is_not_found_each_time),
        WITH_PATH(build_id_must_match_when_it_is_given),
        WITH_PATH(what_is_no_image_is_refused),
        WITH_PATH(symbol_without_a_size_yields_to_dwarf),
        WITH_PATH(damaged_dwarf_leaves_the_symbol_table_and_is_told),
        WITH_PATH(damaged_symbol_table_leaves_dwarf_and_is_told),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("symbolize", tests, NULL, NULL);
}
