/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "elfmake.h"
#include "obj/core/object.h"

#include <elf.h>
#include <stdlib.h>

enum { TEXT = 1, HOT, DATA, INFO, STR, RELOCS, SYMBOLS, STRINGS, COUNT };
enum { FIRST = 0x10000, INFO_SIZE = 40 };
/* Symbols: of section HOT, "f" at .hot + 8, undefined. */
enum { OF_HOT = 1, OF_F, OF_NONE };

struct entry {
    uint64_t offset;
    uint32_t type, symbol;
    uint64_t addend;
};

struct machine {
    const char *name;
    uint16_t machine;
    bool is_64, big_endian, has_addends;
    uint32_t word, half, relative; /* types: 8 bytes (or 0), 4 bytes, to self */
};

static const struct machine machines[] = {
    {"x86-64", EM_X86_64, true, false, true, R_X86_64_64, R_X86_64_32,
        R_X86_64_PC32},
    {"i386", EM_386, false, false, false, 0, R_386_32, R_386_PC32},
    {"aarch64", EM_AARCH64, true, false, true, R_AARCH64_ABS64, R_AARCH64_ABS32,
        R_AARCH64_PREL32},
    {"aarch64_be", EM_AARCH64, true, true, true, R_AARCH64_ABS64,
        R_AARCH64_ABS32, R_AARCH64_PREL32},
    {"arm", EM_ARM, false, false, false, 0, R_ARM_ABS32, R_ARM_REL32},
    {"ppc64", EM_PPC64, true, true, true, R_PPC64_ADDR64, R_PPC64_ADDR32,
        R_PPC64_REL32},
    {"ppc", EM_PPC, false, true, true, 0, R_PPC_ADDR32, R_PPC_REL32},
    {"s390x", EM_S390, true, true, true, R_390_64, R_390_32, R_390_PC32},
    {"riscv64", EM_RISCV, true, false, true, R_RISCV_64, R_RISCV_32,
        R_RISCV_32_PCREL},
    {"riscv32", EM_RISCV, false, false, true, 0, R_RISCV_32, R_RISCV_32_PCREL},
    {"loongarch64", EM_LOONGARCH, true, false, true, R_LARCH_64, R_LARCH_32,
        99},
    {"mips", EM_MIPS, false, true, false, 0, R_MIPS_32, 248},
    {"mips64", EM_MIPS, true, true, true, R_MIPS_64, R_MIPS_32, 248},
    {"mips64el", EM_MIPS, true, false, true, R_MIPS_64, R_MIPS_32, 248},
    {"sparc64", EM_SPARCV9, true, true, true, R_SPARC_UA64, R_SPARC_UA32,
        R_SPARC_DISP32},
    {"sparc", EM_SPARC, false, true, true, 0, R_SPARC_UA32, R_SPARC_DISP32},
    {"m68k", EM_68K, false, true, true, 0, R_68K_32, R_68K_PC32},
    {"sh4", EM_SH, false, false, true, 0, R_SH_DIR32, R_SH_REL32},
    {"alpha", EM_ALPHA, true, false, true, R_ALPHA_REFQUAD, R_ALPHA_REFLONG,
        R_ALPHA_SREL32},
    {"hexagon", EM_QDSP6, false, false, true, 0, 6, 31},
    {"csky", EM_CSKY, false, false, true, 0, R_CKCORE_ADDR32, R_CKCORE_PCREL32},
};

enum { MACHINES = sizeof machines / sizeof *machines };

static struct elf_recipe recipe_of(const struct machine *m)
{
    return (struct elf_recipe){.is_64 = m->is_64,
        .big_endian = m->big_endian,
        .type = ET_REL,
        .machine = m->machine};
}

static void put_entry(struct wndl_buf *buf, const struct machine *m,
    const struct elf_recipe *recipe, const struct entry *e)
{
    uint64_t info = m->is_64 ? ELF64_R_INFO((uint64_t)e->symbol, e->type)
                             : ELF32_R_INFO(e->symbol, e->type);
    put_word(buf, recipe, e->offset);
    if (m->is_64 && m->machine == EM_MIPS) {
        put(buf, recipe, e->symbol, 4);
        for (unsigned shift = 32; shift != 0; shift -= 8)
            put(buf, recipe, e->type >> (shift - 8) & 0xff, 1);
    } else {
        put_word(buf, recipe, info);
    }
    if (m->has_addends)
        put_word(buf, recipe, e->addend);
}

/* The addend where the machine keeps it: in the bytes, with a pattern else. */
static void put_info(struct wndl_buf *buf, const struct machine *m,
    const struct elf_recipe *recipe, const struct entry *entries, size_t count)
{
    uint64_t words[INFO_SIZE / 4];
    for (size_t i = 0; i < INFO_SIZE / 4; i++)
        words[i] = 0x55555555;
    for (size_t i = 0; i < count && !m->has_addends; i++)
        if (entries[i].offset < INFO_SIZE)
            words[entries[i].offset / 4] = entries[i].addend;
    for (size_t i = 0; i < INFO_SIZE / 4; i++)
        put(buf, recipe, words[i], 4);
}

/* An object file whose .debug_info has these relocations. */
static struct wndl_bytes make_object(
    const struct machine *m, const struct entry *entries, size_t count)
{
    static const uint8_t code[0x23];
    static const struct made_symbol symbols[] = {
        {"", 0, 0, ELF64_ST_INFO(STB_LOCAL, STT_SECTION), HOT},
        {"f", 8, 4, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), HOT},
        {"gone", 0x77, 0, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), SHN_UNDEF},
    };
    struct elf_recipe recipe = recipe_of(m);
    struct wndl_buf info, relocs, table, strings;
    struct wndl_buf *all[] = {&info, &relocs, &table, &strings};
    for (size_t i = 0; i < 4; i++)
        wndl_buf_init(all[i], wndl_mem_libc());
    put_info(&info, m, &recipe, entries, count);
    for (size_t i = 0; i < count; i++)
        put_entry(&relocs, m, &recipe, &entries[i]);
    make_symbols(&recipe, symbols, 3, &table, &strings);
    const struct made_section sections[COUNT - 1] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0,
            {code, sizeof code}, 0, 0, 16, 0, 0},
        {".hot", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, {code, 16}, 0, 0,
            16, 0, 0},
        {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, {code, 8}, 0, 0, 8, 0,
            0},
        {".debug_info", SHT_PROGBITS, 0, 0, bytes_of(&info), 0, 0, 1, 0, 0},
        {".debug_str", SHT_PROGBITS, 0, 0, {code, 8}, 0, 0, 1, 0, 0},
        {".relocs", m->has_addends ? SHT_RELA : SHT_REL, 0, 0,
            bytes_of(&relocs), SYMBOLS, INFO, 8, 0, 0},
        {".symtab", SHT_SYMTAB, 0, 0, bytes_of(&table), STRINGS, 0, 8, 0, 0},
        {".strtab", SHT_STRTAB, 0, 0, bytes_of(&strings), 0, 0, 1, 0, 0},
    };
    recipe.sections = sections;
    recipe.section_count = COUNT - 1;
    struct wndl_bytes elf = make_elf(&recipe);
    for (size_t i = 0; i < 4; i++)
        wndl_buf_free(all[i]);
    return elf;
}

static struct wndl_object *open_or_fail(struct wndl_bytes elf)
{
    struct wndl_object *object;
    assert_int_equal(
        wndl_object_open(elf, "a.o", wndl_mem_libc(), &object, NULL), WNDL_OK);
    return object;
}

static uint64_t value_at(const struct machine *m, struct wndl_bytes bytes,
    uint64_t offset, unsigned size)
{
    struct wndl_cursor c = wndl_cursor_at(bytes, offset, m->big_endian);
    return wndl_cursor_uint(&c, size);
}

static void sections_get_places_that_do_not_overlap(void **state)
{
    (void)state;
    struct wndl_bytes elf = make_object(&machines[0], NULL, 0);
    struct wndl_object *object = open_or_fail(elf);
    assert_true(wndl_object_is_relocatable(object));
    assert_false(wndl_object_is_image(object));
    assert_int_equal(wndl_object_image_base(object).v, FIRST);
    assert_int_equal(wndl_object_section(object, TEXT).addr.v, FIRST);
    assert_int_equal(wndl_object_section(object, HOT).addr.v, FIRST + 0x30);
    assert_int_equal(wndl_object_section(object, DATA).addr.v, FIRST + 0x40);
    assert_int_equal(wndl_object_section(object, INFO).addr.v, 0);
    struct wndl_symbol symbol;
    wndl_svma in_f = {FIRST + 0x30 + 9};
    assert_int_equal(
        wndl_object_find_function(object, in_f, &symbol, NULL), WNDL_OK);
    assert_true(wndl_bytes_is(symbol.name, "f"));
    assert_int_equal(symbol.addr.v, FIRST + 0x38);
    wndl_object_close(object);
    free((void *)elf.data);
}

static void check_machine(const struct machine *m)
{
    const struct entry entries[] = {
        {0, m->half, OF_HOT, 5},
        {4, m->half, OF_F, 0},
        {8, m->half, OF_NONE, 7},
        {12, m->relative, OF_F, 0x100},
        {16, 0, OF_F, 0x55555555},
        {24, m->word, OF_F, 1},
    };
    size_t count = m->word == 0 ? 5 : 6;
    struct wndl_bytes elf = make_object(m, entries, count);
    struct wndl_bytes before = {malloc(elf.size), elf.size};
    memcpy((void *)before.data, elf.data, elf.size);
    struct wndl_object *object = open_or_fail(elf);
    struct wndl_bytes bytes, again;
    assert_int_equal(
        wndl_object_section_bytes(object, ".debug_info", &bytes, NULL, NULL),
        WNDL_OK);
    assert_int_equal(bytes.size, INFO_SIZE);
    assert_int_equal(value_at(m, bytes, 0, 4), FIRST + 0x30 + 5);
    assert_int_equal(value_at(m, bytes, 4, 4), FIRST + 0x38);
    assert_int_equal(value_at(m, bytes, 8, 4), 7);
    assert_int_equal(value_at(m, bytes, 12, 4), FIRST + 0x138 - 12);
    assert_int_equal(value_at(m, bytes, 16, 4), 0x55555555);
    assert_int_equal(value_at(m, bytes, 20, 4), 0x55555555);
    if (m->word != 0)
        assert_int_equal(value_at(m, bytes, 24, 8), FIRST + 0x39);
    assert_int_equal(
        wndl_object_section_bytes(object, ".debug_info", &again, NULL, NULL),
        WNDL_OK);
    assert_ptr_equal(again.data, bytes.data);
    assert_memory_equal(elf.data, before.data, elf.size);
    assert_null(wndl_object_damage(object));
    wndl_object_close(object);
    free((void *)elf.data);
    free((void *)before.data);
}

static void relocations_are_applied_to_a_private_copy_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINES; i++)
        check_machine(&machines[i]);
}

/* A linked program may keep them (ld -q, vmlinux), applied. */
static void programs_are_not_relocated(void **state)
{
    (void)state;
    const struct entry entry = {0, R_X86_64_32, OF_HOT, 5};
    struct wndl_bytes elf = make_object(&machines[0], &entry, 1);
    struct wndl_bytes bytes;
    ((uint8_t *)elf.data)[16] = ET_EXEC;
    struct wndl_object *object = open_or_fail(elf);
    assert_int_equal(
        wndl_object_section_bytes(object, ".debug_info", &bytes, NULL, NULL),
        WNDL_OK);
    assert_int_equal(value_at(&machines[0], bytes, 0, 4), 0x55555555);
    assert_int_equal(wndl_object_section(object, HOT).addr.v, 0);
    wndl_object_close(object);
    free((void *)elf.data);
}

static void check_bad_entry(const struct entry *bad, const char *what)
{
    const struct entry entries[] = {*bad, {4, R_X86_64_32, OF_F, 0}};
    struct wndl_bytes elf = make_object(&machines[0], entries, 2);
    struct wndl_object *object = open_or_fail(elf);
    struct wndl_bytes bytes;
    assert_int_equal(
        wndl_object_section_bytes(object, ".debug_info", &bytes, NULL, NULL),
        WNDL_OK);
    assert_int_equal(value_at(&machines[0], bytes, 0, 4), 0x55555555);
    assert_int_equal(value_at(&machines[0], bytes, 4, 4), FIRST + 0x38);
    const struct wndl_error *damage = wndl_object_damage(object);
    assert_non_null(damage);
    assert_string_equal(damage->what, what);
    assert_string_equal(damage->file, "a.o");
    assert_int_equal(
        damage->status, bad->type == 99 ? WNDL_UNSUPPORTED : WNDL_MALFORMED);
    assert_string_equal(damage->section, ".relocs");
    assert_int_equal(damage->offset, 0);
    wndl_object_close(object);
    free((void *)elf.data);
}

static void wrong_entries_are_left_out_and_told(void **state)
{
    (void)state;
    check_bad_entry(&(struct entry){0, 99, OF_F, 0},
        "a relocation of a type that is not known");
    check_bad_entry(&(struct entry){INFO_SIZE - 3, R_X86_64_32, OF_F, 0},
        "a relocation after the end of its section");
    check_bad_entry(&(struct entry){UINT64_MAX, R_X86_64_64, OF_F, 0},
        "a relocation after the end of its section");
    check_bad_entry(&(struct entry){0, R_X86_64_32, 4, 0},
        "a relocation's symbol does not exist");
}

static void other_machines_are_refused_where_it_matters(void **state)
{
    (void)state;
    const struct machine vax = {"vax", EM_VAX, false, false, true, 0, 1, 4};
    const struct entry entry = {0, 1, OF_HOT, 5};
    struct wndl_bytes elf = make_object(&vax, &entry, 1);
    struct wndl_object *object = open_or_fail(elf);
    struct wndl_bytes bytes;
    struct wndl_error err = {0};
    assert_int_equal(
        wndl_object_section_bytes(object, ".debug_info", &bytes, NULL, &err),
        WNDL_UNSUPPORTED);
    assert_string_equal(err.section, ".debug_info");
    assert_int_equal(
        wndl_object_section_bytes(object, ".debug_str", &bytes, NULL, &err),
        WNDL_OK);
    wndl_object_close(object);
    free((void *)elf.data);
}

/* A linker that relaxes code needs differences as pairs of relocations. */
static void check_differences(const struct machine *m,
    const struct entry *entries, size_t count, const uint32_t *expected)
{
    struct wndl_bytes elf = make_object(m, entries, count);
    struct wndl_object *object = open_or_fail(elf);
    struct wndl_bytes bytes;
    assert_int_equal(
        wndl_object_section_bytes(object, ".debug_info", &bytes, NULL, NULL),
        WNDL_OK);
    assert_null(wndl_object_damage(object));
    for (size_t i = 0; i < INFO_SIZE / 4; i++)
        assert_int_equal(value_at(m, bytes, 4 * i, 4), expected[i]);
    wndl_object_close(object);
    free((void *)elf.data);
}

static void riscv_and_loongarch_differences_are_computed(void **state)
{
    (void)state;
    const struct entry riscv[] = {
        {0, R_RISCV_ADD32, OF_F, 3}, /* f + 3 - .hot + 0x55555555 */
        {0, R_RISCV_SUB32, OF_HOT, 0},
        {4, R_RISCV_SET8, OF_F, 2}, /* (f + 2 - .hot) in a byte */
        {4, R_RISCV_SUB8, OF_HOT, 0},
        {8, R_RISCV_SET6, OF_F, 1}, /* 0x39 - 0x30, the rest stays */
        {8, R_RISCV_SUB6, OF_HOT, 0},
        {12, R_RISCV_ADD16, OF_F, 0},
        {12, R_RISCV_SUB16, OF_HOT, 0},
        {16, R_RISCV_ADD64, OF_F, 0},
        {16, R_RISCV_SUB64, OF_HOT, 0},
        {24, 60, OF_F, 0}, /* LEB128 of one byte */
        {24, 61, OF_HOT, 0},
        {36, R_RISCV_SET16, OF_F, 0},
        {32, R_RISCV_SET32, OF_F, 0},
    };
    const uint32_t of_riscv[] = {0x55555560, 0x5555550a, 0x55555549, 0x5555555d,
        0x5555555d, 0x55555555, 0x55555508, 0x55555555, 0x10038, 0x55550038};
    check_differences(
        &(struct machine){"riscv", EM_RISCV, true, false, true, 0, 0, 0}, riscv,
        sizeof riscv / sizeof *riscv, of_riscv);
    const struct entry larch[] = {
        {0, R_LARCH_ADD32, OF_F, 3},
        {0, R_LARCH_SUB32, OF_HOT, 0},
        {4, R_LARCH_ADD8, OF_F, 0},
        {4, R_LARCH_SUB8, OF_HOT, 0},
        {8, 105, OF_F, 0}, /* 6 bits */
        {8, 106, OF_HOT, 0},
        {12, R_LARCH_ADD24, OF_F, 0},
        {12, R_LARCH_SUB24, OF_HOT, 0},
        {24, 107, OF_F, 0}, /* LEB128 */
        {24, 108, OF_HOT, 0},
    };
    const uint32_t of_larch[] = {0x55555560, 0x5555555d, 0x5555555d, 0x5555555d,
        0x55555555, 0x55555555, 0x5555555d, 0x55555555, 0x55555555, 0x55555555};
    check_differences(&(struct machine){"loongarch", EM_LOONGARCH, true, false,
                          true, 0, 0, 0},
        larch, sizeof larch / sizeof *larch, of_larch);
}

static enum wndl_status use(struct wndl_bytes elf, struct wndl_mem *mem)
{
    struct wndl_object *object;
    struct wndl_bytes bytes;
    enum wndl_status status = wndl_object_open(elf, "a.o", mem, &object, NULL);
    if (status != WNDL_OK)
        return status;
    status =
        wndl_object_section_bytes(object, ".debug_info", &bytes, NULL, NULL);
    wndl_object_close(object);
    return status;
}

static void expect_refusal(struct wndl_bytes prefix, void *context)
{
    (void)context;
    enum wndl_status status = use(prefix, wndl_mem_libc());
    assert_true(status == WNDL_TRUNCATED || status == WNDL_UNSUPPORTED);
}

static void cut_files_are_refused_and_allocations_may_fail(void **state)
{
    (void)state;
    const struct entry entry = {0, R_X86_64_32, OF_HOT, 5};
    struct wndl_bytes elf = make_object(&machines[0], &entry, 1);
    for_each_truncation(elf, expect_refusal, NULL);
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status == WNDL_NOMEM; budget++) {
        struct failing_mem heap;
        failing_mem_init(&heap, budget);
        status = use(elf, &heap.mem);
        assert_int_equal(heap.live, 0);
        assert_true(budget < 100);
    }
    assert_int_equal(status, WNDL_OK);
    free((void *)elf.data);
}

/* .text claims most of the address space. */
static void sections_larger_than_addresses_are_refused(void **state)
{
    (void)state;
    const struct made_section huge[] = {
        {".a", SHT_NOBITS, SHF_ALLOC, 0, {0}, 0, 0, 1, 0, UINT64_MAX - 10},
        {".b", SHT_NOBITS, SHF_ALLOC, 0, {0}, 0, 0, 1, 0, UINT64_MAX - 10},
    };
    struct elf_recipe recipe = recipe_of(&machines[0]);
    recipe.sections = huge;
    recipe.section_count = 2;
    struct wndl_bytes elf = make_elf(&recipe);
    struct wndl_object *object;
    struct wndl_error err = {0};
    assert_int_equal(
        wndl_object_open(elf, "a.o", wndl_mem_libc(), &object, &err),
        WNDL_MALFORMED);
    assert_string_equal(err.section, "section headers");
    free((void *)elf.data);
}

/* gcc puts each type unit into a .debug_info of its own, in a group. */
static void the_section_outside_of_groups_is_meant(void **state)
{
    (void)state;
    static const uint8_t type[] = {1}, main_unit[] = {2, 2};
    const struct made_section sections[] = {
        {".debug_info", SHT_PROGBITS, SHF_GROUP, 0, {type, 1}, 0, 0, 1, 0, 0},
        {".debug_info", SHT_PROGBITS, 0, 0, {main_unit, 2}, 0, 0, 1, 0, 0},
    };
    struct elf_recipe recipe = recipe_of(&machines[0]);
    recipe.sections = sections;
    recipe.section_count = 2;
    struct wndl_bytes elf = make_elf(&recipe);
    struct wndl_object *object = open_or_fail(elf);
    struct wndl_bytes bytes;
    assert_int_equal(
        wndl_object_section_bytes(object, ".debug_info", &bytes, NULL, NULL),
        WNDL_OK);
    assert_int_equal(bytes.size, 2);
    wndl_object_close(object);
    free((void *)elf.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_get_places_that_do_not_overlap),
        cmocka_unit_test(relocations_are_applied_to_a_private_copy_once),
        cmocka_unit_test(programs_are_not_relocated),
        cmocka_unit_test(wrong_entries_are_left_out_and_told),
        cmocka_unit_test(other_machines_are_refused_where_it_matters),
        cmocka_unit_test(riscv_and_loongarch_differences_are_computed),
        cmocka_unit_test(cut_files_are_refused_and_allocations_may_fail),
        cmocka_unit_test(sections_larger_than_addresses_are_refused),
        cmocka_unit_test(the_section_outside_of_groups_is_meant),
    };
    return cmocka_run_group_tests_name("elf_reloc", tests, NULL, NULL);
}
