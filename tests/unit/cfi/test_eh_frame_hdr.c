/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "cfi/cfi.h"
#include "cfi/encoded.h"
#include "cfibuild.h"

enum { HDR = 0x10000, FRAME = 0x20000, FRAME_SIZE = 0x1000 };

/* What linkers write: pcrel|sdata4, udata4, datarel|sdata4. */
enum { USUAL_FRAME = 0x1b, USUAL_COUNT = 0x03, USUAL_TABLE = 0x3b };

/* Code starts of the three FDEs, whose records are at 0x18, 0x58, 0x98. */
static const uint64_t starts[3] = {0x11000, 0x11040, 0x12000};

static const struct cfi_shape narrow_big = {4, true, false, false, 1};
static const struct cfi_shape usual = {8, false, false, false, 1};

static void begin_hdr(struct cfi_build *b, const struct cfi_shape *shape,
    uint8_t table_encoding, uint32_t count)
{
    cfi_build_init(b, shape, HDR);
    cfi_put(b, 1, 1);
    cfi_put(b, USUAL_FRAME, 1);
    cfi_put(b, USUAL_COUNT, 1);
    cfi_put(b, table_encoding, 1);
    cfi_put(b, FRAME - (HDR + 4), 4);
    cfi_put(b, count, 4);
}

static void put_table(struct cfi_build *b, uint64_t base, unsigned size)
{
    for (unsigned i = 0; i < 3; i++) {
        cfi_put(b, starts[i] - base, size);
        cfi_put(b, FRAME + 0x18 + 0x40 * i - base, size);
    }
}

/* The record found for pc, or minus the status. */
static int64_t find(const struct cfi_build *b, uint64_t pc)
{
    static const uint8_t zeros[FRAME_SIZE];
    struct wndl_cfi_section frame = b->section;
    uint64_t offset = 0;
    frame.bytes = (struct wndl_bytes){zeros, sizeof zeros};
    frame.addr = FRAME;
    enum wndl_status status =
        wndl_eh_frame_hdr_find(&b->section, &frame, pc, &offset);
    return status == WNDL_OK ? (int64_t)offset : -(int64_t)status;
}

static void check_all_places(const struct cfi_build *b)
{
    assert_int_equal(find(b, 0), -WNDL_NOT_FOUND);
    assert_int_equal(find(b, starts[0] - 1), -WNDL_NOT_FOUND);
    assert_int_equal(find(b, starts[0]), 0x18);
    assert_int_equal(find(b, starts[1] - 1), 0x18);
    assert_int_equal(find(b, starts[1]), 0x58);
    assert_int_equal(find(b, starts[2] - 1), 0x58);
    assert_int_equal(find(b, starts[2]), 0x98);
    uint64_t last = b->shape.address_size == 4 ? UINT32_MAX : UINT64_MAX;
    assert_int_equal(find(b, last), 0x98);
}

static void find_returns_the_last_entry_at_or_below_pc(void **state)
{
    (void)state;
    struct cfi_build b;
    begin_hdr(&b, &usual, USUAL_TABLE, 3);
    put_table(&b, HDR, 4);
    check_all_places(&b);
}

static void find_reads_big_endian_32_bit_tables(void **state)
{
    (void)state;
    struct cfi_build b;
    begin_hdr(&b, &narrow_big, USUAL_TABLE, 3);
    put_table(&b, HDR, 4);
    check_all_places(&b);
}

static void find_searches_every_fixed_size_encoding(void **state)
{
    (void)state;
    static const struct {
        uint8_t encoding, size;
        uint64_t base;
    } cases[] = {
        {0x00, 8, 0},
        {0x03, 4, 0},
        {0x0b, 4, 0},
        {0x04, 8, 0},
        {0x0c, 8, 0},
        {0x33, 4, HDR},
        {0x3c, 8, HDR},
        {0x30, 8, HDR},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cfi_build b;
        begin_hdr(&b, &usual, cases[i].encoding, 3);
        put_table(&b, cases[i].base, cases[i].size);
        check_all_places(&b);
    }
}

static void find_searches_the_usual_table_under_another_head(void **state)
{
    (void)state;
    struct cfi_build b;
    begin_hdr(&b, &usual, USUAL_TABLE, 3);
    cfi_patch(&b, 1, EH_PE_UDATA4, 1);
    put_table(&b, HDR, 4);
    check_all_places(&b);
    b.section.bytes.size -= 1;
    assert_int_equal(find(&b, starts[2]), 0x58);
}

static void find_is_not_misled_by_a_count_beyond_the_bytes(void **state)
{
    (void)state;
    struct cfi_build b;
    begin_hdr(&b, &usual, USUAL_TABLE, UINT32_MAX);
    put_table(&b, HDR, 4);
    check_all_places(&b);
    b.section.bytes.size -= 1; /* the third entry is no longer whole */
    assert_int_equal(find(&b, starts[2]), 0x58);
}

static void find_searches_no_more_entries_than_are_counted(void **state)
{
    (void)state;
    struct cfi_build b;
    begin_hdr(&b, &usual, USUAL_TABLE, 2);
    put_table(&b, HDR, 4);
    assert_int_equal(find(&b, starts[2]), 0x58);
    begin_hdr(&b, &usual, USUAL_TABLE, 0);
    put_table(&b, HDR, 4);
    assert_int_equal(find(&b, starts[2]), -WNDL_NOT_FOUND);
}

static void find_sees_tables_on_both_sides_of_the_header(void **state)
{
    (void)state;
    /* i386: sums wrap at 32 bits, so order is that of addresses. */
    static const struct cfi_shape narrow = {4, false, false, false, 1};
    struct cfi_build b;
    begin_hdr(&b, &narrow, USUAL_TABLE, 2);
    b.section.addr = 0xf0000000;
    cfi_put(&b, 0x08000000 - 0xf0000000, 4);
    cfi_put(&b, (uint64_t)FRAME + 0x18 - 0xf0000000, 4);
    cfi_put(&b, 0xf8000000 - 0xf0000000, 4);
    cfi_put(&b, (uint64_t)FRAME + 0x58 - 0xf0000000, 4);
    assert_int_equal(find(&b, 0x07ffffff), -WNDL_NOT_FOUND);
    assert_int_equal(find(&b, 0x08000000), 0x18);
    assert_int_equal(find(&b, 0xf7ffffff), 0x18);
    assert_int_equal(find(&b, 0xf8000000), 0x58);
}

static void find_refuses_headers_it_cannot_search(void **state)
{
    (void)state;
    static const uint8_t refused[] = {0xff, 0x01, 0x39, 0x4b, 0xbb, 0x05};
    struct cfi_build b;
    for (unsigned i = 0; i < sizeof refused; i++) {
        begin_hdr(&b, &usual, refused[i], 3);
        put_table(&b, HDR, 4);
        assert_int_equal(find(&b, starts[0]), -WNDL_UNSUPPORTED);
    }
    for (unsigned at = 0; at < 3; at++) {
        begin_hdr(&b, &usual, USUAL_TABLE, 3);
        put_table(&b, HDR, 4);
        cfi_patch(&b, at, 0xff, 1); /* version, frame and count encodings */
        assert_int_equal(find(&b, starts[0]), -WNDL_UNSUPPORTED);
    }
}

static void find_refuses_entries_that_leave_the_section(void **state)
{
    (void)state;
    struct cfi_build b;
    begin_hdr(&b, &usual, USUAL_TABLE, 3);
    put_table(&b, HDR, 4);
    cfi_patch(&b, 12 + 4, FRAME + FRAME_SIZE - HDR, 4);
    cfi_patch(&b, 12 + 12, FRAME - 1 - HDR, 4);
    assert_int_equal(find(&b, starts[0]), -WNDL_MALFORMED);
    assert_int_equal(find(&b, starts[1]), -WNDL_MALFORMED);
    assert_int_equal(find(&b, starts[2]), 0x98);
}

static void frame_addr_follows_the_pointer(void **state)
{
    (void)state;
    struct cfi_build b;
    uint64_t addr = 0;
    begin_hdr(&b, &usual, USUAL_TABLE, 3);
    assert_int_equal(wndl_eh_frame_hdr_frame_addr(&b.section, &addr), WNDL_OK);
    assert_int_equal(addr, FRAME);
    cfi_patch(&b, 4, (uint64_t)-0x800, 4);
    assert_int_equal(wndl_eh_frame_hdr_frame_addr(&b.section, &addr), WNDL_OK);
    assert_int_equal(addr, HDR + 4 - 0x800);
    cfi_patch(&b, 1, EH_PE_DATAREL | EH_PE_SDATA4, 1);
    assert_int_equal(wndl_eh_frame_hdr_frame_addr(&b.section, &addr), WNDL_OK);
    assert_int_equal(addr, HDR - 0x800);
    cfi_patch(&b, 1, EH_PE_OMIT, 1);
    assert_int_equal(
        wndl_eh_frame_hdr_frame_addr(&b.section, &addr), WNDL_NOT_FOUND);
}

static void search_prefix(struct wndl_bytes prefix, void *context)
{
    struct cfi_build *b = context;
    struct cfi_build cut;
    uint64_t addr = 0;
    memcpy(&cut, b, sizeof cut);
    cut.section.bytes = prefix;
    assert_int_equal(wndl_eh_frame_hdr_frame_addr(&cut.section, &addr),
        prefix.size < 8 ? WNDL_TRUNCATED : WNDL_OK);
    int64_t found = find(&cut, starts[2]);
    if (prefix.size < 12)
        assert_int_equal(found, -WNDL_TRUNCATED);
    else if (prefix.size < 20)
        assert_int_equal(found, -WNDL_NOT_FOUND);
    else
        assert_int_equal(found, prefix.size < 28 ? 0x18 : 0x58);
}

static void find_uses_only_whole_entries_of_a_header_cut_short(void **state)
{
    (void)state;
    struct cfi_build b;
    begin_hdr(&b, &usual, USUAL_TABLE, 3);
    put_table(&b, HDR, 4);
    for_each_truncation(b.section.bytes, search_prefix, &b);
    begin_hdr(&b, &usual, 0x33, 3); /* not the usual encoding */
    put_table(&b, HDR, 4);
    for_each_truncation(b.section.bytes, search_prefix, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(find_returns_the_last_entry_at_or_below_pc),
        cmocka_unit_test(find_reads_big_endian_32_bit_tables),
        cmocka_unit_test(find_searches_every_fixed_size_encoding),
        cmocka_unit_test(find_searches_the_usual_table_under_another_head),
        cmocka_unit_test(find_is_not_misled_by_a_count_beyond_the_bytes),
        cmocka_unit_test(find_searches_no_more_entries_than_are_counted),
        cmocka_unit_test(find_sees_tables_on_both_sides_of_the_header),
        cmocka_unit_test(find_refuses_headers_it_cannot_search),
        cmocka_unit_test(find_refuses_entries_that_leave_the_section),
        cmocka_unit_test(frame_addr_follows_the_pointer),
        cmocka_unit_test(find_uses_only_whole_entries_of_a_header_cut_short),
    };
    return cmocka_run_group_tests_name("eh_frame_hdr", tests, NULL, NULL);
}
