/* SPDX-License-Identifier: MIT */
/*
 * Mach-O made by hand, of both sizes and byte orders: a library with two
 * functions that have symbols, one that is only exported and one that is only
 * in the list of starts; and its debug map.
 */
#include "testlib.h"

#include "base/buf.h"
#include "base/map.h"
#include "obj/find/debug_id.h"
#include "obj/macho/macho.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEADER = 0x1000, TEXT = 0x1100, TEXT_SIZE = 0x100, NAMES = 11 };

struct maker {
    struct wndl_buf out;
    bool wide;
    bool big;
    bool is_short; /* the first symbol's name is */
};

static void put(struct maker *m, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        size_t digit = m->big ? size - 1 - i : i;
        wndl_buf_byte(&m->out, digit < 8 ? (uint8_t)(value >> 8 * digit) : 0);
    }
}

static void put_address(struct maker *m, uint64_t value)
{
    put(m, value, m->wide ? 8 : 4);
}

static void put_name(struct maker *m, const char *name)
{
    char text[17] = {0};
    snprintf(text, sizeof text, "%s", name);
    wndl_buf_add(&m->out, text, 16);
}

static void put_symbol(struct maker *m, unsigned name, unsigned type,
    unsigned section, uint64_t value)
{
    put(m, name, 4);
    put(m, type, 1);
    put(m, section, 1);
    put(m, 0, 2);
    put_address(m, value);
}

static const char names[] = "\0_first\0__Z6secondv\0x.c\0/o/x.o\0/l.a(y.o)";

/* Where they begin in `names`. */
enum { FIRST = 1, SECOND = 8, SOURCE = 20, OBJECT = 24, MEMBER = 31 };

/* "_" -> "third" at 0x180 from the header, and "other" re-exported. */
static const uint8_t exports[] = {0, 1, '_', 0, 5, 0, 2, 't', 'h', 'i', 'r',
    'd', 0, 22, 'o', 0, 27, 0, 0, 0, 0, 0, 3, 0, 0x80, 3, 0, 3, 8, 1, 0, 0};

/* From the header: 0x100, 0x120, 0x180, 0x1c0. */
static const uint8_t starts[] = {0x80, 2, 0x20, 0x60, 0x40, 0};

static void put_section(struct maker *m)
{
    put_name(m, "__text");
    put_name(m, "__TEXT");
    put_address(m, TEXT);
    put_address(m, TEXT_SIZE);
    put(m, 0x20, 4);
    put(m, 4, 4);
    put(m, 0, 8);
    put(m, 0x80000400, 4);
    put(m, 0, m->wide ? 12 : 8);
}

static void put_segment(struct maker *m)
{
    put(m, m->wide ? 0x19 : 1, 4);
    put(m, m->wide ? 72 + 80 : 56 + 68, 4);
    put_name(m, "__TEXT");
    put_address(m, HEADER);
    put_address(m, 0x1000);
    put_address(m, 0);
    put_address(m, 0x400);
    put(m, 5, 4);
    put(m, 5, 4);
    put(m, 1, 4);
    put(m, 0, 4);
    put_section(m);
}

static void put_part(
    struct maker *m, unsigned command, uint64_t offset, uint64_t size)
{
    put(m, command, 4);
    put(m, 16, 4);
    put(m, offset, 4);
    put(m, size, 4);
}

static void put_symbols(struct maker *m)
{
    put_symbol(m, 0, 0x64, 0, 0);
    put_symbol(m, SOURCE, 0x64, 0, 0);
    put_symbol(m, OBJECT, 0x66, 0, 7);
    put_symbol(m, FIRST, 0x24, 1, TEXT);
    put_symbol(m, 0, 0x24, 0, 0x20);
    put_symbol(m, MEMBER, 0x66, 0, 0);
    put_symbol(m, SECOND, 0x24, 1, TEXT + 0x20);
    put_symbol(m, 0, 0x64, 0, 0);
    put_symbol(m, 0, 0x24, 0, 0x99); /* of no function */
    put_symbol(m, m->is_short ? FIRST + 5 : FIRST, 0x0f, 1, TEXT);
    put_symbol(m, SECOND, 0x0e, 1, TEXT + 0x20);
}

static struct wndl_bytes make(struct maker *m)
{
    wndl_buf_init(&m->out, wndl_mem_libc());
    size_t commands = (m->wide ? 72 + 80 : 56 + 68) + 24 + 24 + 16 + 16;
    size_t at = (m->wide ? 32u : 28u) + commands;
    size_t symbols = NAMES * (m->wide ? 16u : 12u);
    put(m, m->wide ? 0xfeedfacf : 0xfeedface, 4);
    put(m, m->wide ? 0x01000012 : 18, 4); /* PowerPC */
    put(m, 0, 4);
    put(m, 6, 4); /* a library */
    put(m, 5, 4);
    put(m, commands, 4);
    put(m, 0, m->wide ? 8 : 4);
    put_segment(m);
    put(m, 0x1b, 4);
    put(m, 24, 4);
    wndl_buf_add(&m->out, "ABCDEFGHIJKLMNOP", 16);
    put(m, 2, 4);
    put(m, 24, 4);
    put(m, at, 4);
    put(m, NAMES, 4);
    put(m, at + symbols, 4);
    put(m, sizeof names, 4);
    put_part(m, 0x26, at + symbols + sizeof names, sizeof starts);
    put_part(m, 0x80000033, at + symbols + sizeof names + sizeof starts,
        sizeof exports);
    put_symbols(m);
    wndl_buf_add(&m->out, names, sizeof names);
    wndl_buf_add(&m->out, starts, sizeof starts);
    wndl_buf_add(&m->out, exports, sizeof exports);
    assert_false(m->out.failed);
    return (struct wndl_bytes){m->out.data, m->out.size};
}

static void check_symbol(
    const struct wndl_symbol *symbol, const char *name, unsigned at)
{
    assert_true(wndl_bytes_is(symbol->name, name));
    assert_int_equal(symbol->addr.v, TEXT + at);
}

static void check_functions(struct wndl_object *object)
{
    const struct wndl_symbol *symbols;
    struct wndl_symbol symbol;
    size_t count;
    assert_int_equal(
        wndl_object_functions(object, &symbols, &count, NULL), WNDL_OK);
    assert_int_equal(count, 3);
    check_symbol(&symbols[0], "first", 0);
    check_symbol(&symbols[1], "_Z6secondv", 0x20);
    check_symbol(&symbols[2], "third", 0x80);
    assert_int_equal(symbols[0].size, 0x20);
    assert_int_equal(symbols[1].size, 0x60);
    assert_int_equal(symbols[2].size, 0x40);
    assert_int_equal(wndl_object_find_function(
                         object, (wndl_svma){TEXT + 0xbf}, &symbol, NULL),
        WNDL_OK);
    assert_int_equal(wndl_object_find_function(
                         object, (wndl_svma){TEXT + 0xc0}, &symbol, NULL),
        WNDL_NOT_FOUND);
    assert_null(wndl_object_damage(object));
}

static void check_map(const struct wndl_object *object)
{
    struct wndl_arena arena;
    struct wndl_macho_map map;
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(wndl_macho_read_map(object, &arena, &map, NULL), WNDL_OK);
    assert_int_equal(map.source_count, 2);
    assert_true(wndl_bytes_is(map.sources[0].path, "/o/x.o"));
    assert_int_equal(map.sources[0].modified, 7);
    assert_true(wndl_bytes_is(map.sources[1].path, "/l.a(y.o)"));
    assert_int_equal(map.linked_count, 2);
    assert_true(wndl_bytes_is(map.linked[0].name, "_first"));
    assert_int_equal(map.linked[0].end, TEXT + 0x20);
    assert_int_equal(map.linked[1].source, 1);
    assert_true(map.linked[1].end == UINT64_MAX);
    wndl_arena_free(&arena);
}

static struct wndl_object *open_bytes(struct wndl_bytes bytes, const char *arch)
{
    struct wndl_object *object;
    const struct wndl_object_source source = {bytes, "m", arch};
    assert_int_equal(
        wndl_object_open_source(&source, wndl_mem_libc(), &object, NULL),
        WNDL_OK);
    return object;
}

static const uint64_t *address_of(
    const struct wndl_map *addresses, const char *name)
{
    return wndl_map_get(addresses, wndl_hash_bytes(name, strlen(name)));
}

static void names_of_any_size_have_addresses(void **state)
{
    (void)state;
    struct maker m = {.is_short = true};
    struct wndl_object *object = open_bytes(make(&m), NULL);
    struct wndl_arena arena;
    struct wndl_map addresses;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_map_init(&addresses, &arena);
    assert_int_equal(wndl_macho_read_names(object, &addresses, NULL), WNDL_OK);
    assert_int_equal(*address_of(&addresses, "t"), TEXT);
    assert_int_equal(*address_of(&addresses, "__Z6secondv"), TEXT + 0x20);
    assert_null(address_of(&addresses, "_first"));
    assert_null(address_of(&addresses, ""));
    wndl_arena_free(&arena);
    wndl_object_close(object);
    wndl_buf_free(&m.out);
}

static void read_one(bool wide, bool big)
{
    struct maker m = {.wide = wide, .big = big};
    char arch[WNDL_MACHO_ARCH];
    char text[WNDL_DEBUG_ID_TEXT];
    struct wndl_debug_id id;
    struct wndl_object *object = open_bytes(make(&m), NULL);
    assert_int_equal(wndl_object_is_big_endian(object), big);
    assert_int_equal(wndl_object_address_size(object), wide ? 8 : 4);
    assert_int_equal(wndl_object_image_base(object).v, HEADER);
    assert_true(wndl_object_is_image(object));
    assert_true(wndl_object_debug_id(object, &id));
    assert_string_equal(
        wndl_debug_id_text(&id, text), "4142434445464748494A4B4C4D4E4F500");
    assert_true(wndl_macho_arch_of(object, arch));
    assert_string_equal(arch, wide ? "ppc64" : "ppc");
    check_functions(object);
    check_map(object);
    wndl_object_close(object);
    wndl_buf_free(&m.out);
}

static void test_sizes_and_byte_orders(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        read_one((i & 1) != 0, (i & 2) != 0);
}

/* Whatever can be asked, of bytes that may be anything. */
static enum wndl_status use(
    struct wndl_bytes bytes, struct wndl_mem *mem, struct wndl_error *err)
{
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_macho_map map;
    struct wndl_map addresses;
    const struct wndl_symbol *symbols;
    size_t count;
    enum wndl_status status = wndl_object_open(bytes, "m", mem, &object, err);
    if (status != WNDL_OK)
        return status;
    status = wndl_object_functions(object, &symbols, &count, err);
    if (status == WNDL_OK && wndl_object_damage(object) != NULL) {
        *err = *wndl_object_damage(object);
        status = err->status;
    }
    wndl_arena_init(&arena, mem);
    wndl_map_init(&addresses, &arena);
    enum wndl_status read = wndl_macho_read_map(object, &arena, &map, err);
    if (read == WNDL_OK)
        read = wndl_macho_read_names(object, &addresses, err);
    wndl_arena_free(&arena);
    wndl_object_close(object);
    return status == WNDL_OK ? read : status;
}

static void use_prefix(struct wndl_bytes prefix, void *context)
{
    struct wndl_error err = {0};
    const struct wndl_bytes *whole = context;
    enum wndl_status status = use(prefix, wndl_mem_libc(), &err);
    if (prefix.size == whole->size) {
        assert_int_equal(status, WNDL_OK);
        return;
    }
    assert_int_not_equal(status, WNDL_OK);
    assert_string_not_equal(err.what, "");
    if (prefix.size >= 4)
        assert_string_equal(err.file, "m");
}

static void test_truncated(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct maker m = {.wide = (i & 1) != 0, .big = (i & 2) != 0};
        struct wndl_bytes whole = make(&m);
        for_each_truncation(whole, use_prefix, &whole);
        wndl_buf_free(&m.out);
    }
}

/* Each byte in turn is another. What is said of it is not asked here. */
static void test_damaged(void **state)
{
    static const uint8_t values[] = {0x00, 0x7f, 0x80, 0xff};
    (void)state;
    struct maker m = {.wide = true};
    struct wndl_bytes whole = make(&m);
    for (size_t i = 0; i < whole.size; i++) {
        uint8_t kept = m.out.data[i];
        for (size_t v = 0; v < sizeof values; v++) {
            struct wndl_error err = {0};
            m.out.data[i] = values[v];
            (void)!use(whole, wndl_mem_libc(), &err);
        }
        m.out.data[i] = kept;
    }
    wndl_buf_free(&m.out);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct maker m = {.wide = true};
    struct wndl_bytes whole = make(&m);
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status != WNDL_OK; budget++) {
        struct failing_mem heap;
        struct wndl_error err = {0};
        assert_true(budget < 1000);
        failing_mem_init(&heap, budget);
        status = use(whole, &heap.mem, &err);
        assert_true(status == WNDL_OK || status == WNDL_NOMEM);
        assert_int_equal(heap.live, 0);
    }
    wndl_buf_free(&m.out);
}

/* ---- errors */

/* A number of four bytes of the file for 64 bits, and what is said of it. */
struct wrong {
    size_t at;
    uint32_t value;
    enum wndl_status status;
    const char *section;
    uint64_t offset;
    const char *what;
};

enum { SEGMENT_AT = 32, UUID_AT = 184, SYMBOLS_AT = 208, STARTS_AT = 232 };
enum { EXPORTS_AT = 248, COMMANDS_END = 264 };
#define COMMANDS "load commands"

static const struct wrong wrongs[] = {
    {20, UINT32_MAX, WNDL_TRUNCATED, COMMANDS, SEGMENT_AT, "past the end"},
    {16, UINT32_MAX, WNDL_MALFORMED, COMMANDS, COMMANDS_END, "beyond those"},
    {20, 8, WNDL_MALFORMED, COMMANDS, SEGMENT_AT, "beyond those"},
    {SEGMENT_AT + 4, 0, WNDL_MALFORMED, COMMANDS, SEGMENT_AT, "beyond those"},
    {UUID_AT + 4, 7, WNDL_MALFORMED, COMMANDS, UUID_AT, "beyond those"},
    {UUID_AT + 4, UINT32_MAX, WNDL_MALFORMED, COMMANDS, UUID_AT, "beyond"},
    {UUID_AT + 4, 8, WNDL_MALFORMED, COMMANDS, UUID_AT + 8, "too short"},
    {SEGMENT_AT + 64, UINT32_MAX, WNDL_MALFORMED, COMMANDS, SEGMENT_AT + 72,
        "sections do not fit"},
    {SYMBOLS_AT + 8, UINT32_MAX, WNDL_TRUNCATED, "symbol table", UINT32_MAX,
        "symbols reach past the end"},
    {SYMBOLS_AT + 12, UINT32_MAX, WNDL_TRUNCATED, "symbol table", COMMANDS_END,
        "symbols reach past the end"},
    {SYMBOLS_AT + 20, UINT32_MAX, WNDL_TRUNCATED, "symbol table",
        COMMANDS_END + NAMES * 16, "names reach past the end"},
    {STARTS_AT + 8, UINT32_MAX, WNDL_TRUNCATED, "function starts", UINT32_MAX,
        "past the end"},
    {EXPORTS_AT + 8, UINT32_MAX, WNDL_TRUNCATED, "exports", UINT32_MAX,
        "past the end"},
    {EXPORTS_AT + 12, UINT32_MAX, WNDL_TRUNCATED, "exports",
        COMMANDS_END + NAMES * 16 + sizeof names + sizeof starts,
        "past the end"},
};

static void check_wrong(const struct wrong *w, struct wndl_bytes bytes,
    uint64_t offset, struct wndl_error *err)
{
    assert_int_equal(use(bytes, wndl_mem_libc(), err), w->status);
    assert_string_equal(err->file, "m");
    assert_string_equal(err->section, w->section);
    assert_int_equal(err->offset, w->offset + offset);
    assert_non_null(strstr(err->what, w->what));
}

/* Also of a part of a file, whose offsets are those of the file. */
static void test_errors(void **state)
{
    static const uint8_t fat[32] = {0xca, 0xfe, 0xba,
        0xbe, [7] = 1, [8] = 1, [11] = 0x12, [19] = sizeof fat};
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct wndl_error err = {0};
        struct maker m = {.wide = true};
        struct wndl_buf whole;
        struct wndl_bytes bytes = make(&m);
        for (int k = 0; k < 4; k++)
            m.out.data[wrongs[i].at + (size_t)k] =
                (uint8_t)(wrongs[i].value >> 8 * k);
        check_wrong(&wrongs[i], bytes, 0, &err);
        wndl_buf_init(&whole, wndl_mem_libc());
        wndl_buf_add(&whole, fat, sizeof fat);
        whole.data[22] = (uint8_t)(bytes.size >> 8);
        whole.data[23] = (uint8_t)bytes.size;
        wndl_buf_add(&whole, bytes.data, bytes.size);
        err = (struct wndl_error){0};
        bytes = (struct wndl_bytes){whole.data, whole.size};
        check_wrong(&wrongs[i], bytes, sizeof fat, &err);
        wndl_buf_free(&whole);
        wndl_buf_free(&m.out);
    }
}

/* ---- several architectures */

struct fat {
    struct maker parts[2];
    struct maker all;
};

static struct wndl_bytes make_fat(struct fat *fat, bool wide)
{
    struct wndl_bytes parts[2];
    size_t each = wide ? 32 : 20;
    size_t at = 8 + 2 * each;
    *fat = (struct fat){.all.big = true};
    wndl_buf_init(&fat->all.out, wndl_mem_libc());
    put(&fat->all, wide ? 0xcafebabf : 0xcafebabe, 4);
    put(&fat->all, 2, 4);
    for (int i = 0; i < 2; i++) {
        fat->parts[i] = (struct maker){.wide = i == 1, .big = true};
        parts[i] = make(&fat->parts[i]);
        put(&fat->all, i == 1 ? 0x01000012 : 18, 4);
        put(&fat->all, 0, 4);
        put(&fat->all, at, wide ? 8 : 4);
        put(&fat->all, parts[i].size, wide ? 8 : 4);
        put(&fat->all, 0, wide ? 8 : 4);
        at += parts[i].size;
    }
    for (int i = 0; i < 2; i++)
        wndl_buf_add(&fat->all.out, parts[i].data, parts[i].size);
    return (struct wndl_bytes){fat->all.out.data, fat->all.out.size};
}

static void free_fat(struct fat *fat)
{
    wndl_buf_free(&fat->parts[0].out);
    wndl_buf_free(&fat->parts[1].out);
    wndl_buf_free(&fat->all.out);
}

static enum wndl_status open_fat(
    struct wndl_bytes bytes, const char *arch, struct wndl_error *err)
{
    struct wndl_object *object;
    const struct wndl_object_source source = {bytes, "m", arch};
    *err = (struct wndl_error){0};
    enum wndl_status status =
        wndl_object_open_source(&source, wndl_mem_libc(), &object, err);
    if (status == WNDL_OK)
        wndl_object_close(object);
    return status;
}

static void test_fat(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct fat fat;
        struct wndl_error err;
        char arch[WNDL_MACHO_ARCH];
        struct wndl_bytes bytes = make_fat(&fat, wide != 0);
        assert_true(wndl_macho_arch_at(bytes, 1, arch));
        assert_string_equal(arch, "ppc64");
        assert_false(wndl_macho_arch_at(bytes, 2, arch));
        for (int i = 0; i < 2; i++) {
            struct wndl_object *object =
                open_bytes(bytes, i == 1 ? "ppc64" : "ppc");
            assert_int_equal(wndl_object_address_size(object), i == 1 ? 8 : 4);
            check_functions(object);
            check_map(object);
            wndl_object_close(object);
        }
        assert_int_equal(open_fat(bytes, "arm64", &err), WNDL_NOT_FOUND);
        assert_non_null(strstr(err.what, "ppc, ppc64"));
        assert_int_equal(open_fat(bytes, NULL, &err), WNDL_NOT_FOUND);
        assert_non_null(strstr(err.what, "--arch"));
        /* The second part is cut off, and then the list of parts. */
        struct wndl_bytes cut = {bytes.data, bytes.size - 1};
        assert_int_equal(open_fat(cut, "ppc64", &err), WNDL_TRUNCATED);
        assert_int_equal(open_fat(cut, "ppc", &err), WNDL_OK);
        cut.size = 12;
        assert_int_equal(open_fat(cut, "ppc", &err), WNDL_TRUNCATED);
        /* A part that is the file itself. */
        memset(fat.all.out.data + 8 + 8, 0, wide ? 8 : 4);
        assert_int_equal(open_fat(bytes, "ppc", &err), WNDL_MALFORMED);
        free_fat(&fat);
    }
}

/* ---- the trie of exports */

/* Those that lead back to their root, of which the first names a function each
 * time and the second has no names; to each other; to themselves; beyond. */
static void test_endless_exports(void **state)
{
    static const uint8_t endless[][sizeof exports] = {
        {2, 0, 0x80, 1, 'x', 0, 0, 0},
        {0, 1, 0, 0},
        {0, 2, 'x', 0, 8, 'y', 0, 0, 0, 1, 'z', 0, 0},
        {0, 1, 'x', 0, 5, 0, 2, 'y', 0, 5, 'z', 0, 5},
        {0, 1, 'x', 0, 0x7f},
    };
    (void)state;
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
        struct maker m = {.wide = true};
        struct wndl_bytes bytes = make(&m);
        size_t at = bytes.size - sizeof exports;
        memcpy(m.out.data + at, endless[i], sizeof exports);
        struct wndl_error err = {0};
        assert_int_equal(use(bytes, wndl_mem_libc(), &err), WNDL_MALFORMED);
        assert_non_null(strstr(err.what, "circles"));
        assert_string_equal(err.file, "m");
        assert_string_equal(err.section, "exports");
        assert_int_equal(err.offset, at);
        wndl_buf_free(&m.out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_and_byte_orders),
        cmocka_unit_test(names_of_any_size_have_addresses),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_fat),
        cmocka_unit_test(test_endless_exports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
