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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_are_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
