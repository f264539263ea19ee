/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "dbg/dwarf/dwarf.h"
#include "dwarfmake.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * A unit whose one function is a range list, so that a lookup tells whether
 * an address is in it. Address index 0 is 0x5000, 1 is 0x5010, 2 is gone.
 */
struct fixture {
    struct dwarfmake m;
    struct wndl_dwarf *d;
};

/* Functions "f", "g" and so on, whose range lists are at these offsets. */
static void put_functions(
    struct dwarfmake *m, const uint64_t *lists, size_t count)
{
    static const uint16_t unit[] = {0x73, 0x17, 0x11, 0x01, 0};
    static const uint16_t func[] = {0x03, 0x08, 0x55, 0x17, 0};
    dw_abbrev(m, 1, 0x11, true, unit);
    dw_abbrev(m, 2, 0x2e, false, func);
    wndl_buf_byte(&m->abbrev, 0);
    size_t begun = dw_begin_unit(m, 0);
    wndl_buf_byte(&m->info, 1);
    dw_offset(m, &m->info, 8);
    dw_address(m, &m->info, 0x1000);
    for (size_t i = 0; i < count; i++) {
        wndl_buf_byte(&m->info, 2);
        dw_string(&m->info, (const char[]){(char)('f' + i), '\0'});
        dw_offset(m, &m->info, lists[i]);
    }
    wndl_buf_byte(&m->info, 0);
    dw_end(m, &m->info, begun);
}

static void put_unit(struct dwarfmake *m)
{
    static const uint64_t list = 4;
    put_functions(m, &list, 1);
    dw_uint(m, &m->addr, 0, 8);
    dw_address(m, &m->addr, 0x5000);
    dw_address(m, &m->addr, 0x5010);
    dw_address(m, &m->addr, UINT64_MAX);
}

static struct wndl_buf *list_of(struct fixture *f)
{
    return f->m.how.version >= 5 ? &f->m.rnglists : &f->m.ranges;
}

static void begin(struct fixture *f, const struct dwarf_recipe *how)
{
    dwarfmake_init(&f->m, how);
    put_unit(&f->m);
    dw_uint(&f->m, list_of(f), 0, 4); /* the list is at offset 4 */
}

static void finish(struct fixture *f)
{
    struct wndl_error err;
    struct wndl_dwarf_sections in = dwarfmake_sections(&f->m);
    assert_int_equal(
        wndl_dwarf_open(&in, wndl_mem_libc(), &f->d, &err), WNDL_OK);
}

static void end(struct fixture *f)
{
    wndl_dwarf_close(f->d);
    dwarfmake_free(&f->m);
}

static bool covers(struct fixture *f, uint64_t address)
{
    struct wndl_dwarf_frames frames;
    return wndl_dwarf_lookup(f->d, (wndl_svma){address}, &frames, NULL) ==
           WNDL_OK;
}

/* Exactly [start, end). */
static void check_range(struct fixture *f, uint64_t start, uint64_t stop)
{
    assert_false(covers(f, start - 1));
    assert_true(covers(f, start));
    assert_true(covers(f, stop - 1));
    assert_false(covers(f, stop));
}

static const struct dwarf_recipe v4 = {4, 8, 4, false, false};
static const struct dwarf_recipe v5 = {5, 8, 4, false, false};

static void put_pair(struct fixture *f, uint64_t a, uint64_t b)
{
    dw_address(&f->m, &f->m.ranges, a);
    dw_address(&f->m, &f->m.ranges, b);
}

static void check_pairs(const struct dwarf_recipe *how)
{
    struct fixture f;
    uint64_t max = how->address_size == 4 ? UINT32_MAX : UINT64_MAX;
    begin(&f, how);
    put_pair(&f, 0x10, 0x20); /* from the unit's low_pc, 0x1000 */
    put_pair(&f, max, 0x3000);
    put_pair(&f, 0x8, 0x10);
    put_pair(&f, 0x20, 0x20); /* empty */
    put_pair(&f, max, 0);     /* base of dropped code */
    put_pair(&f, 0x4000, 0x4100);
    put_pair(&f, max, 1); /* the same by GNU ld */
    put_pair(&f, 0x4000, 0x4100);
    put_pair(&f, max - 1, max - 1); /* the same by lld */
    put_pair(&f, 0, 0);
    put_pair(&f, 0x6000, 0x6100); /* after the end */
    finish(&f);
    check_range(&f, 0x1010, 0x1020);
    check_range(&f, 0x3008, 0x3010);
    assert_false(covers(&f, 0x3020));
    assert_false(covers(&f, 0x4000));
    assert_false(covers(&f, 0x7000));
    end(&f);
}

static void pairs_follow_base_selection(void **state)
{
    (void)state;
    static const struct dwarf_recipe v4_be32 = {4, 4, 4, true, false};
    check_pairs(&v4);
    check_pairs(&v4_be32);
}

static void put(struct fixture *f, const char *bytes, size_t size)
{
    wndl_buf_add(&f->m.rnglists, bytes, size);
}

static void put_address(struct fixture *f, uint8_t kind, uint64_t address)
{
    wndl_buf_byte(&f->m.rnglists, kind);
    dw_address(&f->m, &f->m.rnglists, address);
}

static void every_kind_of_entry_is_read(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, &v5);
    put(&f, "\x04\x10\x20", 3); /* offset_pair from low_pc */
    put(&f, "\x01\x01", 2);     /* base_addressx 1: 0x5010 */
    put(&f, "\x04\x02\x04", 3);
    put(&f, "\x02\x00\x01", 3);    /* startx_endx: 0x5000, 0x5010 */
    put(&f, "\x03\x01\x01", 3);    /* startx_length: 0x5010, 1 */
    put_address(&f, 0x05, 0x7000); /* base_address */
    put(&f, "\x04\x00\x80\x01", 4);
    put_address(&f, 0x06, 0x8000); /* start_end */
    dw_address(&f.m, &f.m.rnglists, 0x8010);
    put_address(&f, 0x07, 0x9000); /* start_length */
    put(&f, "\x10", 1);
    put(&f, "\x00", 1);
    finish(&f);
    check_range(&f, 0x1010, 0x1020);
    check_range(&f, 0x5012, 0x5014);
    check_range(&f, 0x5000, 0x5011);
    check_range(&f, 0x7000, 0x7080);
    check_range(&f, 0x8000, 0x8010);
    check_range(&f, 0x9000, 0x9010);
    end(&f);
}

static void ranges_of_dropped_code_are_left_out(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, &v5);
    put(&f, "\x03\x02\x7f", 3); /* startx_length from a tombstone */
    put(&f, "\x01\x02", 2);     /* base there, so that pairs wrap to 0 up */
    put(&f, "\x04\x11\x40", 3);
    put_address(&f, 0x07, 0);
    put(&f, "\x40\x00", 2);
    finish(&f);
    for (uint64_t a = 0; a < 0x80; a += 8)
        assert_false(covers(&f, a));
    end(&f);
}

static void check_damage(const char *bytes, size_t size, const char *section)
{
    struct fixture f;
    struct wndl_dwarf_stats stats;
    begin(&f, &v5);
    put(&f, bytes, size);
    finish(&f);
    assert_false(covers(&f, 0x1010));
    wndl_dwarf_get_stats(f.d, &stats);
    assert_int_equal(stats.units_damaged, 1);
    assert_string_equal(stats.first_damage.section, section);
    end(&f);
}

static void damage_in_a_list_loses_the_unit(void **state)
{
    (void)state;
    check_damage("\x04\x10\x20", 3, ".debug_rnglists"); /* no end */
    check_damage("\x04\x10\x20\x04\x10", 5, ".debug_rnglists");
    check_damage("\x04\x10\x20\x08\x00", 5, ".debug_rnglists");
    check_damage("\x04\x10\x20\x01\x03\x00", 6, ".debug_addr");
}

static enum wndl_status print_function(
    void *context, const struct wndl_dwarf_function *function)
{
    char *text = context;
    size_t at = strlen(text);
    at += (size_t)sprintf(text + at, "%.*s", (int)function->name.size,
        (const char *)function->name.data);
    for (size_t i = 0; i < function->range_count; i++)
        at += (size_t)sprintf(text + at, " %" PRIx64 "-%" PRIx64,
            function->ranges[i].start.v, function->ranges[i].end.v);
    strcpy(text + at, "; ");
    return WNDL_OK;
}

static void functions_are_listed_with_all_their_ranges(void **state)
{
    (void)state;
    struct fixture f;
    char text[256] = "";
    size_t units;
    dwarfmake_init(&f.m, &v5);
    dw_uint(&f.m, &f.m.rnglists, 0, 4);
    put_functions(&f.m, (const uint64_t[]){4, 11}, 2);
    put(&f, "\x04\x40\x50\x04\x10\x20\x00", 7);
    /* The last two are adjacent, and one. */
    put(&f, "\x04\x20\x30\x04\x60\x70\x04\x70\x78\x00", 10);
    finish(&f);
    assert_int_equal(wndl_dwarf_unit_count(f.d, &units), WNDL_OK);
    assert_int_equal(units, 1);
    assert_int_equal(
        wndl_dwarf_visit_functions(f.d, 0, print_function, text), WNDL_OK);
    assert_string_equal(text, "f 1010-1020 1040-1050; g 1020-1030 1060-1078; ");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_follow_base_selection),
        cmocka_unit_test(every_kind_of_entry_is_read),
        cmocka_unit_test(ranges_of_dropped_code_are_left_out),
        cmocka_unit_test(damage_in_a_list_loses_the_unit),
        cmocka_unit_test(functions_are_listed_with_all_their_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
