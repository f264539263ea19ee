/* SPDX-License-Identifier: MIT */
/* cfi_import/elf/frames.h: what .debug_frame has beside .eh_frame comes after
 * it, whatever was in the source before. */
#include "cfi_import/elf/frames.h"

#include "cfibuild.h"
#include "elfmake.h"
#include "obj/core/object.h"
#include "testlib.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 0x1000, SECOND = 0x2000, SIZE = 0x10 };

/* A section with one FDE, of the code at `start`. */
static void build(struct cfi_build *b, bool debug_frame, uint64_t start)
{
    const struct cfi_shape shape = {
        .address_size = 8, .debug_frame = debug_frame, .version = 1};
    cfi_build_init(b, &shape, debug_frame ? 0 : 0x4000);
    /* DW_CFA_def_cfa r7, 8; DW_CFA_offset r16, 1 */
    const size_t cie = cfi_put_cie(b, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
    (void)cfi_put_fde(b, cie, start, SIZE, CFI_BYTES(0));
}

static struct wndl_bytes file_of(
    const struct cfi_build *eh, const struct cfi_build *debug)
{
    const struct made_section sections[] = {{.name = ".eh_frame",
                                                .type = SHT_PROGBITS,
                                                .flags = SHF_ALLOC,
                                                .addr = 0x4000,
                                                .data = eh->section.bytes},
        {.name = ".debug_frame",
            .type = SHT_PROGBITS,
            .data = debug->section.bytes}};
    const struct elf_recipe recipe = {.is_64 = true,
        .type = ET_EXEC,
        .machine = EM_X86_64,
        .sections = sections,
        .section_count = 2};
    return make_elf(&recipe);
}

static void both_are_one(void **state)
{
    (void)state;
    static struct cfi_build eh, debug;
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    build(&eh, false, FIRST);
    build(&debug, true, SECOND);
    const struct wndl_bytes file = file_of(&eh, &debug);
    assert_int_equal(
        wndl_object_open(file, "both", wndl_mem_libc(), &object, NULL),
        WNDL_OK);
    wndl_arena_init(&arena, wndl_mem_libc());
    memset(&cfi, 0x5a, sizeof cfi);
    assert_int_equal(wndl_elf_cfi_open(&cfi, object, &arena, NULL), WNDL_OK);
    assert_int_equal(cfi.origins.len, 1);
    assert_string_equal(
        wndl_cfi_source_section(&cfi, cfi.more_from + 1), ".debug_frame");
    assert_int_equal(cfi.damaged.count + cfi.unsupported.count, 0);
    wndl_arena_free(&arena);
    wndl_object_close(object);
    free((void *)file.data);
}

/* ---- Go's */

enum { THIRD = 0x3000, RA = 16 };

/* An ELF file with .debug_frame and these symbols, in code of its own. */
static struct wndl_bytes go_file(const struct cfi_build *debug,
    const struct made_symbol *symbols, size_t count)
{
    const struct elf_recipe class = {.is_64 = true};
    struct wndl_buf entries, strings;
    wndl_buf_init(&entries, wndl_mem_libc());
    wndl_buf_init(&strings, wndl_mem_libc());
    make_symbols(&class, symbols, count, &entries, &strings);
    const struct made_section sections[] = {
        {.name = ".text",
            .type = SHT_NOBITS,
            .flags = SHF_ALLOC | SHF_EXECINSTR,
            .addr = FIRST,
            .size = THIRD},
        {.name = ".debug_frame",
            .type = SHT_PROGBITS,
            .data = debug->section.bytes},
        {.name = ".symtab",
            .type = SHT_SYMTAB,
            .link = 4,
            .entry_size = sizeof(Elf64_Sym),
            .data = bytes_of(&entries)},
        {.name = ".strtab", .type = SHT_STRTAB, .data = bytes_of(&strings)},
        {.name = ".go.buildinfo", .type = SHT_PROGBITS, .data = CFI_BYTES(0)},
    };
    const struct elf_recipe recipe = {.is_64 = true,
        .type = ET_EXEC,
        .machine = EM_X86_64,
        .sections = sections,
        .section_count = sizeof sections / sizeof sections[0] - (count == 1)};
    const struct wndl_bytes file = make_elf(&recipe);
    wndl_buf_free(&entries);
    wndl_buf_free(&strings);
    return file;
}

static bool has_caller(const struct wndl_cfi_source *cfi, uint64_t pc)
{
    struct wndl_fde fde;
    struct wndl_cfi_row row;
    assert_int_equal(wndl_fde_scan(&cfi->frame, pc, &fde, NULL), WNDL_OK);
    assert_int_equal(
        wndl_cfi_row_at(&cfi->frame, &fde, pc, &row, NULL), WNDL_OK);
    return row.regs[RA].kind != WNDL_RULE_UNDEFINED;
}

/* Nobody has called goexit, in a binary of Go: not in one that has no
 * .go.buildinfo (one symbol), nor is it another function, or too short. */
static void goroutines_begin(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {
        {"runtime.goexit.abi0", FIRST, SIZE, STT_FUNC, 1},
        {"runtime.goexit1", SECOND, SIZE, STT_FUNC, 1},
        {"runtime.mstart", THIRD, SIZE, STT_FUNC, 1},
    };
    static struct cfi_build debug;
    build(&debug, true, SECOND);
    (void)cfi_put_fde(&debug, 0, FIRST, SIZE, CFI_BYTES(0x0e, 16, 0, 0));
    (void)cfi_put_fde(&debug, 0, THIRD, SIZE, CFI_BYTES(0));
    for (size_t count = 1; count <= 3; count += 2) {
        struct wndl_object *object;
        struct wndl_arena arena;
        struct wndl_cfi_source cfi;
        const struct wndl_bytes file = go_file(&debug, symbols, count);
        assert_int_equal(
            wndl_object_open(file, "go", wndl_mem_libc(), &object, NULL),
            WNDL_OK);
        wndl_arena_init(&arena, wndl_mem_libc());
        assert_int_equal(
            wndl_elf_cfi_open(&cfi, object, &arena, NULL), WNDL_OK);
        assert_int_equal(has_caller(&cfi, FIRST + 1), count == 1);
        assert_true(has_caller(&cfi, SECOND));
        assert_true(has_caller(&cfi, THIRD));
        wndl_arena_free(&arena);
        wndl_object_close(object);
        free((void *)file.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_are_one),
        cmocka_unit_test(goroutines_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
