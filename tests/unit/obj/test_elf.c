/* SPDX-License-Identifier: MIT */
#include "elf_sample.h"

#include <stdlib.h>
#include <zlib.h>

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

static void build_id_is_found_after_a_note_padded_to_eight(void **state)
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
    assert_string_equal(err.what,
        "not an ELF, PE, PDB, Mach-O, WebAssembly or Breakpad symbol file");
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
        cmocka_unit_test(build_id_is_found_without_section_headers),
        cmocka_unit_test(notes_that_overlap_are_not_all_read),
        cmocka_unit_test(build_id_is_found_after_a_note_padded_to_eight),
        cmocka_unit_test(packed_sections_that_lie_are_refused),
        cmocka_unit_test(the_densest_deflate_stream_is_accepted),
        cmocka_unit_test(damaged_headers_are_named),
        cmocka_unit_test(segments_alone_may_be_too_many_for_the_header),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(truncated_contents_are_refused_when_asked_for),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
