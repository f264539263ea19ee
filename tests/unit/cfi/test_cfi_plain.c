/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include <link.h>
#include <string.h>

#include "cfi/cfi.h"
#include "cfi/cfi_plain.h"
#include "cfibuild.h"
#include "os/dlfind.h"
#include "plainrow.h"

enum { FRAME = 0x20000, START = 0x11000, SIZE = 0x400 };

static const struct cfi_shape usual = {8, false, false, false, 1};

/* CIE "zPLR" or "zR", and one FDE, as gcc writes them. */
static size_t build(
    struct cfi_build *b, const char *letters, struct wndl_bytes program)
{
    static const uint8_t plr[] = {0x9b, 1, 2, 3, 4, 0x1b, 0x1b};
    bool has_p = strcmp(letters, "zPLR") == 0;
    cfi_build_init(b, &usual, FRAME);
    size_t cie = cfi_begin_cie(b);
    cfi_put_cie_head(b, letters);
    cfi_put_uleb(b, has_p ? sizeof plr : 1);
    cfi_put_bytes(b, has_p ? plr : &plr[6], has_p ? sizeof plr : 1);
    cfi_put_bytes(b, (const uint8_t[]){0x0c, 7, 8, 0x90, 1, 0, 0}, 7);
    cfi_end_record(b);
    size_t fde = cfi_begin_fde(b, cie);
    cfi_put(b, START - (FRAME + b->section.bytes.size), 4);
    cfi_put(b, SIZE, 4);
    cfi_put_uleb(b, has_p ? 4 : 0);
    cfi_put(b, 0, has_p ? 4 : 0);
    cfi_put_bytes(b, program.data, program.size);
    cfi_end_record(b);
    return fde;
}

/* Pushes, a large frame, RBP as CFA, an epilogue in between, and what comes
 * after it. */
#define FUNCTION                                                               \
    CFI_BYTES(0x41, 0x0e, 16, 0x86, 2, 0x42, 0x0e, 24, 0x83, 3, 0x44, 0x0e,    \
        0xb0, 2, 0x02, 0x90, 0x2e, 16, 0x0d, 6, 0x03, 0x10, 1, 0x0a, 0x0c, 7,  \
        8, 0xc6, 0x41, 0x0b, 0x50, 0xc3, 0x00, 0x00)

static void assert_row(const struct cfi_build *b, size_t fde, uint64_t at,
    struct wndl_cfi_plain expected)
{
    struct wndl_cfi_plain row;
    bool is_plain;
    assert_true(wndl_cfi_plain_at(
        &b->section, &plain_abi_x86_64, fde, START + at, &row));
    assert_int_equal(row.cfa_reg, expected.cfa_reg);
    assert_int_equal(row.cfa_offset, expected.cfa_offset);
    assert_int_equal(row.fp_words, expected.fp_words);
    assert_true(plain_agrees(
        &b->section, &plain_abi_x86_64, fde, START + at, &is_plain));
}

static void plain_at_follows_a_usual_function(void **state)
{
    (void)state;
    static const char *const letters[] = {"zR", "zPLR"};
    static struct cfi_build b;
    struct wndl_cfi_plain row;
    for (int i = 0; i < 2; i++) {
        size_t fde = build(&b, letters[i], FUNCTION);
        assert_row(&b, fde, 0, (struct wndl_cfi_plain){7, 8, 0});
        assert_row(&b, fde, 1, (struct wndl_cfi_plain){7, 16, 2});
        assert_row(&b, fde, 3, (struct wndl_cfi_plain){7, 24, 2});
        assert_row(&b, fde, 7, (struct wndl_cfi_plain){7, 304, 2});
        assert_row(&b, fde, 7 + 0x90, (struct wndl_cfi_plain){6, 304, 2});
        assert_row(&b, fde, 0x1a7, (struct wndl_cfi_plain){7, 8, 0});
        assert_row(&b, fde, 0x1a8, (struct wndl_cfi_plain){6, 304, 2});
        assert_row(&b, fde, SIZE - 1, (struct wndl_cfi_plain){6, 304, 2});
        assert_false(wndl_cfi_plain_at(
            &b.section, &plain_abi_x86_64, fde, START + SIZE, &row));
        assert_false(wndl_cfi_plain_at(
            &b.section, &plain_abi_x86_64, fde, START - 1, &row));
    }
}

/* Of a section as it is now: how many of some pcs were found plain. */
static unsigned check_pcs(const struct cfi_build *b, size_t fde)
{
    static const uint16_t at[] = {0, 1, 5, 8, 0x99, 0x1a7, 0x1a8, SIZE - 1};
    unsigned found = 0;
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        bool is_plain;
        assert_true(plain_agrees(&b->section, &plain_abi_x86_64, fde,
            START + (uint64_t)at[i], &is_plain));
        found += is_plain;
    }
    return found;
}

static void plain_at_is_right_of_any_changed_byte_or_gives_up(void **state)
{
    (void)state;
    static struct cfi_build b;
    unsigned given_up = 0;
    size_t fde = build(&b, "zPLR", FUNCTION);
    for (size_t i = 0; i < b.section.bytes.size; i++) {
        uint8_t was = b.data[i];
        for (unsigned value = 0; value < 256; value++) {
            b.data[i] = (uint8_t)value;
            given_up += check_pcs(&b, fde) < 8;
        }
        b.data[i] = was;
    }
    assert_true(given_up > 1000);
    assert_int_equal(check_pcs(&b, fde), 8);
}

static void plain_at_gives_up_where_the_section_is_cut_off(void **state)
{
    (void)state;
    static struct cfi_build b;
    size_t fde = build(&b, "zPLR", FUNCTION);
    while (b.section.bytes.size-- > 0)
        assert_int_equal(check_pcs(&b, fde), 0);
}

struct tally {
    struct wndl_cfi_section frame;
    uint64_t offset;
    unsigned rows, plain;
};

static bool check_row(void *context, const struct wndl_cfi_row *row)
{
    struct tally *t = context;
    const struct wndl_cfi_abi *abi =
        sizeof(void *) == 8 ? &plain_abi_x86_64 : &plain_abi_i386;
    bool first, last;
    if (!plain_agrees(&t->frame, abi, t->offset, row->start, &first) ||
        !plain_agrees(&t->frame, abi, t->offset, row->end - 1, &last) ||
        first != last)
        return false;
    t->rows++;
    t->plain += first;
    return true;
}

/* All of a module's rows. */
static int check_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct wndl_dlmodule module;
    struct tally t = {.frame.address_size = sizeof(void *)};
    if (!wndl_dlfind(info->dlpi_addr + info->dlpi_phdr[0].p_vaddr, &module) ||
        module.eh_frame_hdr == NULL)
        return 0;
    const uint64_t at = (uintptr_t)module.eh_frame_hdr;
    const struct wndl_cfi_section hdr = {
        .bytes = wndl_dlmodule_from(&module, at),
        .addr = at,
        .address_size = sizeof(void *)};
    assert_int_equal(
        wndl_eh_frame_hdr_frame_addr(&hdr, &t.frame.addr), WNDL_OK);
    t.frame.bytes = wndl_dlmodule_from(&module, t.frame.addr);
    for (uint64_t next = 0; t.offset < t.frame.bytes.size; t.offset = next) {
        struct wndl_fde fde;
        enum wndl_status status =
            wndl_fde_parse(&t.frame, t.offset, &fde, &next, NULL);
        if (next <= t.offset + 4)
            break;
        if (status == WNDL_OK)
            assert_int_equal(
                wndl_cfi_rows(&t.frame, &fde, check_row, &t, NULL), WNDL_OK);
    }
    ((struct tally *)context)->rows += t.rows;
    ((struct tally *)context)->plain += t.plain;
    return 0;
}

static void plain_rows_are_the_interpreters_in_all_loaded_code(void **state)
{
    (void)state;
    struct tally all = {0};
    (void)dl_iterate_phdr(check_module, &all);
    assert_true(all.rows > 10000);
    assert_true(all.plain > all.rows / 10 * 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_at_follows_a_usual_function),
        cmocka_unit_test(plain_at_is_right_of_any_changed_byte_or_gives_up),
        cmocka_unit_test(plain_at_gives_up_where_the_section_is_cut_off),
        cmocka_unit_test(plain_rows_are_the_interpreters_in_all_loaded_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
