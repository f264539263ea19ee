/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "elfmake.h"
#include "obj/core/object.h"

#include <elf.h>
#include <stdlib.h>

enum { BASE = 0x1000, SYMBOLS = 3, FUNC = STT_FUNC };

enum hash { BY_HASH, BY_GNU_HASH, BY_NONE };

/* What one test changes about a sound file. */
struct change {
    uint32_t count;     /* of the hash table, 0: the right one */
    uint64_t strings;   /* their size, 0: the right one */
    uint64_t entry;     /* bytes of a symbol, 0: the right number */
    bool no_chain_end;  /* of the GNU hash table */
    uint32_t low_first; /* first hashed symbol, above what buckets say */
};

static void put_hash(struct wndl_buf *buf, const struct elf_recipe *recipe,
    const struct change *change)
{
    uint32_t count = change->count == 0 ? SYMBOLS + 1 : change->count;
    put(buf, recipe, 1, 4); /* buckets */
    put(buf, recipe, count, 4);
    for (uint32_t i = 0; i < 1 + SYMBOLS + 1; i++)
        put(buf, recipe, 0, 4);
}

/* Two buckets: an empty one and one of the last two symbols. */
static void put_gnu_hash(struct wndl_buf *buf, const struct elf_recipe *recipe,
    const struct change *change)
{
    uint32_t first = change->low_first == 0 ? 2 : change->low_first;
    put(buf, recipe, 2, 4);
    put(buf, recipe, first, 4);
    put(buf, recipe, 1, 4); /* words of the bloom filter */
    put(buf, recipe, 6, 4);
    put_word(buf, recipe, 0);
    put(buf, recipe, 0, 4);
    put(buf, recipe, 2, 4);
    put(buf, recipe, 0x100, 4); /* of symbol 2 */
    put(buf, recipe, change->no_chain_end ? 0x200 : 0x201, 4);
}

enum { SLOT = 0x7000, STUB = 16, CALLED = 1 /* the symbol "imported" */ };

/* At a multiple of 16: the relocation of a slot, and code that jumps to where
 * that points; 24 and 8 bytes, then 16. Returns where the code is. */
static uint64_t put_stub(
    struct wndl_buf *loaded, const struct elf_recipe *recipe)
{
    while (loaded->size % 16 != 0)
        wndl_buf_byte(loaded, 0);
    put(loaded, recipe, SLOT, 8);
    put(loaded, recipe, (uint64_t)CALLED << 32 | R_X86_64_JUMP_SLOT, 8);
    put(loaded, recipe, 0, 8);
    put(loaded, recipe, 0, 8);
    uint64_t at = BASE + loaded->size;
    wndl_buf_add(loaded, "\xff\x25", 2);
    put(loaded, recipe, SLOT - (at + 6), 4);
    for (int i = 6; i < STUB; i++)
        wndl_buf_byte(loaded, 0x90);
    return at;
}

static void put_tag(struct wndl_buf *buf, const struct elf_recipe *recipe,
    uint64_t tag, uint64_t value)
{
    put_word(buf, recipe, tag);
    put_word(buf, recipe, value);
}

static struct wndl_bytes make_headerless(
    struct elf_recipe *recipe, enum hash hash, const struct change *change)
{
    static const struct made_symbol symbols[SYMBOLS] = {
        {"imported", 0, 0, ELF64_ST_INFO(STB_GLOBAL, FUNC), SHN_UNDEF},
        {"first", BASE + 0x10, 8, ELF64_ST_INFO(STB_GLOBAL, FUNC), 7},
        {"unsized", BASE + 0x20, 0, ELF64_ST_INFO(STB_GLOBAL, FUNC), 7},
    };
    struct wndl_buf loaded, strings, dynamic;
    wndl_buf_init(&loaded, wndl_mem_libc());
    wndl_buf_init(&strings, wndl_mem_libc());
    wndl_buf_init(&dynamic, wndl_mem_libc());
    make_symbols(recipe, symbols, SYMBOLS, &loaded, &strings);
    uint64_t strings_at = BASE + loaded.size;
    wndl_buf_add(&loaded, strings.data, strings.size);
    uint64_t hash_at = BASE + loaded.size;
    if (hash == BY_HASH)
        put_hash(&loaded, recipe, change);
    else
        put_gnu_hash(&loaded, recipe, change);
    if (recipe->machine == EM_X86_64) {
        uint64_t stub = put_stub(&loaded, recipe);
        put_tag(&dynamic, recipe, DT_JMPREL, stub - 32);
        put_tag(&dynamic, recipe, DT_PLTRELSZ, 24);
    }
    put_tag(&dynamic, recipe, DT_NEEDED, 1);
    put_tag(&dynamic, recipe, DT_SYMTAB, BASE);
    put_tag(&dynamic, recipe, DT_STRTAB, strings_at);
    put_tag(&dynamic, recipe, DT_STRSZ,
        change->strings == 0 ? strings.size : change->strings);
    put_tag(&dynamic, recipe, DT_SYMENT,
        change->entry != 0 ? change->entry
        : recipe->is_64    ? 24
                           : 16);
    if (hash != BY_NONE)
        put_tag(
            &dynamic, recipe, hash == BY_HASH ? DT_HASH : DT_GNU_HASH, hash_at);
    put_tag(&dynamic, recipe, DT_NULL, 0);
    put_tag(&dynamic, recipe, DT_SYMTAB, 1);
    const struct made_section sections[] = {
        {.name = "", .type = SHT_PROGBITS, .data = bytes_of(&loaded)},
        {.name = "", .type = SHT_PROGBITS, .data = bytes_of(&dynamic)},
    };
    const struct made_segment segments[] = {
        {PT_LOAD, PF_R | PF_X, BASE, loaded.size, 0x1000, 1},
        {PT_DYNAMIC, PF_R, 0x5000, dynamic.size, 8, 2},
    };
    recipe->type = ET_DYN;
    recipe->no_sections = true;
    recipe->sections = sections;
    recipe->section_count = 2;
    recipe->segments = segments;
    recipe->segment_count = 2;
    struct wndl_bytes elf = make_elf(recipe);
    wndl_buf_free(&loaded);
    wndl_buf_free(&strings);
    wndl_buf_free(&dynamic);
    return elf;
}

static struct wndl_object *open_or_fail(struct wndl_bytes elf)
{
    struct wndl_object *object;
    assert_int_equal(
        wndl_object_open(elf, "lib", wndl_mem_libc(), &object, NULL), WNDL_OK);
    return object;
}

static const char *name_at(struct wndl_object *object, uint64_t addr)
{
    struct wndl_symbol symbol;
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_object_find_function(object, (wndl_svma){addr}, &symbol, &err);
    if (status == WNDL_OK)
        return (const char *)symbol.name.data;
    if (status != WNDL_NOT_FOUND) {
        assert_string_equal(err.file, "lib");
        assert_string_equal(err.section, "PT_DYNAMIC");
    }
    return wndl_status_name(status);
}

static void both_hash_tables_tell_how_many_symbols_there_are(void **state)
{
    (void)state;
    const struct change none = {0};
    for (unsigned bits = 0; bits < 8; bits++) {
        struct elf_recipe recipe = {
            .is_64 = (bits & 1) != 0,
            .big_endian = (bits & 2) != 0,
            .machine = EM_PPC64,
        };
        struct wndl_bytes elf = make_headerless(
            &recipe, (bits & 4) != 0 ? BY_GNU_HASH : BY_HASH, &none);
        struct wndl_object *object = open_or_fail(elf);
        const struct wndl_symbol *functions;
        size_t count;
        assert_int_equal(
            wndl_object_functions(object, &functions, &count, NULL), WNDL_OK);
        assert_int_equal(count, 2);
        assert_string_equal(name_at(object, BASE + 0x0f), "not found");
        assert_string_equal(name_at(object, BASE + 0x17), "first");
        assert_string_equal(name_at(object, BASE + 0x18), "not found");
        assert_string_equal(name_at(object, BASE + 0x30), "unsized");
        assert_string_equal(name_at(object, 0x5000), "not found");
        wndl_object_close(object);
        free((void *)elf.data);
    }
}

static const char *answer_of(enum hash hash, const struct change *change)
{
    struct elf_recipe recipe = {.is_64 = true};
    struct wndl_bytes elf = make_headerless(&recipe, hash, change);
    struct wndl_object *object = open_or_fail(elf);
    const char *name = name_at(object, BASE + 0x10);
    bool found = strcmp(name, "first") == 0;
    wndl_object_close(object);
    free((void *)elf.data);
    return found ? "first" : name;
}

static void tables_that_lie_are_refused(void **state)
{
    (void)state;
    const char *const cut = wndl_status_name(WNDL_TRUNCATED);
    const char *const bad = wndl_status_name(WNDL_MALFORMED);
    const struct {
        enum hash hash;
        struct change change;
        const char *answer;
    } cases[] = {
        {BY_NONE, {0}, bad},
        {BY_HASH, {.count = UINT32_MAX}, cut},
        {BY_HASH, {.strings = UINT64_MAX}, cut},
        {BY_HASH, {.strings = 1}, bad}, /* names reach past their end */
        {BY_HASH, {.entry = 8}, bad},
        {BY_HASH, {.entry = UINT64_MAX}, bad},
        {BY_GNU_HASH, {.no_chain_end = true}, bad},
        {BY_GNU_HASH, {.low_first = 3}, bad},
        {BY_GNU_HASH, {0}, "first"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(
            answer_of(cases[i].hash, &cases[i].change), cases[i].answer);
}

/* Every byte of the file once set to 0xff. */
static void damage_anywhere_is_survived(void **state)
{
    (void)state;
    const struct change none = {0};
    for (int hash = BY_HASH; hash <= BY_GNU_HASH; hash++) {
        struct elf_recipe recipe = {.is_64 = true};
        struct wndl_bytes elf = make_headerless(&recipe, hash, &none);
        uint8_t *bytes = (uint8_t *)elf.data;
        for (size_t i = 0; i < elf.size; i++) {
            uint8_t was = bytes[i];
            struct wndl_object *object;
            struct wndl_symbol symbol;
            bytes[i] = 0xff;
            if (wndl_object_open(elf, "lib", wndl_mem_libc(), &object, NULL) ==
                WNDL_OK) {
                (void)!wndl_object_find_function(
                    object, (wndl_svma){BASE + 0x10}, &symbol, NULL);
                wndl_object_close(object);
            }
            bytes[i] = was;
        }
        free(bytes);
    }
}

static uint64_t find_stub(struct wndl_bytes elf)
{
    const uint8_t *code = memmem(elf.data, elf.size, "\xff\x25", 2);
    assert_non_null(code);
    return (uint64_t)(code - elf.data);
}

/* Asks for all of what is loaded; how often the answer is a stub's. */
static unsigned count_stubs(struct wndl_bytes elf)
{
    struct wndl_object *object;
    unsigned count = 0;
    if (wndl_object_open(elf, "lib", wndl_mem_libc(), &object, NULL) != WNDL_OK)
        return 0;
    for (uint64_t addr = BASE; addr < BASE + 0x200; addr++) {
        struct wndl_symbol stub;
        if (wndl_object_find_plt(object, (wndl_svma){addr}, &stub, NULL) !=
            WNDL_OK)
            continue;
        assert_in_range(addr, stub.addr.v, stub.addr.v + stub.size - 1);
        count++;
    }
    wndl_object_close(object);
    return count;
}

static void cut(struct wndl_bytes prefix, void *context)
{
    (void)context;
    assert_in_range(count_stubs(prefix), 0, STUB);
}

static void stubs_are_told_by_what_they_do(void **state)
{
    (void)state;
    const struct change none = {0};
    struct elf_recipe recipe = {.is_64 = true, .machine = EM_X86_64};
    struct wndl_bytes elf = make_headerless(&recipe, BY_GNU_HASH, &none);
    uint8_t *bytes = (uint8_t *)elf.data;
    assert_int_equal(count_stubs(elf), STUB);
    for_each_truncation(elf, cut, NULL);
    for (size_t i = 0; i < elf.size; i++) {
        uint8_t was = bytes[i];
        bytes[i] = 0xff;
        assert_in_range(count_stubs(elf), 0, STUB);
        bytes[i] = was;
    }
    bytes[find_stub(elf) + 2]++; /* another slot */
    assert_int_equal(count_stubs(elf), 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_hash_tables_tell_how_many_symbols_there_are),
        cmocka_unit_test(tables_that_lie_are_refused),
        cmocka_unit_test(damage_anywhere_is_survived),
        cmocka_unit_test(stubs_are_told_by_what_they_do),
    };
    return cmocka_run_group_tests_name("elf_dynamic", tests, NULL, NULL);
}
