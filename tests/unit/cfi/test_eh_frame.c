/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include <stdlib.h>

#include "cfi/cfi.h"
#include "cfi/encoded.h"
#include "cfibuild.h"

static const struct cfi_shape usual = {8, false, false, false, 1};

/*
 * A CIE and two FDEs as GNU as and ld write them, at 0x2000: the first
 * function of 0x26 bytes at 0x1000, the other of 0x10 bytes at 0x1030.
 */
static const uint8_t golden[] = {
    0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7,
    8, 0x90, 1, 0, 0, /* to 0x18 */
    0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0xe0, 0xef, 0xff, 0xff, 0x26, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, /* to 0x30 */
    0x10, 0, 0, 0, 0x34, 0, 0, 0, 0xf8, 0xef, 0xff, 0xff, 0x10, 0, 0, 0, 0,
    0x44, 0x0e, 0x10, /* to 0x44 */
    0, 0, 0, 0,       /* the end */
};

static struct wndl_cfi_section golden_section(void)
{
    return (struct wndl_cfi_section){
        .bytes = {golden, sizeof golden},
        .addr = 0x2000,
        .address_size = 8,
    };
}

static void parse_reads_what_gnu_tools_write(void **state)
{
    (void)state;
    struct wndl_cfi_section s = golden_section();
    struct wndl_fde fde;
    uint64_t next = 0;
    assert_int_equal(wndl_fde_parse(&s, 0x18, &fde, &next, NULL), WNDL_OK);
    assert_int_equal(next, 0x30);
    assert_int_equal(fde.offset, 0x18);
    assert_int_equal(fde.start, 0x1000);
    assert_int_equal(fde.end, 0x1026);
    assert_int_equal(fde.program.size, 7);
    assert_int_equal(fde.cie.offset, 0);
    assert_int_equal(fde.cie.code_align, 1);
    assert_int_equal(fde.cie.data_align, -8);
    assert_int_equal(fde.cie.ra_reg, 16);
    assert_int_equal(fde.cie.fde_encoding, EH_PE_PCREL | EH_PE_SDATA4);
    assert_int_equal(fde.cie.lsda_encoding, EH_PE_OMIT);
    assert_true(fde.cie.has_z);
    assert_false(fde.cie.signal_frame);
    assert_ptr_equal(fde.cie.program.data, golden + 17);
    assert_int_equal(fde.cie.program.size, 7);

    assert_int_equal(wndl_fde_parse(&s, 0x30, &fde, &next, NULL), WNDL_OK);
    assert_int_equal(next, 0x44);
    assert_int_equal(fde.start, 0x1030);
    assert_int_equal(fde.end, 0x1040);
    assert_ptr_equal(fde.program.data, golden + 0x41);
    assert_int_equal(fde.program.size, 3);
}

static void parse_finds_no_fde_in_a_cie_or_terminator(void **state)
{
    (void)state;
    struct wndl_cfi_section s = golden_section();
    struct wndl_fde fde;
    uint64_t next = 0;
    assert_int_equal(wndl_fde_parse(&s, 0, &fde, &next, NULL), WNDL_NOT_FOUND);
    assert_int_equal(next, 0x18);
    assert_int_equal(
        wndl_fde_parse(&s, 0x44, &fde, &next, NULL), WNDL_NOT_FOUND);
    assert_int_equal(next, 0x48);
    assert_int_equal(
        wndl_fde_parse(&s, 0x48, &fde, NULL, NULL), WNDL_NOT_FOUND);
}

static void check_shape(const struct cfi_shape *shape)
{
    struct cfi_build b;
    struct wndl_fde fde;
    uint64_t next = 0;
    cfi_build_init(&b, shape, 0x1000);
    size_t cie = cfi_put_cie(&b, CFI_BYTES(0x0c, 7, 8));
    size_t first = cfi_put_fde(&b, cie, 0x5000, 0x20, CFI_BYTES(0x41));
    size_t second = cfi_put_fde(&b, cie, 0x7000, 0x30, CFI_BYTES(0x42, 0x43));
    assert_int_equal(
        wndl_fde_parse(&b.section, first, &fde, &next, NULL), WNDL_OK);
    assert_int_equal(fde.start, 0x5000);
    assert_int_equal(fde.end, 0x5020);
    assert_int_equal(next, second);
    assert_int_equal(
        wndl_fde_parse(&b.section, second, &fde, &next, NULL), WNDL_OK);
    assert_int_equal(fde.start, 0x7000);
    assert_int_equal(fde.end, 0x7030);
    assert_int_equal(fde.program.size, 2);
    assert_int_equal(fde.cie.offset, cie);
    assert_int_equal(fde.cie.data_align, -shape->address_size);
    assert_int_equal(fde.cie.ra_reg, shape->address_size == 4 ? 8 : 16);
    assert_int_equal(next, b.section.bytes.size);
}

static void parse_reads_every_width_and_byte_order(void **state)
{
    (void)state;
    static const uint8_t versions[] = {1, 3, 4};
    for (unsigned bits = 0; bits < 16; bits++) {
        for (unsigned v = 0; v < sizeof versions; v++) {
            struct cfi_shape shape = {
                bits & 1 ? 4 : 8, bits & 2, bits & 4, bits & 8, versions[v]};
            if (shape.version < 4 || shape.debug_frame)
                check_shape(&shape);
        }
    }
}

static void parse_refuses_other_cie_versions(void **state)
{
    (void)state;
    static const struct cfi_shape shapes[] = {
        {8, false, false, false, 2},
        {8, false, false, false, 4},
        {8, false, false, true, 5},
    };
    for (unsigned i = 0; i < 3; i++) {
        struct cfi_build b;
        struct wndl_fde fde;
        cfi_build_init(&b, &shapes[i], 0);
        size_t cie = cfi_put_cie(&b, CFI_BYTES(0));
        size_t at = cfi_put_fde(&b, cie, 0x5000, 0x20, CFI_BYTES(0));
        assert_int_equal(
            wndl_fde_parse(&b.section, at, &fde, NULL, NULL), WNDL_UNSUPPORTED);
    }
}

static void parse_refuses_a_cie_of_another_address_size(void **state)
{
    (void)state;
    static const struct cfi_shape shape = {8, false, false, true, 4};
    struct cfi_build b;
    struct wndl_fde fde;
    cfi_build_init(&b, &shape, 0);
    size_t cie = cfi_put_cie(&b, CFI_BYTES(0));
    size_t at = cfi_put_fde(&b, cie, 0x5000, 0x20, CFI_BYTES(0));
    b.section.address_size = 4;
    assert_int_equal(
        wndl_fde_parse(&b.section, at, &fde, NULL, NULL), WNDL_UNSUPPORTED);
}

/* A section at 0x1000 of a "zR" CIE of `encoding` and an FDE to fill in. */
static size_t begin_encoded(
    struct cfi_build *b, const struct cfi_shape *shape, uint8_t encoding)
{
    cfi_build_init(b, shape, 0x1000);
    size_t cie = cfi_begin_cie(b);
    cfi_put_cie_head(b, "zR");
    cfi_put(b, 1, 1);
    cfi_put(b, encoding, 1);
    cfi_end_record(b);
    b->section.text_base = 0x100000;
    b->section.data_base = 0x200000;
    return cfi_begin_fde(b, cie);
}

static void check_encoded(
    struct cfi_build *b, size_t at, uint64_t start, uint64_t range)
{
    struct wndl_fde fde;
    cfi_put(b, 0, 1); /* augmentation data */
    cfi_end_record(b);
    assert_int_equal(
        wndl_fde_parse(&b->section, at, &fde, NULL, NULL), WNDL_OK);
    assert_int_equal(fde.start, start);
    assert_int_equal(fde.end, start + range);
}

static void parse_reads_fixed_pointer_encodings(void **state)
{
    (void)state;
    static const struct {
        uint8_t encoding, size;
        uint64_t value, base;
    } cases[] = {
        {0x00, 8, 0x123456789a, 0},
        {0x08, 8, 0x123456789a, 0},
        {0x02, 2, 0xfff0, 0},
        {0x0a, 2, 0x7ff0, 0},
        {0x03, 4, 0xfffffff0, 0},
        {0x0b, 4, 0x7ffffff0, 0},
        {0x04, 8, 0x123456789a, 0},
        {0x0c, 8, 0x123456789a, 0},
        {0x2b, 4, 0xfffffff0, 0x100000 - (UINT64_C(1) << 32)},
        {0x33, 4, 0x10, 0x200000},
        {0x3a, 2, 0xfffe, 0x200000 - 0x10000},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int big = 0; big < 2; big++) {
            struct cfi_shape shape = {8, big, false, false, 1};
            struct cfi_build b;
            size_t at = begin_encoded(&b, &shape, cases[i].encoding);
            cfi_put(&b, cases[i].value, cases[i].size);
            cfi_put(&b, 0x20, cases[i].size);
            check_encoded(&b, at, cases[i].value + cases[i].base, 0x20);
        }
    }
}

static void parse_reads_leb128_pointers(void **state)
{
    (void)state;
    struct cfi_build b;
    size_t at = begin_encoded(&b, &usual, EH_PE_ULEB128);
    cfi_put_uleb(&b, 0x123456);
    cfi_put_uleb(&b, 0x1000);
    check_encoded(&b, at, 0x123456, 0x1000);
    at = begin_encoded(&b, &usual, EH_PE_DATAREL | EH_PE_SLEB128);
    cfi_put_sleb(&b, -0x100);
    cfi_put_sleb(&b, 0x1000);
    check_encoded(&b, at, 0x200000 - 0x100, 0x1000);
}

static void pcrel_counts_from_the_pointer_and_wraps_at_its_width(void **state)
{
    (void)state;
    struct cfi_build b;
    size_t at = begin_encoded(&b, &usual, EH_PE_PCREL | EH_PE_SDATA4);
    uint64_t place = 0x1000 + b.section.bytes.size;
    cfi_put(&b, (uint64_t)-0x40, 4);
    cfi_put(&b, 0x20, 4);
    check_encoded(&b, at, place - 0x40, 0x20);

    static const struct cfi_shape narrow = {4, true, false, false, 1};
    at = begin_encoded(&b, &narrow, EH_PE_PCREL | EH_PE_SDATA4);
    b.section.addr = 0xfffffff0;
    place = 0xfffffff0 + b.section.bytes.size;
    cfi_put(&b, 0x100, 4);
    cfi_put(&b, 0x20, 4);
    check_encoded(&b, at, (uint32_t)place + 0x100, 0x20);
}

static void aligned_pointers_start_at_a_multiple_of_their_size(void **state)
{
    (void)state;
    struct cfi_build b;
    size_t at = begin_encoded(&b, &usual, EH_PE_ALIGNED);
    while (b.section.bytes.size % 8 != 0)
        cfi_put(&b, 0xee, 1);
    cfi_put(&b, 0x5000, 8);
    cfi_put(&b, 0x20, 8);
    check_encoded(&b, at, 0x5000, 0x20);
}

static void parse_refuses_pointers_it_cannot_follow(void **state)
{
    (void)state;
    /* indirect, funcrel, omit, formats and relations that do not exist */
    static const uint8_t refused[] = {0x9b, 0x40, 0xff, 0x05, 0x0f, 0x60};
    for (unsigned i = 0; i < sizeof refused; i++) {
        struct cfi_build b;
        struct wndl_fde fde;
        size_t at = begin_encoded(&b, &usual, refused[i]);
        cfi_put(&b, 0x5000, 8);
        cfi_put(&b, 0x20, 8);
        cfi_put(&b, 0, 1);
        cfi_end_record(&b);
        assert_int_equal(
            wndl_fde_parse(&b.section, at, &fde, NULL, NULL), WNDL_UNSUPPORTED);
    }
}

static void parse_refuses_relative_pointers_to_unknown_bases(void **state)
{
    (void)state;
    static const uint8_t relative[] = {EH_PE_TEXTREL, EH_PE_DATAREL};
    for (unsigned i = 0; i < sizeof relative; i++) {
        struct cfi_build b;
        struct wndl_fde fde;
        size_t at = begin_encoded(&b, &usual, relative[i] | EH_PE_UDATA4);
        b.section.text_base = b.section.data_base = 0;
        cfi_put(&b, 0x5000, 4);
        cfi_put(&b, 0x20, 4);
        cfi_put(&b, 0, 1);
        cfi_end_record(&b);
        assert_int_equal(
            wndl_fde_parse(&b.section, at, &fde, NULL, NULL), WNDL_UNSUPPORTED);
    }
}

/* Parses the FDE of a CIE with this augmentation and its data. */
static enum wndl_status parse_augmented(
    const char *augmentation, struct wndl_bytes data, struct wndl_fde *fde)
{
    static struct cfi_build b;
    cfi_build_init(&b, &usual, 0x1003);
    size_t cie = cfi_begin_cie(&b);
    cfi_put_cie_head(&b, augmentation);
    if (augmentation[0] == 'z')
        cfi_put_uleb(&b, data.size);
    cfi_put_bytes(&b, data.data, data.size);
    cfi_put_bytes(&b, "\x0c\x07\x08", 3);
    cfi_end_record(&b);
    size_t at = cfi_begin_fde(&b, cie);
    cfi_put(&b, 0x5000, 4);
    cfi_put(&b, 0x20, 4);
    cfi_put_bytes(&b, "\x04lsda", 5);
    cfi_put(&b, 0x41, 1);
    cfi_end_record(&b);
    return wndl_fde_parse(&b.section, at, fde, NULL, NULL);
}

static void parse_reads_every_augmentation_in_use(void **state)
{
    (void)state;
    struct wndl_fde fde;
    static const char *const plain[] = {"zR", "zRB", "zRG", "zRBG"};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(
            parse_augmented(plain[i], CFI_BYTES(3), &fde), WNDL_OK);
        assert_false(fde.cie.signal_frame);
    }
    assert_int_equal(parse_augmented("zRS", CFI_BYTES(3), &fde), WNDL_OK);
    assert_true(fde.cie.signal_frame);
    assert_int_equal(fde.cie.program.size, 3);
    assert_int_equal(fde.program.size, 1);
    assert_int_equal(fde.program.data[0], 0x41);

    /* C++: an indirect pcrel personality, an LSDA encoding */
    assert_int_equal(
        parse_augmented("zPLR", CFI_BYTES(0x9b, 1, 2, 3, 4, 0x1b, 3), &fde),
        WNDL_OK);
    assert_int_equal(fde.cie.lsda_encoding, 0x1b);
    assert_int_equal(fde.cie.fde_encoding, 3);
    assert_int_equal(parse_augmented("zPR", CFI_BYTES(0xff, 3), &fde), WNDL_OK);
    assert_int_equal(fde.start, 0x5000);
}

static void parse_passes_an_aligned_personality(void **state)
{
    (void)state;
    struct wndl_fde fde;
    /* The P byte is at 0x1003 + 17 = 0x1014, so the pointer is at 0x1018. */
    assert_int_equal(
        parse_augmented("zPR",
            CFI_BYTES(0x50, 0xee, 0xee, 0xee, 1, 2, 3, 4, 5, 6, 7, 8, 3), &fde),
        WNDL_OK);
    assert_int_equal(fde.cie.fde_encoding, 3);
}

static void parse_refuses_augmentations_it_does_not_know(void **state)
{
    (void)state;
    struct wndl_fde fde;
    static const char *const refused[] = {"zXR", "zRX", "eh", "armcc+", "R"};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(parse_augmented(refused[i], CFI_BYTES(3, 3), &fde),
            WNDL_UNSUPPORTED);
    assert_int_equal(
        parse_augmented("zRPL", CFI_BYTES(3, 0x0b), &fde), WNDL_MALFORMED);
}

static void parse_tells_where_a_broken_record_is(void **state)
{
    (void)state;
    struct cfi_build b;
    struct wndl_fde fde;
    struct wndl_error err = {0};
    uint64_t next = 0;
    cfi_build_init(&b, &usual, 0);
    cfi_put_cie(&b, CFI_BYTES(0));
    size_t at = cfi_put_fde(&b, 4, 0x5000, 0x20, CFI_BYTES(0x41));
    assert_int_equal(
        wndl_fde_parse(&b.section, at, &fde, &next, &err), WNDL_MALFORMED);
    assert_int_equal(next, b.section.bytes.size);
    assert_int_equal(err.status, WNDL_MALFORMED);
    assert_int_equal(err.offset, at);
    assert_string_equal(err.section, ".eh_frame");
    assert_string_equal(
        err.what, "an FDE points to something that is not a CIE");
}

static void parse_refuses_records_that_contradict_themselves(void **state)
{
    (void)state;
    struct cfi_build b;
    struct wndl_fde fde;
    uint64_t next = 77;
    cfi_build_init(&b, &usual, 0);
    size_t cie = cfi_put_cie(&b, CFI_BYTES(0));
    size_t at = cfi_put_fde(&b, cie, 0x5000, UINT64_MAX, CFI_BYTES(0x41));
    assert_int_equal(
        wndl_fde_parse(&b.section, at, &fde, NULL, NULL), WNDL_MALFORMED);
    /* a CIE pointer to before the section, and to the FDE itself */
    cfi_patch(&b, at + 4, 0x1000, 4);
    assert_int_equal(
        wndl_fde_parse(&b.section, at, &fde, NULL, NULL), WNDL_MALFORMED);
    cfi_patch(&b, at + 4, 4, 4);
    assert_int_equal(
        wndl_fde_parse(&b.section, at, &fde, NULL, NULL), WNDL_MALFORMED);
    /* too short for its addresses, for its id, longer than the section */
    cfi_patch(&b, at + 4, at + 4 - cie, 4);
    cfi_patch(&b, at, 12, 4);
    assert_int_equal(
        wndl_fde_parse(&b.section, at, &fde, NULL, NULL), WNDL_MALFORMED);
    cfi_patch(&b, at, 3, 4);
    assert_int_equal(
        wndl_fde_parse(&b.section, at, &fde, NULL, NULL), WNDL_MALFORMED);
    cfi_patch(&b, at, 0x1000, 4);
    assert_int_equal(
        wndl_fde_parse(&b.section, at, &fde, &next, NULL), WNDL_TRUNCATED);
    assert_int_equal(next, 77);
    assert_int_equal(
        wndl_fde_parse(&b.section, 0x10000, &fde, NULL, NULL), WNDL_TRUNCATED);
}

static void scan_finds_the_covering_fde(void **state)
{
    (void)state;
    struct wndl_cfi_section s = golden_section();
    struct wndl_fde fde;
    assert_int_equal(wndl_fde_scan(&s, 0x1000, &fde, NULL), WNDL_OK);
    assert_int_equal(fde.offset, 0x18);
    assert_int_equal(wndl_fde_scan(&s, 0x1025, &fde, NULL), WNDL_OK);
    assert_int_equal(fde.offset, 0x18);
    assert_int_equal(wndl_fde_scan(&s, 0x1026, &fde, NULL), WNDL_NOT_FOUND);
    assert_int_equal(wndl_fde_scan(&s, 0x103f, &fde, NULL), WNDL_OK);
    assert_int_equal(fde.offset, 0x30);
    assert_int_equal(wndl_fde_scan(&s, 0xfff, &fde, NULL), WNDL_NOT_FOUND);
}

static void scan_passes_over_damage_and_reports_it_if_all_fails(void **state)
{
    (void)state;
    struct cfi_build b;
    struct wndl_fde fde;
    struct wndl_error err = {0};
    cfi_build_init(&b, &usual, 0);
    size_t cie = cfi_put_cie(&b, CFI_BYTES(0));
    size_t bad = cfi_put_fde(&b, cie, 0x4000, UINT64_MAX, CFI_BYTES(0));
    size_t good = cfi_put_fde(&b, cie, 0x5000, 0x20, CFI_BYTES(0));
    assert_int_equal(wndl_fde_scan(&b.section, 0x5010, &fde, NULL), WNDL_OK);
    assert_int_equal(fde.offset, good);
    assert_int_equal(
        wndl_fde_scan(&b.section, 0x6000, &fde, &err), WNDL_MALFORMED);
    assert_int_equal(err.offset, bad);
}

static void scan_ends_at_the_terminator(void **state)
{
    (void)state;
    struct cfi_build b;
    struct wndl_fde fde;
    cfi_build_init(&b, &usual, 0);
    size_t cie = cfi_put_cie(&b, CFI_BYTES(0));
    cfi_put(&b, 0, 4);
    cfi_put_fde(&b, cie, 0x5000, 0x20, CFI_BYTES(0));
    assert_int_equal(
        wndl_fde_scan(&b.section, 0x5010, &fde, NULL), WNDL_NOT_FOUND);
}

static void parse_prefix(struct wndl_bytes prefix, void *context)
{
    struct cfi_build *b = context;
    struct wndl_cfi_section s = b->section;
    struct wndl_fde fde;
    s.bytes = prefix;
    for (uint64_t at = 0; at <= prefix.size; at++) {
        enum wndl_status status = wndl_fde_parse(&s, at, &fde, NULL, NULL);
        if (at == b->record)
            assert_int_not_equal(status, WNDL_OK);
    }
    if (wndl_fde_scan(&s, 0x5010, &fde, NULL) == WNDL_OK)
        fail_msg("an FDE was found in %zu bytes", prefix.size);
}

static void parse_never_accepts_a_record_cut_short(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 16; bits++) {
        struct cfi_shape shape = {
            bits & 1 ? 4 : 8, bits & 2, bits & 4, bits & 8, 3};
        struct cfi_build b;
        cfi_build_init(&b, &shape, 0x1000);
        size_t cie = cfi_begin_cie(&b);
        cfi_put_cie_head(&b, "zPLR");
        cfi_put_bytes(&b, "\x07\x9b....\x1b\x00", 8);
        cfi_put_bytes(&b, "\x0c\x07\x08", 3);
        cfi_end_record(&b);
        cfi_begin_fde(&b, cie);
        cfi_put(&b, 0x5000, shape.address_size);
        cfi_put(&b, 0x20, shape.address_size);
        cfi_put_bytes(&b, "\x04lsda\x41\x0e\x10", 8);
        cfi_end_record(&b);
        for_each_truncation(b.section.bytes, parse_prefix, &b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_reads_what_gnu_tools_write),
        cmocka_unit_test(parse_finds_no_fde_in_a_cie_or_terminator),
        cmocka_unit_test(parse_reads_every_width_and_byte_order),
        cmocka_unit_test(parse_refuses_other_cie_versions),
        cmocka_unit_test(parse_refuses_a_cie_of_another_address_size),
        cmocka_unit_test(parse_reads_fixed_pointer_encodings),
        cmocka_unit_test(parse_reads_leb128_pointers),
        cmocka_unit_test(pcrel_counts_from_the_pointer_and_wraps_at_its_width),
        cmocka_unit_test(aligned_pointers_start_at_a_multiple_of_their_size),
        cmocka_unit_test(parse_refuses_pointers_it_cannot_follow),
        cmocka_unit_test(parse_refuses_relative_pointers_to_unknown_bases),
        cmocka_unit_test(parse_reads_every_augmentation_in_use),
        cmocka_unit_test(parse_passes_an_aligned_personality),
        cmocka_unit_test(parse_refuses_augmentations_it_does_not_know),
        cmocka_unit_test(parse_tells_where_a_broken_record_is),
        cmocka_unit_test(parse_refuses_records_that_contradict_themselves),
        cmocka_unit_test(scan_finds_the_covering_fde),
        cmocka_unit_test(scan_passes_over_damage_and_reports_it_if_all_fails),
        cmocka_unit_test(scan_ends_at_the_terminator),
        cmocka_unit_test(parse_never_accepts_a_record_cut_short),
    };
    return cmocka_run_group_tests_name("eh_frame", tests, NULL, NULL);
}
