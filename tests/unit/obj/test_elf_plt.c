/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "elfmake.h"
#include "obj/core/object.h"

#include <elf.h>
#include <stdlib.h>

enum {
    PLT = 0x1000,
    SEC = 0x2000,
    GOT = 0x3000,
    TEXT = 0x4000,
    SLOTS = 0x8000
};

/* Of section N of the sample, by link. */
enum { DYNSYM = 6, DYNSTR = 7 };

struct parts {
    struct wndl_buf plt, sec, got, relocations, symbols, strings;
};

static void code(struct wndl_buf *buf, const char *bytes, size_t size)
{
    wndl_buf_add(buf, bytes, size);
}

/* A jump through `slot`, then filling up to `end` bytes of the section. */
static void jump(
    struct wndl_buf *buf, uint64_t section, uint64_t slot, size_t end)
{
    code(buf, "\xff\x25", 2);
    wndl_buf_u32le(buf, (uint32_t)(slot - (section + buf->size + 4)));
    while (buf->size < end)
        wndl_buf_byte(buf, 0x90);
}

static void relocation(
    struct wndl_buf *buf, uint64_t slot, uint64_t info, uint64_t addend)
{
    wndl_buf_u64le(buf, slot);
    wndl_buf_u64le(buf, info);
    wndl_buf_u64le(buf, addend);
}

static void fill(struct parts *p, const struct elf_recipe *recipe)
{
    static const struct made_symbol symbols[] = {
        {"first", 0, 0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), SHN_UNDEF},
        {"second", 0, 0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), SHN_UNDEF},
        {"chosen", TEXT, 1, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), 4},
    };
    struct wndl_buf *all[] = {
        &p->plt, &p->sec, &p->got, &p->relocations, &p->symbols, &p->strings};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wndl_buf_init(all[i], wndl_mem_libc());
    make_symbols(recipe, symbols, sizeof symbols / sizeof *symbols, &p->symbols,
        &p->strings);
    /* The loader's; a lazy one; one by number, behind endbr64. */
    code(&p->plt, "\xff\x35\0\0\0\0", 6);
    jump(&p->plt, PLT, SLOTS + 16, 16);
    jump(&p->plt, PLT, SLOTS + 24, 32);
    code(&p->plt, "\xf3\x0f\x1e\xfa\x68\1\0\0\0\xe9\0\0\0\0\x66\x90", 16);
    code(&p->sec, "\xf3\x0f\x1e\xfa\xf2", 5);
    jump(&p->sec, SEC, SLOTS + 32, 16);
    code(&p->sec, "\xf3\x0f\x1e\xfa", 4);
    jump(&p->sec, SEC, SLOTS + 40, 32);
    jump(&p->got, GOT, SLOTS + 24, 8);
    jump(&p->got, GOT, SLOTS + 99, 16);
    code(&p->got, "\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xff\x25", 10);
    relocation(&p->relocations, SLOTS + 40, R_X86_64_IRELATIVE, TEXT);
    relocation(&p->relocations, SLOTS + 32,
        ELF64_R_INFO((uint64_t)2, R_X86_64_JUMP_SLOT), 0);
    relocation(&p->relocations, SLOTS + 24,
        ELF64_R_INFO((uint64_t)1, R_X86_64_GLOB_DAT), 0);
    relocation(&p->relocations, SLOTS + 99, R_X86_64_RELATIVE, TEXT);
}

static void free_parts(struct parts *p)
{
    struct wndl_buf *all[] = {
        &p->plt, &p->sec, &p->got, &p->relocations, &p->symbols, &p->strings};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wndl_buf_free(all[i]);
}

static struct wndl_bytes make_sample_for(uint16_t machine)
{
    enum { CODE = SHF_ALLOC | SHF_EXECINSTR };
    struct elf_recipe recipe = {
        .is_64 = true, .type = ET_DYN, .machine = machine};
    struct parts p;
    fill(&p, &recipe);
    const struct made_section sections[] = {
        {".plt", SHT_PROGBITS, CODE, PLT, bytes_of(&p.plt), 0, 0, 16, 16, 0},
        {".plt.sec", SHT_PROGBITS, CODE, SEC, bytes_of(&p.sec), 0, 0, 16, 16,
            0},
        {".plt.got", SHT_PROGBITS, CODE, GOT, bytes_of(&p.got), 0, 0, 8, 8, 0},
        {".text", SHT_PROGBITS, CODE, TEXT,
            {(const uint8_t *)"\xff\x25\0\0\0\0", 6}, 0, 0, 16, 0, 0},
        {".rela.plt", SHT_RELA, SHF_ALLOC, 0x5000, bytes_of(&p.relocations),
            DYNSYM, 0, 8, 24, 0},
        {".dynsym", SHT_DYNSYM, SHF_ALLOC, 0x6000, bytes_of(&p.symbols), DYNSTR,
            1, 8, 24, 0},
        {".dynstr", SHT_STRTAB, SHF_ALLOC, 0x7000, bytes_of(&p.strings), 0, 0,
            1, 0, 0},
    };
    recipe.sections = sections;
    recipe.section_count = sizeof sections / sizeof *sections;
    struct wndl_bytes elf = make_elf(&recipe);
    free_parts(&p);
    return elf;
}

struct sample {
    struct wndl_bytes elf;
    struct wndl_object *object;
};

static void open_sample(struct sample *s, uint16_t machine)
{
    s->elf = make_sample_for(machine);
    assert_int_equal(
        wndl_object_open(s->elf, "sample", wndl_mem_libc(), &s->object, NULL),
        WNDL_OK);
}

static void close_sample(struct sample *s)
{
    wndl_object_close(s->object);
    free((void *)s->elf.data);
}

static void expect(
    const struct sample *s, uint64_t start, uint64_t size, const char *name)
{
    for (uint64_t at = start; at < start + size; at++) {
        struct wndl_symbol stub;
        struct wndl_error err = {0};
        enum wndl_status status =
            wndl_object_find_plt(s->object, (wndl_svma){at}, &stub, &err);
        if (status != WNDL_OK)
            fail_msg("%#llx: %s", (unsigned long long)at, err.what);
        assert_true(wndl_bytes_is(stub.name, name));
        assert_int_equal(stub.addr.v, start);
        assert_int_equal(stub.size, size);
    }
}

static void expect_none(const struct sample *s, uint64_t at)
{
    struct wndl_symbol stub;
    assert_int_equal(
        wndl_object_find_plt(s->object, (wndl_svma){at}, &stub, NULL),
        WNDL_NOT_FOUND);
}

static void stubs_are_named_by_the_relocation_of_their_slot(void **state)
{
    (void)state;
    struct sample s;
    open_sample(&s, EM_X86_64);
    expect(&s, PLT + 16, 16, "first");
    expect(&s, SEC, 16, "second");
    expect(&s, GOT, 8, "first");
    close_sample(&s);
}

static void stubs_that_push_a_number_are_named_by_that_relocation(void **state)
{
    (void)state;
    struct sample s;
    open_sample(&s, EM_X86_64);
    expect(&s, PLT + 32, 16, "second");
    close_sample(&s);
}

static void first_entry_has_no_name(void **state)
{
    (void)state;
    struct sample s;
    open_sample(&s, EM_X86_64);
    expect(&s, PLT, 16, "");
    close_sample(&s);
}

static void functions_chosen_at_load_time_have_their_symbols_name(void **state)
{
    (void)state;
    struct sample s;
    open_sample(&s, EM_X86_64);
    expect(&s, SEC + 16, 16, "chosen");
    close_sample(&s);
}

static void what_is_no_stub_has_no_name(void **state)
{
    (void)state;
    struct sample s;
    open_sample(&s, EM_X86_64);
    expect_none(&s, GOT + 8);  /* its slot's relocation has no symbol */
    expect_none(&s, GOT + 16); /* other code */
    expect_none(&s, GOT + 24); /* cut off */
    expect_none(&s, PLT - 1);
    expect_none(&s, PLT + 48);
    expect_none(&s, TEXT); /* looks like one, elsewhere */
    close_sample(&s);
    open_sample(&s, EM_AARCH64);
    expect_none(&s, PLT + 16);
    close_sample(&s);
}

/* ---- AArch64 */

/* adrp x16, ahead by pages; ldr x17, [x16, #in]; what else a stub has is of
 * no interest. */
static void arm_jump(
    struct wndl_buf *buf, uint32_t pages, uint32_t in, size_t end)
{
    wndl_buf_u32le(
        buf, 0x90000010 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
    wndl_buf_u32le(buf, 0xf9400211 | in / 8 << 10);
    while (buf->size < end)
        wndl_buf_u32le(buf, 0xd503201f);
}

static void open_arm(struct sample *s, size_t size, bool bti)
{
    static const struct made_symbol symbols[] = {
        {"first", 0, 0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), SHN_UNDEF},
        {"second", 0, 0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), SHN_UNDEF},
    };
    struct elf_recipe recipe = {
        .is_64 = true, .type = ET_DYN, .machine = EM_AARCH64};
    struct parts p;
    struct wndl_buf *all[] = {
        &p.plt, &p.sec, &p.got, &p.relocations, &p.symbols, &p.strings};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wndl_buf_init(all[i], wndl_mem_libc());
    make_symbols(&recipe, symbols, 2, &p.symbols, &p.strings);
    if (bti)
        wndl_buf_u32le(&p.plt, 0xd503245f);
    wndl_buf_u32le(&p.plt, 0xa9bf7bf0);
    while (p.plt.size < 32)
        wndl_buf_u32le(&p.plt, 0xd503201f);
    for (uint32_t i = 0; i < 2; i++) {
        if (bti)
            wndl_buf_u32le(&p.plt, 0xd503245f);
        /* The second slot is a page below the code. */
        arm_jump(&p.plt, i == 0 ? 7 : 0x1fffff, 0x28, 32 + (i + 1) * size);
        relocation(&p.relocations, (i == 0 ? SLOTS : 0) + 0x28,
            ELF64_R_INFO((uint64_t)i + 1, R_AARCH64_JUMP_SLOT), 0);
    }
    const struct made_section sections[] = {
        {".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, PLT, bytes_of(&p.plt),
            0, 0, 16, 16, 0},
        {".rela.plt", SHT_RELA, SHF_ALLOC, 0x5000, bytes_of(&p.relocations), 3,
            0, 8, 24, 0},
        {".dynsym", SHT_DYNSYM, SHF_ALLOC, 0x6000, bytes_of(&p.symbols), 4, 1,
            8, 24, 0},
        {".dynstr", SHT_STRTAB, SHF_ALLOC, 0x7000, bytes_of(&p.strings), 0, 0,
            1, 0, 0},
    };
    recipe.sections = sections;
    recipe.section_count = sizeof sections / sizeof *sections;
    s->elf = make_elf(&recipe);
    free_parts(&p);
    assert_int_equal(
        wndl_object_open(s->elf, "arm", wndl_mem_libc(), &s->object, NULL),
        WNDL_OK);
}

static void stubs_of_arm_have_either_size(void **state)
{
    (void)state;
    for (int bti = 0; bti < 2; bti++)
        for (size_t size = 16; size <= 24; size += 8) {
            struct sample s;
            open_arm(&s, size, bti != 0);
            expect(&s, PLT, 32, "");
            expect(&s, PLT + 32, size, "first");
            expect(&s, PLT + 32 + size, size, "second");
            expect_none(&s, PLT + 32 + 2 * size);
            close_sample(&s);
        }
}

/* A symbol's number that is past the table. */
static void symbols_that_do_not_exist_are_told(void **state)
{
    (void)state;
    struct sample s;
    open_sample(&s, EM_X86_64);
    struct wndl_bytes table;
    assert_int_equal(
        wndl_object_section_bytes(s.object, ".rela.plt", &table, NULL, NULL),
        WNDL_OK);
    uint8_t *info = (uint8_t *)s.elf.data + (table.data - s.elf.data) + 24 + 8;
    info[4] = 99;
    for (unsigned again = 0; again < 2; again++) {
        struct wndl_symbol stub;
        struct wndl_error err = {0};
        assert_int_equal(
            wndl_object_find_plt(s.object, (wndl_svma){PLT + 16}, &stub, &err),
            WNDL_MALFORMED);
        assert_string_equal(err.section, ".rela.plt");
    }
    close_sample(&s);
}

static void find_all(struct wndl_object *object)
{
    for (uint64_t at = PLT; at < TEXT; at += at % 0x1000 == 0x100 ? 0xf00 : 8) {
        struct wndl_symbol stub;
        if (wndl_object_find_plt(object, (wndl_svma){at}, &stub, NULL) ==
                WNDL_OK &&
            stub.name.size != 0)
            assert_int_equal(stub.name.data[stub.name.size], 0);
    }
}

static void parse(struct wndl_bytes prefix, void *context)
{
    (void)context;
    struct wndl_object *object;
    if (wndl_object_open(prefix, "cut", wndl_mem_libc(), &object, NULL) !=
        WNDL_OK)
        return;
    find_all(object);
    wndl_object_close(object);
}

static void cut_files_end_in_an_answer(void **state)
{
    (void)state;
    struct wndl_bytes elf = make_sample_for(EM_X86_64);
    for_each_truncation(elf, parse, NULL);
    free((void *)elf.data);
}

static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    struct wndl_bytes elf = make_sample_for(EM_X86_64);
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status == WNDL_NOMEM && budget < 50; budget++) {
        struct failing_mem heap;
        struct wndl_object *object;
        struct wndl_symbol stub;
        failing_mem_init(&heap, budget);
        status = wndl_object_open(elf, "sample", &heap.mem, &object, NULL);
        if (status == WNDL_OK) {
            status = wndl_object_find_plt(
                object, (wndl_svma){SEC + 16}, &stub, NULL);
            wndl_object_close(object);
        }
        assert_int_equal(heap.live, 0);
    }
    assert_int_equal(status, WNDL_OK);
    free((void *)elf.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stubs_are_named_by_the_relocation_of_their_slot),
        cmocka_unit_test(stubs_that_push_a_number_are_named_by_that_relocation),
        cmocka_unit_test(first_entry_has_no_name),
        cmocka_unit_test(functions_chosen_at_load_time_have_their_symbols_name),
        cmocka_unit_test(what_is_no_stub_has_no_name),
        cmocka_unit_test(stubs_of_arm_have_either_size),
        cmocka_unit_test(symbols_that_do_not_exist_are_told),
        cmocka_unit_test(cut_files_end_in_an_answer),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests_name("elf_plt", tests, NULL, NULL);
}
