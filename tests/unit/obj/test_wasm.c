/* SPDX-License-Identifier: MIT */
/*
 * Modules made by hand: two imports of functions, and three functions, of which
 * one has a name, one a symbol of the linker and one an export.
 */
#include "testlib.h"

#include "base/buf.h"
#include "obj/wasm/wasm.h"

#include <stdlib.h>

static void put(struct wndl_buf *b, const void *bytes, size_t size)
{
    wndl_buf_byte(b, (uint8_t)size);
    wndl_buf_add(b, bytes, size);
}

#define PUT(b, bytes) put(b, bytes, sizeof bytes - 1)

static void put_custom(
    struct wndl_buf *b, const char *name, const void *bytes, size_t size)
{
    wndl_buf_byte(b, 0);
    wndl_buf_byte(b, (uint8_t)(1 + strlen(name) + size));
    put(b, name, strlen(name));
    wndl_buf_add(b, bytes, size);
}

#define PUT_CUSTOM(b, name, bytes) put_custom(b, name, bytes, sizeof bytes - 1)

static const char header[] = "\0asm\1\0\0";

/* Of all kinds; functions are env.f and env.g. */
static const char imports[] =
    "\x07\3env\1f\0\0\3env\1t\1\x70\1\1\2\3env\1r\1\x63\x70\0\1"
    "\3env\1m\2\x0b\1\2\x0c\3env\1v\3\x7f\0\3env\1x\4\0\0\3env\1g\0\0";

/* Functions 2, 3 and 4 at 2, 7 (with a long form of its size) and 0xb. */
static const char code[] = "\3\2\0\x0b\x83\x80\0\0\1\x0b\2\0\x0b";

static const char exports[] = "\3\3two\0\2\3mem\2\0\4four\0\4";

/* A module's name, then functions 0 and 2. */
static const char names[] = "\0\2\1M\1\x0c\2\0\1f\2\6second";

/* Version 2, a subsection of another kind, and symbols. */
static const char linking[] =
    "\2\5\1\0\x08\x2c\6"
    "\1\0\4data\0\0\4"  /* data, defined */
    "\1\x10\5data2"     /* and not */
    "\3\2\0"            /* a section */
    "\0\x10\0"          /* function 0, of its import's name */
    "\0\2\3\5third"     /* function 3, local */
    "\0\x50\1\6import"; /* function 1, with a name of its own */

static void make(struct wndl_buf *b)
{
    wndl_buf_init(b, wndl_mem_libc());
    wndl_buf_add(b, header, sizeof header);
    wndl_buf_byte(b, 2);
    PUT(b, imports);
    wndl_buf_byte(b, 7);
    PUT(b, exports);
    wndl_buf_byte(b, 10);
    PUT(b, code);
    PUT_CUSTOM(b, ".debug_info", "info");
    PUT_CUSTOM(b, "name", names);
    PUT_CUSTOM(b, "linking", linking);
    PUT_CUSTOM(b, "build_id", "\3\1\2\3");
    PUT_CUSTOM(b, "external_debug_info", "\7a/b.dbg");
}

static struct wndl_object *open_bytes(struct wndl_bytes bytes)
{
    struct wndl_object *object;
    struct wndl_error err = {0};
    assert_int_equal(
        wndl_object_open(bytes, "m", wndl_mem_libc(), &object, &err), WNDL_OK);
    return object;
}

static struct wndl_bytes bytes_of(const struct wndl_buf *b)
{
    return (struct wndl_bytes){b->data, b->size};
}

static void expect_function(struct wndl_object *object, size_t index,
    const char *name, uint64_t start, uint64_t size)
{
    const struct wndl_symbol *functions;
    size_t count;
    assert_int_equal(
        wndl_object_functions(object, &functions, &count, NULL), WNDL_OK);
    assert_in_range(index + 1, 1, count);
    assert_true(wndl_bytes_is(functions[index].name, name));
    assert_int_equal(functions[index].addr.v, start);
    assert_int_equal(functions[index].size, size);
    assert_true(functions[index].has_end);
}

static void functions_have_places_and_names(void **state)
{
    (void)state;
    struct wndl_buf b;
    struct wndl_symbol symbol;
    make(&b);
    struct wndl_object *object = open_bytes(bytes_of(&b));
    assert_true(wndl_object_is_wasm(object));
    assert_true(wndl_object_has_symtab(object));
    expect_function(object, 0, "second", 2, 2);
    expect_function(object, 1, "third", 7, 3);
    expect_function(object, 2, "four", 11, 2);
    assert_int_equal(
        wndl_object_find_function(object, (wndl_svma){10}, &symbol, NULL),
        WNDL_NOT_FOUND);
    assert_null(wndl_object_damage(object));
    wndl_object_close(object);
    wndl_buf_free(&b);
}

static void sections_and_identity_are_found(void **state)
{
    (void)state;
    struct wndl_buf b;
    struct wndl_bytes info;
    struct wndl_section text;
    make(&b);
    struct wndl_object *object = open_bytes(bytes_of(&b));
    assert_int_equal(
        wndl_object_section_bytes(object, ".debug_info", &info, NULL, NULL),
        WNDL_OK);
    assert_true(wndl_bytes_is(info, "info"));
    assert_int_equal(
        wndl_object_section_bytes(object, ".text", &info, &text, NULL),
        WNDL_OK);
    assert_int_equal(info.size, sizeof code - 1);
    assert_int_equal(text.addr.v, 0);
    assert_ptr_equal(
        wndl_object_loaded_bytes(object, (wndl_svma){2}).data, info.data + 2);
    assert_true(wndl_bytes_is(wndl_object_build_id(object), "\1\2\3"));
    assert_true(wndl_bytes_is(wndl_wasm_external(object), "a/b.dbg"));
    assert_true(wndl_object_is_relocatable(object));
    assert_int_equal(wndl_object_address_size(object), 4);
    wndl_object_close(object);
    wndl_buf_free(&b);
}

static void use_all(struct wndl_bytes bytes, void *context)
{
    struct wndl_object *object;
    struct wndl_error err = {0};
    const struct wndl_symbol *functions;
    size_t count;
    unsigned *opened = context;
    enum wndl_status status =
        wndl_object_open(bytes, "m", wndl_mem_libc(), &object, &err);
    if (status != WNDL_OK) {
        assert_in_range(bytes.size, 0, sizeof header - 1);
        assert_true(err.what[0] != '\0');
        return;
    }
    ++*opened;
    status = wndl_object_functions(object, &functions, &count, &err);
    if (status == WNDL_OK && count > 0)
        assert_true(wndl_bytes_is(functions[count - 1].name, "four") ||
                    wndl_object_damage(object) != NULL);
    wndl_object_close(object);
}

static void what_is_cut_off_costs_the_rest_alone(void **state)
{
    (void)state;
    struct wndl_buf b;
    unsigned opened = 0;
    make(&b);
    for_each_truncation(bytes_of(&b), use_all, &opened);
    assert_in_range(opened, b.size - sizeof header, b.size);
    wndl_buf_free(&b);
}

/* A byte that is changed, and what is said of it. */
static void damage_is_told_with_its_place(void **state)
{
    (void)state;
    struct wndl_buf b;
    make(&b);
    size_t import_at = sizeof header;
    size_t export_at = import_at + 2 + sizeof imports - 1;
    size_t code_at = export_at + 2 + sizeof exports - 1;
    size_t name_at = code_at + 2 + sizeof code - 1 + 2 + 1 + 11 + 4;
    size_t linking_at = name_at + 2 + 1 + 4 + sizeof names - 1;
    const struct {
        size_t at;
        uint8_t value;
        const char *section;
        uint64_t offset;
        const char *what;
    } cases[] = {
        {import_at + 2, 8, "import", export_at, "counted"},
        {import_at + 2 + 7, 9, "import", export_at, "counted"},
        {export_at + 2, 9, "export", code_at, "exports reach"},
        {code_at + 2 + 1, 99, ".text", code_at + 2 + 1, "a function reaches"},
        {name_at, 10, "sections", name_at, "second section of code"},
        {name_at + 2, 99, "sections", name_at, "name reaches"},
        {name_at + 1, 255, "sections", name_at, "past the end of the file"},
        {name_at + 7 + 5, 99, "name", name_at + 7 + 4, "subsection"},
        {name_at + 7 + 6, 9, "name", linking_at, "names reach"},
        {linking_at + 10 + 5, 99, "linking", linking_at + 10 + 4, "subsection"},
        {linking_at + 10 + 6, 9, "linking", linking_at + 10 + 6 + 44,
            "symbols"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wndl_symbol *functions;
        size_t count;
        uint8_t was = b.data[cases[i].at];
        b.data[cases[i].at] = cases[i].value;
        struct wndl_object *object = open_bytes(bytes_of(&b));
        (void)!wndl_object_functions(object, &functions, &count, NULL);
        const struct wndl_error *damage = wndl_object_damage(object);
        assert_non_null(damage);
        assert_string_equal(damage->file, "m");
        assert_string_equal(damage->section, cases[i].section);
        assert_int_equal(damage->offset, cases[i].offset);
        assert_non_null(strstr(damage->what, cases[i].what));
        wndl_object_close(object);
        b.data[cases[i].at] = was;
    }
    wndl_buf_free(&b);
}

static void other_layers_and_versions_are_unsupported(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        enum wndl_status status;
        const char *what;
    } cases[] = {
        {"\0asm\x0d\0\1\0", WNDL_UNSUPPORTED, "component"},
        {"\0asm\2\0\0\0", WNDL_UNSUPPORTED, "other than 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wndl_object *object;
        struct wndl_error err = {0};
        const struct wndl_bytes bytes = {(const uint8_t *)cases[i].bytes, 8};
        assert_int_equal(
            wndl_object_open(bytes, "m", wndl_mem_libc(), &object, &err),
            cases[i].status);
        assert_non_null(strstr(err.what, cases[i].what));
    }
}

static void modules_of_one_code_are_known(void **state)
{
    (void)state;
    struct wndl_buf b, c;
    make(&b);
    make(&c);
    c.data[c.size - 1] ^= 1;
    struct wndl_object *object = open_bytes(bytes_of(&b));
    struct wndl_object *same = open_bytes(bytes_of(&c));
    assert_true(wndl_wasm_same_code(object, same));
    wndl_object_close(same);
    c.data[sizeof header + 4 + sizeof imports + sizeof exports + 2] ^= 1;
    struct wndl_object *other = open_bytes(bytes_of(&c));
    assert_false(wndl_wasm_same_code(object, other));
    wndl_object_close(other);
    wndl_object_close(object);
    wndl_buf_free(&b);
    wndl_buf_free(&c);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    struct wndl_buf b;
    struct failing_mem f;
    make(&b);
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; budget < 100 && status == WNDL_NOMEM; budget++) {
        struct wndl_object *object;
        const struct wndl_symbol *functions;
        size_t count;
        failing_mem_init(&f, budget);
        status = wndl_object_open(bytes_of(&b), "m", &f.mem, &object, NULL);
        if (status == WNDL_OK)
            status = wndl_object_functions(object, &functions, &count, NULL);
        wndl_object_close(object);
        assert_int_equal(f.live, 0);
    }
    assert_int_equal(status, WNDL_OK);
    wndl_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_places_and_names),
        cmocka_unit_test(sections_and_identity_are_found),
        cmocka_unit_test(what_is_cut_off_costs_the_rest_alone),
        cmocka_unit_test(damage_is_told_with_its_place),
        cmocka_unit_test(other_layers_and_versions_are_unsupported),
        cmocka_unit_test(modules_of_one_code_are_known),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
