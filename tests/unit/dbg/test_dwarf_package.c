/* SPDX-License-Identifier: MIT */
/* Functions in packages of .dwo files. */
#include "dwarf_world.h"

#include "dbg/dwarf/internal.h"

#include <sys/mman.h>

static void check_package(const struct dwarf_recipe *how)
{
    struct world w;
    make_world(&w, how);
    make_package(&w);
    struct wndl_dwarf *d = open_world(&w);
    check_whole(d);
    assert_int_equal(w.asked_package, 1);
    assert_int_equal(w.asked_split, 0);
    assert_int_equal(stats_of(d).files_missing, 0);
    wndl_dwarf_close(d);
    free_world(&w);
}

static void functions_come_from_the_package(void **state)
{
    (void)state;
    for_each_recipe(check_package);
}

/* The table with 64-bit offsets, as for packages of more than 4 GB. */
static void widen_string_offsets(struct wndl_bytes from, struct wndl_buf *to)
{
    struct wndl_cursor c = wndl_cursor_at(from, 4, false);
    wndl_buf_u32le(to, UINT32_MAX);
    wndl_buf_u64le(to, 4 + 2 * (from.size - 8));
    wndl_buf_u32le(to, wndl_cursor_u32(&c)); /* version, padding */
    while (wndl_cursor_left(&c) != 0)
        wndl_buf_u64le(to, wndl_cursor_u32(&c));
}

/* Compilers give units of .dwo files no base: DW_AT_use_UTF8 stands for it. */
static void drop_base(struct wndl_bytes abbrev)
{
    uint8_t *base = memmem(abbrev.data, abbrev.size, "\x72\x17", 2);
    assert_non_null(base);
    *base = 0x53;
}

static void string_offsets_of_a_package_may_be_wider_than_others(void **state)
{
    (void)state;
    struct dwarf_recipe how = {5, 8, 4, false, true};
    struct world w;
    struct wndl_buf wide;
    make_world(&w, &how);
    drop_base(w.candidates[0].abbrev);
    wndl_buf_init(&wide, wndl_mem_libc());
    widen_string_offsets(w.candidates[0].str_offsets, &wide);
    w.candidates[0].str_offsets = (struct wndl_bytes){wide.data, wide.size};
    make_package(&w);
    struct wndl_dwarf *d = open_world(&w);
    check_whole(d);
    assert_int_equal(stats_of(d).files_missing, 0);
    wndl_dwarf_close(d);
    free_world(&w);
    wndl_buf_free(&wide);
}

static const uint64_t FOUR_GB = UINT64_C(1) << 32;

/*
 * A section with these bytes at its start and again after 4 GB, and zeros
 * between them that need no memory.
 */
static struct wndl_bytes far_away(struct wndl_bytes bytes)
{
    uint8_t *far = mmap(NULL, FOUR_GB + bytes.size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(far, MAP_FAILED);
    memcpy(far, bytes.data, bytes.size);
    memcpy(far + FOUR_GB, bytes.data, bytes.size);
    return (struct wndl_bytes){far, FOUR_GB + bytes.size};
}

/* Makes what is at the start of a section another unit, or nothing. */
static void spoil_start(
    const struct dwarf_recipe *how, struct wndl_bytes section, size_t size)
{
    uint8_t *start = (uint8_t *)(uintptr_t)section.data;
    uint8_t *id = memmem(start, size, &(uint64_t){ID}, sizeof(uint64_t));
    if (how->version == 5 && !how->big_endian && id != NULL)
        id[0] ^= 1;
    else
        memset(start, 0, size);
}

/* The fixture's table of string offsets has a header of nothing. */
static void give_header(struct world *w, struct wndl_buf *table)
{
    enum { PAD = 7 };
    size_t size = table->size - PAD;
    bool wide = w->dwo.how.offset_size == 8;
    if (wide)
        dw_patch(&w->dwo, table, PAD, UINT32_MAX, 4);
    dw_patch(&w->dwo, table, PAD + (wide ? 4 : 0), size - (wide ? 12 : 4),
        wide ? 8 : 4);
    dw_patch(&w->dwo, table, PAD + (wide ? 12 : 4), 5, 2);
}

static void offsets_beyond_4_gb_are_found_by_headers_in(
    const struct dwarf_recipe *how)
{
    struct world w;
    make_world(&w, how);
    make_package(&w);
    if (how->version == 5 && how->indexed)
        give_header(&w, &w.pads[2]);
    struct wndl_bytes *parts[] = {&w.package.info,
        how->version == 5 && how->indexed ? &w.package.str_offsets : NULL,
        how->version == 5 ? &w.package.rnglists : NULL};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] == NULL || parts[i]->size == 0)
            continue;
        size_t size = parts[i]->size;
        *parts[i] = far_away(*parts[i]);
        spoil_start(how, *parts[i], size);
    }
    struct wndl_dwarf *d = open_world(&w);
    check_whole(d);
    assert_int_equal(stats_of(d).files_missing, 0);
    wndl_dwarf_close(d);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] != NULL && parts[i]->size != 0)
            munmap((void *)(uintptr_t)parts[i]->data, parts[i]->size);
    free_world(&w);
}

static void offsets_beyond_4_gb_are_found_by_headers(void **state)
{
    (void)state;
    for_each_recipe(offsets_beyond_4_gb_are_found_by_headers_in);
}

static void a_unit_that_is_not_packaged_has_a_file(void **state)
{
    (void)state;
    struct dwarf_recipe how = {5, 8, 4, false, false};
    struct world w;
    make_world(&w, &how);
    struct wndl_dwarf_sections whole = w.candidates[0];
    make_package(&w);
    dw_patch(&w.dwo, &w.index, 16 + 8, ID + 4, 8);
    w.candidates[0] = whole;
    w.candidate_count = 1;
    struct wndl_dwarf *d = open_world(&w);
    check_whole(d);
    assert_int_equal(w.asked_split, 1);
    assert_int_equal(stats_of(d).files_missing, 0);
    wndl_dwarf_close(d);
    free_world(&w);
}

/* A field of the index that is damaged, and what is said of it. */
static void damaged_indexes_are_told_of(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
        const char *what;
    } cases[] = {
        {0, 9, "version"}, {4, 99, "header"}, /* columns */
        {8, 999, "past its section"},         /* units */
        {12, 3, "header"},                    /* slots: no power of two */
        {12, 1 << 30, "past its section"}, {48 + 4, 99, "row outside"},
        {64 + 16 + 16, 999, "outside of it"}, /* offset of .debug_info */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dwarf_recipe how = {5, 8, 4, false, false};
        struct world w;
        make_world(&w, &how);
        make_package(&w);
        dw_patch(&w.dwo, &w.index, cases[i].at, cases[i].value, 4);
        struct wndl_dwarf *d = open_world(&w);
        check_lines_only(d);
        struct wndl_error first = stats_of(d).first_missing;
        assert_int_equal(first.status, WNDL_MALFORMED);
        assert_string_equal(first.file, "a.dwp");
        assert_string_equal(first.section, ".debug_cu_index");
        assert_non_null(strstr(first.what, cases[i].what));
        wndl_dwarf_close(d);
        free_world(&w);
    }
}

static const uint64_t FULL_ID = 0x1122334400000000;

/* An index of one column without free slots, all of one unit of 16 bytes. */
static void make_full_index(struct wndl_buf *index, uint32_t slots)
{
    const uint32_t head[] = {5, 1, 1, slots};
    for (int i = 0; i < 4; i++)
        wndl_buf_u32le(index, head[i]);
    for (uint32_t i = 0; i < slots; i++)
        wndl_buf_u64le(index, FULL_ID + i); /* in the slot where it belongs */
    for (uint32_t i = 0; i < slots; i++)
        wndl_buf_u32le(index, 1);
    wndl_buf_u32le(index, 1); /* .debug_info */
    wndl_buf_u32le(index, 0);
    wndl_buf_u32le(index, 16);
}

static void a_package_costs_no_more_than_its_size(void **state)
{
    (void)state;
    enum { SLOTS = 4096 };
    struct wndl_buf index;
    struct wndl_dwarf_sections sections;
    struct wndl_error err = {0};
    wndl_buf_init(&index, wndl_mem_libc());
    make_full_index(&index, SLOTS);
    struct wndl_dw_package package = {
        .in.info = {(const uint8_t *)"0123456789abcdef", 16},
        .in.cu_index = {index.data, index.size},
    };
    assert_int_equal(wndl_dw_read_package(&package, NULL), WNDL_OK);
    /* Steps are odd, so that a search for what is not there meets all slots. */
    assert_int_equal(
        wndl_dw_find_in_package(&package, 1, &sections, &err), WNDL_MALFORMED);
    assert_non_null(strstr(err.what, "too full"));
    unsigned given = 0;
    while (wndl_dw_find_in_package(
               &package, FULL_ID + given, &sections, &err) == WNDL_OK &&
           given < SLOTS)
        given++;
    assert_in_range(given, 2, 20);
    assert_non_null(strstr(err.what, "share"));
    wndl_buf_free(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_come_from_the_package),
        cmocka_unit_test(string_offsets_of_a_package_may_be_wider_than_others),
        cmocka_unit_test(offsets_beyond_4_gb_are_found_by_headers),
        cmocka_unit_test(a_unit_that_is_not_packaged_has_a_file),
        cmocka_unit_test(a_package_costs_no_more_than_its_size),
        cmocka_unit_test(damaged_indexes_are_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
