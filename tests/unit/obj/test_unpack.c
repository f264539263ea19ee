/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "elfmake.h"
#include "obj/core/object.h"
#include "obj/packed/packed_file.h"
#include "obj/packed/unpack.h"

#include <elf.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { COMPRESS_ZSTD = 2, TEXT_SIZE = 2000 };

static void fill_text(uint8_t *text)
{
    for (size_t i = 0; i < TEXT_SIZE; i++)
        text[i] = (uint8_t)(i % 61 + i / 200);
}

static void put_zstd(struct wndl_buf *buf, const void *data, size_t size)
{
    size_t room = ZSTD_compressBound(size);
    uint8_t *to = wndl_buf_reserve(buf, room);
    assert_non_null(to);
    buf->size += ZSTD_compress(to, room, data, size, 3);
}

/* By the preset that takes 3 MiB to begin with; the usual one takes 94. */
static void put_xz(struct wndl_buf *buf, const void *data, size_t size)
{
    size_t room = lzma_stream_buffer_bound(size);
    size_t used = 0;
    uint8_t *to = wndl_buf_reserve(buf, room);
    assert_non_null(to);
    assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, data,
                         size, to, &used, room),
        LZMA_OK);
    buf->size += used;
}

/* ---- zstd sections */

static struct wndl_bytes make_packed(
    bool is_64, uint64_t claim, struct wndl_bytes body)
{
    struct elf_recipe recipe = {
        .is_64 = is_64, .type = ET_DYN, .machine = EM_X86_64};
    struct wndl_buf data;
    wndl_buf_init(&data, wndl_mem_libc());
    put(&data, &recipe, COMPRESS_ZSTD, 4);
    if (is_64)
        put(&data, &recipe, 0, 4);
    put_word(&data, &recipe, claim);
    put_word(&data, &recipe, 1);
    wndl_buf_add(&data, body.data, body.size);
    const struct made_section section = {.name = ".debug_info",
        .type = SHT_PROGBITS,
        .flags = SHF_COMPRESSED,
        .data = bytes_of(&data),
        .alignment = 1};
    recipe.sections = &section;
    recipe.section_count = 1;
    struct wndl_bytes elf = make_elf(&recipe);
    wndl_buf_free(&data);
    return elf;
}

/* What is read of a section that claims `claim` bytes; into `err`. */
static enum wndl_status read_packed(
    bool is_64, uint64_t claim, struct wndl_bytes body, struct wndl_error *err)
{
    struct wndl_bytes elf = make_packed(is_64, claim, body);
    struct wndl_object *object;
    struct wndl_bytes bytes;
    uint8_t text[TEXT_SIZE];
    fill_text(text);
    assert_int_equal(
        wndl_object_open(elf, "file", wndl_mem_libc(), &object, err), WNDL_OK);
    enum wndl_status status =
        wndl_object_section_bytes(object, ".debug_info", &bytes, NULL, err);
    if (status == WNDL_OK) {
        assert_int_equal(bytes.size, TEXT_SIZE);
        assert_memory_equal(bytes.data, text, TEXT_SIZE);
    }
    wndl_object_close(object);
    free((void *)elf.data);
    return status;
}

static void zstd_sections_are_read_in_both_classes(void **state)
{
    (void)state;
    uint8_t text[TEXT_SIZE];
    struct wndl_buf body;
    fill_text(text);
    wndl_buf_init(&body, wndl_mem_libc());
    put_zstd(&body, text, TEXT_SIZE);
    for (int is_64 = 0; is_64 < 2; is_64++)
        assert_int_equal(
            read_packed(is_64 != 0, TEXT_SIZE, bytes_of(&body), NULL), WNDL_OK);
    wndl_buf_free(&body);
}

/* Some encoders cut their output into frames. */
static void zstd_frames_are_joined(void **state)
{
    (void)state;
    uint8_t text[TEXT_SIZE];
    struct wndl_buf body;
    fill_text(text);
    wndl_buf_init(&body, wndl_mem_libc());
    put_zstd(&body, text, 700);
    put_zstd(&body, text + 700, TEXT_SIZE - 700);
    assert_int_equal(
        read_packed(true, TEXT_SIZE, bytes_of(&body), NULL), WNDL_OK);
    wndl_buf_free(&body);
}

static void expect_damage(struct wndl_bytes prefix, void *context)
{
    (void)context;
    struct wndl_error err = {0};
    enum wndl_status status = read_packed(true, TEXT_SIZE, prefix, &err);
    assert_int_equal(status, WNDL_MALFORMED);
    assert_string_equal(err.file, "file");
    assert_string_equal(err.section, ".debug_info");
}

static void zstd_cut_anywhere_or_of_another_size_is_refused(void **state)
{
    (void)state;
    uint8_t text[TEXT_SIZE];
    struct wndl_buf body;
    struct wndl_error err = {0};
    fill_text(text);
    wndl_buf_init(&body, wndl_mem_libc());
    put_zstd(&body, text, TEXT_SIZE);
    struct wndl_bytes whole = bytes_of(&body);
    for_each_truncation(whole, expect_damage, NULL);
    assert_int_equal(
        read_packed(true, TEXT_SIZE + 1, whole, &err), WNDL_MALFORMED);
    assert_int_equal(err.offset, sizeof(Elf64_Chdr));
    assert_int_equal(read_packed(true, TEXT_SIZE - 1, whole, &err), WNDL_LIMIT);
    assert_int_equal(read_packed(true, UINT64_MAX, whole, &err), WNDL_LIMIT);
    assert_int_equal(
        read_packed(true, (UINT64_C(256) << 20) + 1000, whole, &err),
        WNDL_LIMIT);
    wndl_buf_free(&body);
}

/* ---- several at once */

enum { LARGE = 3 << 20, SECTIONS = 5 };

static const char *const names[SECTIONS] = {".debug_info", ".debug_line",
    ".debug_str", ".debug_ranges", ".debug_abbrev"};

/* Every second one by zstd, the last one small, number `broken` damaged. */
static struct wndl_bytes make_large(const uint8_t *data, size_t broken)
{
    struct elf_recipe recipe = {
        .is_64 = true, .type = ET_DYN, .machine = EM_X86_64};
    struct made_section sections[SECTIONS];
    struct wndl_buf bodies[SECTIONS];
    for (size_t i = 0; i < SECTIONS; i++) {
        size_t size = i == SECTIONS - 1 ? 100 : LARGE - i * 1000;
        struct wndl_buf *body = &bodies[i];
        wndl_buf_init(body, wndl_mem_libc());
        put(body, &recipe, i % 2 == 0 ? COMPRESS_ZSTD : ELFCOMPRESS_ZLIB, 8);
        put_word(body, &recipe, size);
        put_word(body, &recipe, 1);
        if (i % 2 == 0) {
            put_zstd(body, data + i, size);
        } else {
            uLongf room = compressBound(size);
            uint8_t *to = wndl_buf_reserve(body, room);
            assert_int_equal(compress2(to, &room, data + i, size, 1), Z_OK);
            body->size += room;
        }
        if (i == broken)
            body->data[24] ^= 0xff;
        sections[i] = (struct made_section){.name = names[i],
            .type = SHT_PROGBITS,
            .flags = SHF_COMPRESSED,
            .data = bytes_of(body)};
    }
    recipe.sections = sections;
    recipe.section_count = SECTIONS;
    struct wndl_bytes elf = make_elf(&recipe);
    for (size_t i = 0; i < SECTIONS; i++)
        wndl_buf_free(&bodies[i]);
    return elf;
}

static void sections_loaded_together_are_as_those_read_alone(void **state)
{
    (void)state;
    uint8_t *data = malloc(LARGE + SECTIONS);
    assert_non_null(data);
    for (size_t i = 0; i < LARGE + SECTIONS; i++)
        data[i] = (uint8_t)(i * i >> 9);
    for (size_t broken = 0; broken <= SECTIONS; broken++) {
        struct wndl_bytes elf = make_large(data, broken);
        struct wndl_object *object;
        assert_int_equal(
            wndl_object_open(elf, "file", wndl_mem_libc(), &object, NULL),
            WNDL_OK);
        wndl_object_load_sections(object, names, SECTIONS);
        for (size_t i = 0; i < SECTIONS; i++) {
            struct wndl_bytes bytes;
            struct wndl_error err = {0};
            assert_int_equal(
                wndl_object_section_bytes(object, names[i], &bytes, NULL, &err),
                i == broken ? WNDL_MALFORMED : WNDL_OK);
            if (i == broken)
                assert_string_equal(err.section, names[i]);
            else
                assert_memory_equal(bytes.data, data + i, bytes.size);
        }
        wndl_object_close(object);
        free((void *)elf.data);
    }
    free(data);
}

/* ---- xz */

static void xz_is_unpacked_to_its_end(void **state)
{
    (void)state;
    size_t size = 300 * 1000;
    uint8_t *data = malloc(size);
    struct wndl_buf body, out;
    uint64_t taken;
    assert_non_null(data);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * i >> 7);
    wndl_buf_init(&body, wndl_mem_libc());
    put_xz(&body, data, size);
    wndl_buf_init(&out, wndl_mem_libc());
    assert_int_equal(wndl_unpack_xz(bytes_of(&body), &out, &taken), WNDL_OK);
    assert_int_equal(out.size, size);
    assert_memory_equal(out.data, data, size);
    wndl_buf_free(&out);
    wndl_buf_free(&body);
    free(data);
}

static void expect_xz_damage(struct wndl_bytes prefix, void *context)
{
    (void)context;
    struct wndl_buf out;
    uint64_t taken;
    wndl_buf_init(&out, wndl_mem_libc());
    assert_int_equal(wndl_unpack_xz(prefix, &out, &taken), WNDL_MALFORMED);
    wndl_buf_free(&out);
}

static void xz_cut_anywhere_is_refused(void **state)
{
    (void)state;
    uint8_t text[TEXT_SIZE];
    struct wndl_buf body;
    fill_text(text);
    wndl_buf_init(&body, wndl_mem_libc());
    put_xz(&body, text, TEXT_SIZE);
    for_each_truncation(bytes_of(&body), expect_xz_damage, NULL);
    wndl_buf_free(&body);
}

/* 300 MiB of zeroes from some 45 KiB. */
static void an_xz_bomb_is_given_up(void **state)
{
    (void)state;
    enum { PIECE = 1 << 20, PIECES = 300 };
    uint8_t *zeroes = calloc(1, PIECE);
    struct wndl_buf body, out;
    lzma_stream xz = LZMA_STREAM_INIT;
    uint64_t taken;
    assert_non_null(zeroes);
    wndl_buf_init(&body, wndl_mem_libc());
    assert_int_equal(lzma_easy_encoder(&xz, 0, LZMA_CHECK_NONE), LZMA_OK);
    xz.next_out = wndl_buf_reserve(&body, PIECE);
    xz.avail_out = PIECE;
    for (int i = 0; i < PIECES; i++) {
        xz.next_in = zeroes;
        xz.avail_in = PIECE;
        assert_int_equal(lzma_code(&xz, LZMA_RUN), LZMA_OK);
    }
    assert_int_equal(lzma_code(&xz, LZMA_FINISH), LZMA_STREAM_END);
    body.size = PIECE - xz.avail_out;
    lzma_end(&xz);
    wndl_buf_init(&out, wndl_mem_libc());
    assert_int_equal(wndl_unpack_xz(bytes_of(&body), &out, &taken), WNDL_LIMIT);
    assert_true(out.cap <= UINT64_C(256) << 20);
    wndl_buf_free(&out);
    wndl_buf_free(&body);
    free(zeroes);
}

/* ---- .gnu_debugdata */

#define GLOBAL(type) ELF64_ST_INFO(STB_GLOBAL, type)

/* One table of symbols, of `type`; with `extra` as another section. */
static struct wndl_bytes make_symbols_file(uint32_t type,
    const struct made_symbol *symbol, uint16_t machine, struct wndl_bytes extra)
{
    static const uint8_t code[0x100];
    struct elf_recipe recipe = {
        .is_64 = true, .type = ET_DYN, .machine = machine};
    struct wndl_buf entries, strings;
    wndl_buf_init(&entries, wndl_mem_libc());
    wndl_buf_init(&strings, wndl_mem_libc());
    make_symbols(&recipe, symbol, 1, &entries, &strings);
    const struct made_section sections[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
            {code, sizeof code}, 0, 0, 16, 0, 0},
        {".symbols", type, 0, 0, bytes_of(&entries), 3, 0, 8, 24, 0},
        {".strings", SHT_STRTAB, 0, 0, bytes_of(&strings), 0, 0, 1, 0, 0},
        {".gnu_debugdata", SHT_PROGBITS, 0, 0, extra, 0, 0, 1, 0, 0},
    };
    recipe.sections = sections;
    recipe.section_count = extra.size == 0 ? 3 : 4;
    struct wndl_bytes elf = make_elf(&recipe);
    wndl_buf_free(&entries);
    wndl_buf_free(&strings);
    return elf;
}

static const struct made_symbol exported = {
    "exported", 0x1000, 0x10, GLOBAL(STT_FUNC), 1};
static const struct made_symbol hidden = {
    "hidden", 0x1010, 0x10, GLOBAL(STT_FUNC), 1};

/* A file with .dynsym whose .gnu_debugdata has `inner` packed. */
static struct wndl_bytes make_outer(struct wndl_bytes inner)
{
    struct wndl_buf packed;
    wndl_buf_init(&packed, wndl_mem_libc());
    put_xz(&packed, inner.data, inner.size);
    struct wndl_bytes elf =
        make_symbols_file(SHT_DYNSYM, &exported, EM_X86_64, bytes_of(&packed));
    wndl_buf_free(&packed);
    return elf;
}

static struct wndl_object *open_or_fail(
    struct wndl_bytes elf, struct wndl_mem *mem)
{
    struct wndl_object *object;
    enum wndl_status status =
        wndl_object_open(elf, "outer", mem, &object, NULL);
    if (status == WNDL_NOMEM)
        return NULL;
    assert_int_equal(status, WNDL_OK);
    return object;
}

static const char *name_at(struct wndl_object *object, uint64_t addr)
{
    struct wndl_symbol symbol;
    enum wndl_status status =
        wndl_object_find_function(object, (wndl_svma){addr}, &symbol, NULL);
    return status == WNDL_OK ? (const char *)symbol.name.data
                             : wndl_status_name(status);
}

static void mini_debug_info_adds_to_the_dynamic_symbols(void **state)
{
    (void)state;
    struct wndl_bytes inner = make_symbols_file(
        SHT_SYMTAB, &hidden, EM_X86_64, (struct wndl_bytes){0});
    struct wndl_bytes elf = make_outer(inner);
    struct wndl_object *object = open_or_fail(elf, wndl_mem_libc());
    assert_true(wndl_object_has_symtab(object));
    assert_string_equal(name_at(object, 0x1000), "exported");
    assert_string_equal(name_at(object, 0x1010), "hidden");
    assert_null(wndl_object_damage(object));
    wndl_object_close(object);
    free((void *)elf.data);
    free((void *)inner.data);
}

static void expect_dynamic_only(struct wndl_bytes inner, const char *what)
{
    struct wndl_bytes elf = make_outer(inner);
    struct wndl_object *object = open_or_fail(elf, wndl_mem_libc());
    assert_string_equal(name_at(object, 0x1000), "exported");
    assert_string_equal(name_at(object, 0x1010), "not found");
    const struct wndl_error *damage = wndl_object_damage(object);
    assert_non_null(damage);
    assert_string_equal(damage->file, "outer");
    assert_string_equal(damage->section, ".gnu_debugdata");
    if (what != NULL)
        assert_string_equal(damage->what, what);
    wndl_object_close(object);
    free((void *)elf.data);
}

static void expect_part_only(struct wndl_bytes prefix, void *context)
{
    (void)context;
    expect_dynamic_only(prefix, NULL);
}

static void damaged_mini_debug_info_leaves_the_rest(void **state)
{
    (void)state;
    struct wndl_bytes inner = make_symbols_file(
        SHT_SYMTAB, &hidden, EM_X86_64, (struct wndl_bytes){0});
    struct wndl_bytes other = make_symbols_file(
        SHT_SYMTAB, &hidden, EM_AARCH64, (struct wndl_bytes){0});
    for_each_truncation(inner, expect_part_only, NULL);
    expect_dynamic_only(other, "its symbols are of another machine");
    free((void *)inner.data);
    free((void *)other.data);
}

static void every_allocation_for_mini_debug_info_may_fail(void **state)
{
    (void)state;
    struct wndl_bytes inner = make_symbols_file(
        SHT_SYMTAB, &hidden, EM_X86_64, (struct wndl_bytes){0});
    struct wndl_bytes elf = make_outer(inner);
    bool found = false;
    for (long budget = 0; !found; budget++) {
        struct failing_mem heap;
        failing_mem_init(&heap, budget);
        struct wndl_object *object = open_or_fail(elf, &heap.mem);
        if (object != NULL) {
            const char *name = name_at(object, 0x1010);
            assert_string_not_equal(name, "not found");
            found = strcmp(name, "hidden") == 0;
            wndl_object_close(object);
        }
        assert_int_equal(heap.live, 0);
        assert_true(budget < 200);
    }
    free((void *)elf.data);
    free((void *)inner.data);
}

/* ---- whole files */

static enum wndl_status unpack_file(
    struct wndl_bytes packed, struct wndl_file *file, struct wndl_error *err)
{
    int fd = memfd_create("packed", MFD_CLOEXEC);
    assert_int_equal(write(fd, packed.data, packed.size), (ssize_t)packed.size);
    assert_int_equal(wndl_file_of_descriptor(fd, file, NULL), WNDL_OK);
    close(fd);
    return wndl_packed_file_unpack(file, err);
}

static void a_packed_file_is_read_as_what_it_holds(void **state)
{
    (void)state;
    uint8_t text[TEXT_SIZE];
    fill_text(text);
    struct wndl_buf packed[3];
    for (int i = 0; i < 3; i++)
        wndl_buf_init(&packed[i], wndl_mem_libc());
    put_xz(&packed[0], text, sizeof text);
    put_zstd(&packed[1], text, sizeof text / 2);
    put_zstd(&packed[1], text + sizeof text / 2, sizeof text / 2);
    wndl_buf_add(&packed[2], text, sizeof text);
    for (int i = 0; i < 3; i++) {
        struct wndl_file file;
        assert_int_equal(
            unpack_file(bytes_of(&packed[i]), &file, NULL), WNDL_OK);
        assert_int_equal(file.bytes.size, sizeof text);
        wndl_file_give_up(&file);
        assert_memory_equal(file.bytes.data, text, sizeof text);
        wndl_file_close(&file);
        wndl_buf_free(&packed[i]);
    }
}

static void expect_cut(struct wndl_bytes prefix, void *context)
{
    const struct wndl_buf *whole = context;
    struct wndl_file file;
    struct wndl_error err = {0};
    if (prefix.size < 6 || prefix.size == whole->size)
        return;
    assert_int_equal(unpack_file(prefix, &file, &err), WNDL_TRUNCATED);
    assert_int_equal(err.status, WNDL_TRUNCATED);
    assert_int_equal(file.bytes.size, 0);
}

static void a_packed_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    uint8_t text[TEXT_SIZE];
    fill_text(text);
    for (int i = 0; i < 2; i++) {
        struct wndl_buf packed;
        struct wndl_file file;
        wndl_buf_init(&packed, wndl_mem_libc());
        (i == 0 ? put_xz : put_zstd)(&packed, text, sizeof text);
        for_each_truncation(bytes_of(&packed), expect_cut, &packed);
        packed.data[packed.size / 2] ^= 0x55;
        packed.data[8] ^= 0x55;
        enum wndl_status status = unpack_file(bytes_of(&packed), &file, NULL);
        assert_int_equal(status, WNDL_MALFORMED);
        assert_int_equal(file.bytes.size, 0);
        wndl_buf_free(&packed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zstd_sections_are_read_in_both_classes),
        cmocka_unit_test(zstd_frames_are_joined),
        cmocka_unit_test(zstd_cut_anywhere_or_of_another_size_is_refused),
        cmocka_unit_test(sections_loaded_together_are_as_those_read_alone),
        cmocka_unit_test(xz_is_unpacked_to_its_end),
        cmocka_unit_test(xz_cut_anywhere_is_refused),
        cmocka_unit_test(an_xz_bomb_is_given_up),
        cmocka_unit_test(a_packed_file_is_read_as_what_it_holds),
        cmocka_unit_test(a_packed_file_cut_anywhere_is_refused),
        cmocka_unit_test(mini_debug_info_adds_to_the_dynamic_symbols),
        cmocka_unit_test(damaged_mini_debug_info_leaves_the_rest),
        cmocka_unit_test(every_allocation_for_mini_debug_info_may_fail),
    };
    return cmocka_run_group_tests_name("unpack", tests, NULL, NULL);
}
