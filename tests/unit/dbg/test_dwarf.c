/* SPDX-License-Identifier: MIT */
#include "dwarf_fixture.h"

#include <stdlib.h>

static void check_recipe(const struct dwarf_recipe *how)
{
    struct dwarfmake m;
    struct wndl_dwarf_stats stats;
    dwarfmake_init(&m, how);
    make_sample_dwarf(&m);
    struct wndl_dwarf *d = open_made(&m);
    check_sample(d);
    check_sample_names(d);
    wndl_dwarf_get_stats(d, &stats);
    assert_int_equal(stats.units, 1);
    assert_int_equal(stats.units_damaged, 0);
    assert_int_equal(stats.units_skipped, 0);
    wndl_dwarf_close(d);
    dwarfmake_free(&m);
}

static void lookup_finds_frames_in_every_encoding(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4 * 2 * 2 * 2 * 2; i++) {
        struct dwarf_recipe how = {
            .version = 2 + i % 4,
            .address_size = (i >> 2 & 1) != 0 ? 4 : 8,
            .offset_size = (i >> 3 & 1) != 0 ? 8 : 4,
            .big_endian = (i >> 4 & 1) != 0,
            .indexed = (i >> 5 & 1) != 0,
        };
        check_recipe(&how);
    }
}

static void lookup_gives_the_same_in_any_order(void **state)
{
    (void)state;
    static const uint64_t addresses[] = {
        0x1144, 0x1014, 0x114f, 0x1000, 0x1100};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        struct dwarfmake m;
        dwarfmake_init(&m, &plain);
        make_sample_dwarf(&m);
        struct wndl_dwarf *d = open_made(&m);
        assert_int_equal(status_at(d, addresses[i]), WNDL_OK);
        check_sample(d);
        check_sample_names(d);
        wndl_dwarf_close(d);
        dwarfmake_free(&m);
    }
}

static void aranges_are_only_a_hint(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0x1000, 0x5000, 0x1100};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct dwarfmake m;
        dwarfmake_init(&m, &plain);
        make_sample_dwarf(&m);
        add_aranges(&m, starts[i], 0x150);
        struct wndl_dwarf *d = open_made(&m);
        check_sample(d);
        check_sample_names(d);
        assert_int_equal(status_at(d, 0x5000), WNDL_NOT_FOUND);
        wndl_dwarf_close(d);
        dwarfmake_free(&m);
    }
}

/* But where nothing else says that there is code, those it has are all. */
static void aranges_are_believed_where_code_is_unlikely(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0, 0x1000, 0x5000};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct dwarfmake m;
        struct wndl_dwarf_frames frames;
        dwarfmake_init(&m, &plain);
        make_sample_dwarf(&m);
        if (starts[i] != 0)
            add_aranges(&m, starts[i], 0x150);
        struct wndl_dwarf *d = open_made(&m);
        assert_int_equal(
            wndl_dwarf_lookup_unlikely(d, (wndl_svma){0x1000}, &frames, NULL),
            starts[i] == 0x5000 ? WNDL_NOT_FOUND : WNDL_OK);
        assert_int_equal(
            wndl_dwarf_lookup_unlikely(d, (wndl_svma){0x7000}, &frames, NULL),
            WNDL_NOT_FOUND);
        check_sample(d);
        wndl_dwarf_close(d);
        dwarfmake_free(&m);
    }
}

static void unit_without_ranges_is_found_by_its_functions(void **state)
{
    (void)state;
    static const uint16_t unit[] = {0};
    static const uint16_t func[] = {0x03, 0x08, 0x11, 0x01, 0x12, 0x0b, 0};
    static const char *const named[] = {"f||:0:0|function|2000", NULL};
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    dw_abbrev(&m, 1, 0x11, true, unit);
    dw_abbrev(&m, 9, 0x2e, false, func); /* codes with a gap */
    wndl_buf_byte(&m.abbrev, 0);
    size_t begun = dw_begin_unit(&m, 0);
    wndl_buf_byte(&m.info, 1);
    wndl_buf_byte(&m.info, 9);
    dw_string(&m.info, "f");
    dw_address(&m, &m.info, 0x2000);
    wndl_buf_byte(&m.info, 0x10);
    wndl_buf_byte(&m.info, 0);
    dw_end(&m, &m.info, begun);
    struct wndl_dwarf *d = open_made(&m);
    check_frames(d, 0x200f, named);
    assert_int_equal(status_at(d, 0x2010), WNDL_NOT_FOUND);
    wndl_dwarf_close(d);
    dwarfmake_free(&m);
}

/* ---- shapes of trees ---- */

/* Abbreviations: 1 a unit, 2 a block, 3 a function and 4 an inlined call with
 * name, address and size; all may have children. */
static void begin_tree(struct dwarfmake *m)
{
    static const uint16_t unit[] = {0x11, 0x01, 0x12, 0x0b, 0};
    static const uint16_t func[] = {0x03, 0x08, 0x11, 0x01, 0x12, 0x0b, 0};
    static const uint16_t none[] = {0};
    dw_abbrev(m, 1, 0x11, true, unit);
    dw_abbrev(m, 2, 0x0b, true, none);
    dw_abbrev(m, 3, 0x2e, true, func);
    dw_abbrev(m, 4, 0x1d, true, func);
    wndl_buf_byte(&m->abbrev, 0);
}

static void put_node(
    struct dwarfmake *m, uint8_t code, const char *name, uint64_t start)
{
    wndl_buf_byte(&m->info, code);
    if (code == 2)
        return;
    if (code != 1)
        dw_string(&m->info, name);
    dw_address(m, &m->info, start);
    wndl_buf_byte(&m->info, 0x40);
}

static void close_nodes(struct dwarfmake *m, int count)
{
    for (int i = 0; i < count; i++)
        wndl_buf_byte(&m->info, 0);
}

static void calls_in_blocks_of_calls_keep_their_parents(void **state)
{
    (void)state;
    static const char *const nested[] = {"inner||:0:0|inlined|1000",
        "outer||:0:0|inlined|1000", "f||:0:0|function|1000", NULL};
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    begin_tree(&m);
    size_t begun = dw_begin_unit(&m, 0);
    put_node(&m, 1, NULL, 0x1000);
    put_node(&m, 3, "f", 0x1000);
    put_node(&m, 4, "outer", 0x1000);
    put_node(&m, 2, NULL, 0);
    put_node(&m, 4, "inner", 0x1000);
    close_nodes(&m, 5);
    dw_end(&m, &m.info, begun);
    struct wndl_dwarf *d = open_made(&m);
    check_frames(d, 0x1000, nested);
    wndl_dwarf_close(d);
    dwarfmake_free(&m);
}

/* a call that sticks out of its parent, one over both, one in a call without
 * ranges */
static void make_odd_calls(struct dwarfmake *m)
{
    static const uint16_t call[] = {0x03, 0x08, 0};
    begin_tree(m);
    m->abbrev.size--;
    dw_abbrev(m, 5, 0x1d, true, call);
    wndl_buf_byte(&m->abbrev, 0);
    size_t begun = dw_begin_unit(m, 0);
    put_node(m, 1, NULL, 0x1000);
    put_node(m, 3, "f", 0x1000);
    put_node(m, 4, "a", 0x1000);
    m->info.data[m->info.size - 1] = 0x10;
    put_node(m, 4, "b", 0x1008);
    m->info.data[m->info.size - 1] = 0x10;
    close_nodes(m, 2);
    put_node(m, 4, "c", 0x1004);
    m->info.data[m->info.size - 1] = 8;
    close_nodes(m, 1);
    wndl_buf_byte(&m->info, 5);
    dw_string(&m->info, "r");
    put_node(m, 4, "q", 0x1020);
    m->info.data[m->info.size - 1] = 0x10;
    close_nodes(m, 4);
    dw_end(m, &m->info, begun);
}

/* Whatever was asked before: the first times only one address is looked for,
 * then all calls are read. */
static void inlined_calls_are_the_same_however_often_asked(void **state)
{
    (void)state;
    static const struct {
        uint64_t address;
        const char *frames[4];
    } wanted[] = {
        {0x1000, {"a||:0:0|inlined|1000", "f||:0:0|function|1000"}},
        {0x1005, {"c||:0:0|inlined|1004", "f||:0:0|function|1000"}},
        {0x1009, {"c||:0:0|inlined|1004", "f||:0:0|function|1000"}},
        {0x100d, {"b||:0:0|inlined|1008", "a||:0:0|inlined|1000",
                     "f||:0:0|function|1000"}},
        {0x1012, {"f||:0:0|function|1000"}},
        {0x1024, {"q||:0:0|inlined|1020", "r||:0:0|inlined|ffffffffffffffff",
                     "f||:0:0|function|1000"}},
        {0x1030, {"f||:0:0|function|1000"}},
    };
    enum { COUNT = sizeof wanted / sizeof *wanted };
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    make_odd_calls(&m);
    for (size_t first = 0; first < COUNT; first++) {
        struct wndl_dwarf *d = open_made(&m);
        for (size_t i = first; i < first + 2 * COUNT; i++)
            check_frames(
                d, wanted[i % COUNT].address, wanted[i % COUNT].frames);
        wndl_dwarf_close(d);
    }
    dwarfmake_free(&m);
}

/* As GNU C has functions in functions: their calls are theirs alone. */
static void calls_of_a_local_function_are_not_its_parents(void **state)
{
    (void)state;
    static const char *const outside[] = {"f||:0:0|function|1000", NULL};
    static const char *const inside[] = {
        "call||:0:0|inlined|1020", "local||:0:0|function|1020", NULL};
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    begin_tree(&m);
    size_t begun = dw_begin_unit(&m, 0);
    put_node(&m, 1, NULL, 0x1000);
    m.info.data[m.info.size - 1] = 0x60;
    put_node(&m, 3, "f", 0x1000);
    put_node(&m, 2, NULL, 0);
    put_node(&m, 3, "local", 0x1020);
    put_node(&m, 4, "call", 0x1020);
    close_nodes(&m, 5);
    dw_end(&m, &m.info, begun);
    struct wndl_dwarf *d = open_made(&m);
    check_frames(d, 0x1000, outside);
    check_frames(d, 0x1020, inside);
    wndl_dwarf_close(d);
    dwarfmake_free(&m);
}

/* The hinted unit has lines there, but only the other one has a function. */
static void a_hint_without_a_function_is_not_taken(void **state)
{
    (void)state;
    static const char *const named[] = {"f||:0:0|function|1148", NULL};
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    begin_tree(&m);
    size_t abbrevs = m.abbrev.size;
    size_t begun = dw_begin_unit(&m, 0);
    put_node(&m, 1, NULL, 0x1148);
    m.info.data[m.info.size - 1] = 8;
    put_node(&m, 3, "f", 0x1148);
    m.info.data[m.info.size - 1] = 8;
    close_nodes(&m, 2);
    dw_end(&m, &m.info, begun);
    size_t second = m.info.size;
    make_sample_dwarf(&m);
    dw_patch(&m, &m.info, second + 8, abbrevs, 4);
    add_aranges(&m, 0x1000, 0x150);
    dw_patch(&m, &m.aranges, 6, second, 4);
    struct wndl_dwarf *d = open_made(&m);
    check_frames(d, 0x114c, named);
    check_sample(d);
    wndl_dwarf_close(d);
    dwarfmake_free(&m);
}

static void only_units_that_are_asked_for_are_read(void **state)
{
    (void)state;
    struct dwarfmake m;
    struct wndl_dwarf_stats stats;
    dwarfmake_init(&m, &plain);
    size_t begun = dw_begin_unit(&m, 0);
    wndl_buf_byte(&m.info, 0x7f); /* no such abbreviation */
    dw_end(&m, &m.info, begun);
    size_t second = m.info.size;
    make_sample_dwarf(&m);
    add_aranges(&m, 0x1000, 0x150);
    dw_patch(&m, &m.aranges, 6, second, 4);
    struct wndl_dwarf *d = open_made(&m);
    check_sample(d);
    wndl_dwarf_get_stats(d, &stats);
    assert_int_equal(stats.units, 1);
    assert_int_equal(stats.units_damaged, 0);
    assert_int_equal(status_at(d, 0x5000), WNDL_NOT_FOUND);
    wndl_dwarf_get_stats(d, &stats);
    assert_int_equal(stats.units, 2);
    assert_int_equal(stats.units_damaged, 1);
    check_sample(d);
    wndl_dwarf_close(d);
    dwarfmake_free(&m);
}

/* Nothing is found there, or a unit that is none: it is not believed. */
static void aranges_may_lead_into_the_middle_of_a_unit(void **state)
{
    (void)state;
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    make_sample_dwarf(&m);
    add_aranges(&m, 0x1000, 0x150);
    for (size_t at = 1; at < m.info.size + 2; at++) {
        dw_patch(&m, &m.aranges, 6, at, 4);
        struct wndl_dwarf *d = open_made(&m);
        check_sample(d);
        check_sample_names(d);
        wndl_dwarf_close(d);
    }
    dwarfmake_free(&m);
}

static void give_up(void *context)
{
    ++*(unsigned *)context;
}

/* More is gone over than is to stay in memory. */
static void memory_is_given_up_now_and_then(void **state)
{
    (void)state;
    enum { NOTHING = 130 * 1024 * 1024 };
    unsigned given_up = 0;
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    make_sample_dwarf(&m);
    struct wndl_dwarf_sections in = dwarfmake_sections(&m);
    uint8_t *info = calloc(1, NOTHING); /* codes 0 after the unit's DIEs */
    assert_non_null(info);
    memcpy(info, in.info.data, in.info.size);
    uint32_t length = NOTHING - 4;
    memcpy(info, &length, sizeof length);
    in.info = (struct wndl_bytes){info, NOTHING};
    in.memory = (struct wndl_dwarf_memory){&given_up, give_up};
    struct wndl_dwarf *d = NULL;
    assert_int_equal(wndl_dwarf_open(&in, wndl_mem_libc(), &d, NULL), WNDL_OK);
    check_sample(d);
    assert_int_equal(given_up, 1);
    check_sample(d);
    assert_int_equal(given_up, 1);
    wndl_dwarf_close(d);
    free(info);
    dwarfmake_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookup_finds_frames_in_every_encoding),
        cmocka_unit_test(lookup_gives_the_same_in_any_order),
        cmocka_unit_test(aranges_are_only_a_hint),
        cmocka_unit_test(aranges_are_believed_where_code_is_unlikely),
        cmocka_unit_test(only_units_that_are_asked_for_are_read),
        cmocka_unit_test(aranges_may_lead_into_the_middle_of_a_unit),
        cmocka_unit_test(memory_is_given_up_now_and_then),
        cmocka_unit_test(unit_without_ranges_is_found_by_its_functions),
        cmocka_unit_test(calls_in_blocks_of_calls_keep_their_parents),
        cmocka_unit_test(inlined_calls_are_the_same_however_often_asked),
        cmocka_unit_test(calls_of_a_local_function_are_not_its_parents),
        cmocka_unit_test(a_hint_without_a_function_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
