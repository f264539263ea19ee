/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "dbg/dwarf/dwarf.h"
#include "dwarfmake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct dwarf_recipe plain = {5, 8, 4, false, false};

/* A frame as one line of text: "name linkage file:line:column inlined". */
static void describe(const struct wndl_dwarf_frame *f, char *text, size_t size)
{
    snprintf(text, size, "%s|%s|%s:%u:%u|%s|%llx", (const char *)f->name.data,
        (const char *)f->linkage_name.data, (const char *)f->file.data, f->line,
        f->column, f->inlined ? "inlined" : "function",
        (unsigned long long)f->function_start.v);
}

static void check_frames(
    struct wndl_dwarf *d, uint64_t address, const char *const *expected)
{
    struct wndl_dwarf_frames frames;
    struct wndl_error err;
    assert_int_equal(
        wndl_dwarf_lookup(d, (wndl_svma){address}, &frames, &err), WNDL_OK);
    for (size_t i = 0; i < frames.count; i++) {
        char text[256];
        describe(&frames.frames[i], text, sizeof text);
        assert_non_null(expected[i]);
        assert_string_equal(text, expected[i]);
    }
    assert_null(expected[frames.count]);
}

static enum wndl_status status_at(struct wndl_dwarf *d, uint64_t address)
{
    struct wndl_dwarf_frames frames;
    return wndl_dwarf_lookup(d, (wndl_svma){address}, &frames, NULL);
}

static void check_sample(struct wndl_dwarf *d)
{
    static const char *const first[] = {
        "main||/src/a.c:10:1|function|1000", NULL};
    static const char *const nested[] = {"deep||/src/inc/b.h:8:9|inlined|1014",
        "leaf||/src/inc/b.h:5:7|inlined|1010",
        "main||/src/a.c:11:3|function|1000", NULL};
    static const char *const after[] = {"leaf||/src/inc/b.h:4:2|inlined|1010",
        "main||/src/a.c:11:3|function|1000", NULL};
    static const char *const second_range[] = {
        "leaf||/src/a.c:12:1|inlined|1010", "main||/src/a.c:11:3|function|1000",
        NULL};
    static const char *const last[] = {
        "main||/src/a.c:12:1|function|1000", NULL};
    check_frames(d, 0x1000, first);
    check_frames(d, 0x1014, nested);
    check_frames(d, 0x1018, after);
    check_frames(d, 0x101f, after);
    check_frames(d, 0x1037, second_range);
    check_frames(d, 0x1038, last);
    check_frames(d, 0x10ff, last);
}

static void check_sample_names(struct wndl_dwarf *d)
{
    static const char *const helper[] = {
        "helper|_Z6helperv|/src/a.c:20:1|function|1100", NULL};
    static const char *const method[] = {
        "method||/src/a.c:20:1|function|1140", NULL};
    static const char *const nameless[] = {"||/src/a.c:0:0|function|0", NULL};
    check_frames(d, 0x1100, helper);
    check_frames(d, 0x113f, helper);
    check_frames(d, 0x1140, method);
    check_frames(d, 0x114f, nameless);
    assert_int_equal(status_at(d, 0xfff), WNDL_NOT_FOUND);
    assert_int_equal(status_at(d, 0x1150), WNDL_NOT_FOUND);
}

static struct wndl_dwarf *open_made(const struct dwarfmake *m)
{
    struct wndl_dwarf_sections in = dwarfmake_sections(m);
    struct wndl_dwarf *d = NULL;
    struct wndl_error err;
    assert_int_equal(wndl_dwarf_open(&in, wndl_mem_libc(), &d, &err), WNDL_OK);
    return d;
}

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

/* A set of .debug_aranges that says `start`, `length` of unit 0. */
static void add_aranges(struct dwarfmake *m, uint64_t start, uint64_t length)
{
    struct wndl_buf *b = &m->aranges;
    size_t begun = dw_begin(m, b);
    dw_uint(m, b, 2, 2);
    dw_offset(m, b, 0);
    wndl_buf_byte(b, 8);
    wndl_buf_byte(b, 0);
    dw_uint(m, b, 0, 4); /* to a multiple of 16 */
    dw_address(m, b, start);
    dw_address(m, b, length);
    dw_address(m, b, 0);
    dw_address(m, b, 0);
    dw_end(m, b, begun);
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

/* ---- damage ---- */

static struct wndl_dwarf_stats stats_after(
    const struct dwarfmake *m, uint64_t address, enum wndl_status expected)
{
    struct wndl_dwarf_stats stats;
    struct wndl_dwarf *d = open_made(m);
    assert_int_equal(status_at(d, address), expected);
    assert_int_equal(status_at(d, address), expected);
    wndl_dwarf_get_stats(d, &stats);
    wndl_dwarf_close(d);
    return stats;
}

static void a_damaged_unit_is_lost_and_the_next_one_kept(void **state)
{
    (void)state;
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    size_t begun = dw_begin_unit(&m, 0);
    wndl_buf_byte(&m.info, 0x7f); /* no such abbreviation */
    dw_end(&m, &m.info, begun);
    make_sample_dwarf(&m);
    struct wndl_dwarf_stats stats = stats_after(&m, 0x1014, WNDL_OK);
    assert_int_equal(stats.units, 2);
    assert_int_equal(stats.units_damaged, 1);
    assert_int_equal(stats.first_damage.status, WNDL_MALFORMED);
    assert_string_equal(stats.first_damage.section, ".debug_info");
    assert_int_equal(stats.first_damage.offset, 12);
    dwarfmake_free(&m);
}

static void an_unknown_form_loses_the_unit(void **state)
{
    (void)state;
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    make_sample_dwarf(&m);
    m.abbrev.data[4] = 0x02; /* the form of the first attribute */
    struct wndl_dwarf_stats stats = stats_after(&m, 0x1014, WNDL_NOT_FOUND);
    assert_int_equal(stats.units_damaged, 1);
    assert_string_equal(stats.first_damage.section, ".debug_abbrev");
    assert_int_equal(stats.first_damage.offset, 3);
    dwarfmake_free(&m);
}

static void a_damaged_line_program_costs_only_lines(void **state)
{
    (void)state;
    static const char *const main_only[] = {"main||:0:0|function|1000", NULL};
    struct dwarfmake m;
    struct wndl_dwarf_stats stats;
    dwarfmake_init(&m, &plain);
    make_sample_dwarf(&m);
    m.line.data[4] = 9; /* version */
    struct wndl_dwarf *d = open_made(&m);
    check_frames(d, 0x1000, main_only);
    check_frames(d, 0x1000, main_only);
    wndl_dwarf_get_stats(d, &stats);
    assert_int_equal(stats.units_damaged, 1);
    assert_string_equal(stats.first_damage.section, ".debug_line");
    wndl_dwarf_close(d);
    dwarfmake_free(&m);
}

static void a_version_we_do_not_read_is_skipped(void **state)
{
    (void)state;
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    make_sample_dwarf(&m);
    m.info.data[4] = 6;
    struct wndl_dwarf_stats stats = stats_after(&m, 0x1014, WNDL_NOT_FOUND);
    assert_int_equal(stats.units_skipped, 1);
    assert_int_equal(stats.units_damaged, 0);
    dwarfmake_free(&m);
}

static void an_address_size_of_two_is_damage(void **state)
{
    (void)state;
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    make_sample_dwarf(&m);
    m.info.data[7] = 2;
    struct wndl_dwarf_stats stats = stats_after(&m, 0x1014, WNDL_NOT_FOUND);
    assert_int_equal(stats.units_damaged, 1);
    assert_non_null(strstr(stats.first_damage.what, "address size"));
    dwarfmake_free(&m);
}

/* Found when the type is skipped, looking for any function. */
static void a_sibling_that_points_back_is_damage(void **state)
{
    (void)state;
    static const char sibling[] = "type";
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    make_sample_dwarf(&m);
    size_t at = 0;
    while (memcmp(m.info.data + at, sibling, sizeof sibling) != 0)
        at++;
    dw_patch(&m, &m.info, at + sizeof sibling, 12, 4);
    struct wndl_dwarf_stats stats = stats_after(&m, 0x1014, WNDL_NOT_FOUND);
    assert_int_equal(stats.units_damaged, 1);
    assert_int_equal(stats.first_damage.offset, at - 1);
    assert_non_null(strstr(stats.first_damage.what, "DW_AT_sibling"));
    dwarfmake_free(&m);
}

/* Abbreviations: 1 a unit over [0x1000, 0x1010), 2 a function there, 3 an
 * inlined call of all of it. Functions and calls refer to an origin. */
static void begin_chain(struct dwarfmake *m)
{
    static const uint16_t unit[] = {0x11, 0x01, 0x12, 0x0b, 0};
    static const uint16_t func[] = {0x31, 0x13, 0x11, 0x01, 0x12, 0x0b, 0};
    dwarfmake_init(m, &plain);
    dw_abbrev(m, 1, 0x11, true, unit);
    dw_abbrev(m, 2, 0x2e, true, func);
    dw_abbrev(m, 3, 0x1d, true, func);
    wndl_buf_byte(&m->abbrev, 0);
}

static void put_chain_die(struct dwarfmake *m, uint8_t code, uint32_t origin)
{
    wndl_buf_byte(&m->info, code);
    if (code != 1)
        dw_uint(m, &m->info, origin, 4);
    dw_address(m, &m->info, 0x1000);
    wndl_buf_byte(&m->info, 0x10);
}

/* A unit of one function whose address is the expression `expr`, over 16
 * bytes; .debug_addr has 0x1000 at index 0 and 0xff0 at 1. */
static void make_expression(struct dwarfmake *m, const char *expr, size_t size)
{
    static const struct dwarf_recipe v5 = {5, 8, 4, false, false};
    static const uint16_t unit[] = {0x73, 0x17, 0x11, 0x01, 0x12, 0x0b, 0};
    static const uint16_t func[] = {0x03, 0x08, 0x11, 0x18, 0x12, 0x0b, 0};
    dwarfmake_init(m, &v5);
    dw_abbrev(m, 1, 0x11, true, unit);
    dw_abbrev(m, 2, 0x2e, false, func);
    wndl_buf_byte(&m->abbrev, 0);
    dw_uint(m, &m->addr, 20, 4);
    dw_uint(m, &m->addr, 5, 2);
    dw_uint(m, &m->addr, 8, 2);
    dw_uint(m, &m->addr, 0x1000, 8);
    dw_uint(m, &m->addr, 0xff0, 8);
    size_t begun = dw_begin_unit(m, 0);
    wndl_buf_byte(&m->info, 1);
    dw_uint(m, &m->info, 8, 4);
    dw_uint(m, &m->info, 0x1000, 8);
    wndl_buf_byte(&m->info, 0x10);
    wndl_buf_add(&m->info, "\2f", 3);
    wndl_buf_byte(&m->info, (uint8_t)size);
    wndl_buf_add(&m->info, expr, size);
    wndl_buf_add(&m->info, "\x10\0", 2);
    dw_end(m, &m->info, begun);
}

static void addresses_may_be_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *expr;
        size_t size;
    } good[] = {{"\xa1\0", 2}, {"\xa1\1\x08\x10\x22", 5},
        {"\xa1\1\x0a\x10\0\x22", 6}, {"\xa1\1\x0c\x10\0\0\0\x22", 8},
        {"\xa1\1\x10\x10\x22", 5}},
      bad[] = {{"", 0}, {"\xa1", 1}, {"\xa1\1\x0c\x10\x22", 5},
          {"\xa1\1\x08\x10", 4}, {"\xa1\1\x08\x10\x22\x22", 6},
          {"\x03\0\x10\0\0\0\0\0\0", 9}, {"\xa1\1\x08\x10\x1c", 5},
          {"\xa1\2", 2}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        static const char *const f[] = {"f||:0:0|function|1000", NULL};
        struct dwarfmake m;
        make_expression(&m, good[i].expr, good[i].size);
        struct wndl_dwarf *d = open_made(&m);
        check_frames(d, 0x1004, f);
        wndl_dwarf_close(d);
        dwarfmake_free(&m);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dwarfmake m;
        make_expression(&m, bad[i].expr, bad[i].size);
        struct wndl_dwarf_stats stats = stats_after(&m, 0x1004, WNDL_NOT_FOUND);
        assert_int_equal(stats.units_damaged, 1);
        dwarfmake_free(&m);
    }
}

static void a_circle_of_origins_is_damage(void **state)
{
    (void)state;
    struct dwarfmake m;
    begin_chain(&m);
    size_t begun = dw_begin_unit(&m, 0);
    put_chain_die(&m, 1, 0);
    put_chain_die(&m, 2, (uint32_t)m.info.size); /* refers to itself */
    wndl_buf_add(&m.info, "\0\0", 2);
    dw_end(&m, &m.info, begun);
    struct wndl_dwarf_stats stats = stats_after(&m, 0x1000, WNDL_NOT_FOUND);
    assert_int_equal(stats.units_damaged, 1);
    assert_non_null(strstr(stats.first_damage.what, "circle"));
    dwarfmake_free(&m);
}

/* 3,000 functions or calls in each other: what is outside stays. */
static void nesting_without_end_costs_the_innermost_calls_alone(void **state)
{
    (void)state;
    for (uint8_t code = 2; code <= 3; code++) {
        struct dwarfmake m;
        struct wndl_dwarf_frames frames;
        struct wndl_dwarf_stats stats;
        begin_chain(&m);
        size_t begun = dw_begin_unit(&m, 0);
        put_chain_die(&m, 1, 0);
        for (int i = 0; i < 3000; i++)
            put_chain_die(&m, i == 0 ? 2 : code, 12);
        dw_end(&m, &m.info, begun);
        struct wndl_dwarf *d = open_made(&m);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(
                wndl_dwarf_lookup(d, (wndl_svma){0x1000}, &frames, NULL),
                WNDL_OK);
            assert_int_equal(frames.count, code == 2 ? 1 : 1025);
        }
        wndl_dwarf_get_stats(d, &stats);
        assert_int_equal(stats.units_damaged, code == 2 ? 0 : 1);
        if (code == 3)
            assert_non_null(strstr(stats.first_damage.what, "too deep"));
        wndl_dwarf_close(d);
        dwarfmake_free(&m);
    }
}

/* Optimizers inline some hundred calls into each other. */
static void deep_calls_are_followed(void **state)
{
    enum { CALLS = 700 };
    (void)state;
    struct dwarfmake m;
    struct wndl_dwarf_frames frames;
    begin_chain(&m);
    size_t begun = dw_begin_unit(&m, 0);
    put_chain_die(&m, 1, 0);
    for (int i = 0; i <= CALLS; i++)
        put_chain_die(&m, i == 0 ? 2 : 3, 12);
    for (int i = 0; i < CALLS + 2; i++)
        wndl_buf_byte(&m.info, 0);
    dw_end(&m, &m.info, begun);
    struct wndl_dwarf *d = open_made(&m);
    assert_int_equal(
        wndl_dwarf_lookup(d, (wndl_svma){0x1000}, &frames, NULL), WNDL_OK);
    assert_int_equal(frames.count, CALLS + 1);
    wndl_dwarf_close(d);
    dwarfmake_free(&m);
}

static void open_tells_absent_from_malformed(void **state)
{
    (void)state;
    static const uint8_t cut[] = {0x10, 0, 0, 0, 5, 0};
    struct wndl_dwarf_sections in = {0};
    struct wndl_dwarf *d = NULL;
    struct wndl_error err;
    assert_int_equal(
        wndl_dwarf_open(&in, wndl_mem_libc(), &d, &err), WNDL_NOT_FOUND);
    in.info = (struct wndl_bytes){cut, sizeof cut};
    assert_int_equal(
        wndl_dwarf_open(&in, wndl_mem_libc(), &d, &err), WNDL_MALFORMED);
    assert_string_equal(err.section, ".debug_info");
    assert_int_equal(err.offset, 0);
}

/* ---- every byte missing, every allocation failing ---- */

enum { SECTIONS = 10 };

static struct wndl_bytes *section_of(struct wndl_dwarf_sections *in, int i)
{
    struct wndl_bytes *all[SECTIONS] = {&in->info, &in->abbrev, &in->line,
        &in->line_str, &in->str, &in->str_offsets, &in->addr, &in->ranges,
        &in->rnglists, &in->aranges};
    return all[i];
}

/* Everything that can be asked of the sample; statuses may be anything. */
static void ask_all(const struct wndl_dwarf_sections *in, struct wndl_mem *mem)
{
    struct wndl_dwarf *d;
    struct wndl_error err;
    if (wndl_dwarf_open(in, mem, &d, &err) != WNDL_OK)
        return;
    for (uint64_t a = 0xff8; a < 0x1158; a += 4)
        (void)!status_at(d, a);
    wndl_dwarf_close(d);
}

struct truncation {
    struct wndl_dwarf_sections in;
    int section;
};

static void ask_with_prefix(struct wndl_bytes prefix, void *context)
{
    const struct truncation *t = context;
    struct wndl_dwarf_sections in = t->in;
    *section_of(&in, t->section) = prefix;
    ask_all(&in, wndl_mem_libc());
}

static void truncation_of_any_section_is_survived(void **state)
{
    (void)state;
    for (unsigned version = 2; version <= 5; version++) {
        for (unsigned is_indexed = 0; is_indexed <= version / 5; is_indexed++) {
            struct dwarf_recipe how = {version, 8, 4, false, is_indexed != 0};
            struct dwarfmake m;
            dwarfmake_init(&m, &how);
            make_sample_dwarf(&m);
            add_aranges(&m, 0x1000, 0x150);
            struct truncation t = {dwarfmake_sections(&m), 0};
            for (t.section = 0; t.section < SECTIONS; t.section++)
                for_each_truncation(
                    *section_of(&t.in, t.section), ask_with_prefix, &t);
            dwarfmake_free(&m);
        }
    }
}

static void a_cut_unit_is_counted_as_damaged(void **state)
{
    (void)state;
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    make_sample_dwarf(&m);
    size_t whole = m.info.size;
    make_sample_dwarf(&m);
    m.info.size = whole + 20;
    struct wndl_dwarf_stats stats = stats_after(&m, 0x1014, WNDL_OK);
    assert_int_equal(stats.units, 1);
    assert_int_equal(stats.units_damaged, 1);
    assert_int_equal(stats.first_damage.offset, whole);
    dwarfmake_free(&m);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct dwarfmake m;
    struct failing_mem mem;
    dwarfmake_init(&m, &plain);
    make_sample_dwarf(&m);
    struct wndl_dwarf_sections in = dwarfmake_sections(&m);
    long budget = 0;
    enum wndl_status status = WNDL_NOMEM;
    for (; status == WNDL_NOMEM; budget++) {
        struct wndl_dwarf *d = NULL;
        failing_mem_init(&mem, budget);
        status = wndl_dwarf_open(&in, &mem.mem, &d, NULL);
        for (uint64_t a = 0x1000; a < 0x1150 && status == WNDL_OK; a += 4)
            status = status_at(d, a);
        if (status == WNDL_NOMEM && d != NULL) {
            mem.budget = -1;
            check_sample(d); /* memory is back: nothing was spoilt */
            check_sample_names(d);
        }
        wndl_dwarf_close(d);
        assert_int_equal(mem.live, 0);
    }
    assert_int_equal(status, WNDL_OK);
    assert_true(budget > 1);
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
        cmocka_unit_test(a_damaged_unit_is_lost_and_the_next_one_kept),
        cmocka_unit_test(an_unknown_form_loses_the_unit),
        cmocka_unit_test(a_damaged_line_program_costs_only_lines),
        cmocka_unit_test(a_version_we_do_not_read_is_skipped),
        cmocka_unit_test(an_address_size_of_two_is_damage),
        cmocka_unit_test(a_sibling_that_points_back_is_damage),
        cmocka_unit_test(addresses_may_be_expressions),
        cmocka_unit_test(a_circle_of_origins_is_damage),
        cmocka_unit_test(nesting_without_end_costs_the_innermost_calls_alone),
        cmocka_unit_test(deep_calls_are_followed),
        cmocka_unit_test(open_tells_absent_from_malformed),
        cmocka_unit_test(truncation_of_any_section_is_survived),
        cmocka_unit_test(a_cut_unit_is_counted_as_damaged),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
