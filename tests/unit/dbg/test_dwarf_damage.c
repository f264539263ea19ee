/* SPDX-License-Identifier: MIT */
/* DWARF that is damaged, cut, nested without end or of an odd form. */
#include "dwarf_fixture.h"

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
