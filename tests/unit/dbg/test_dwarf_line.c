/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "dbg/dwarf/dwarf.h"
#include "dwarfmake.h"

#include <stdio.h>

/* A unit over [0x1000, 0x2000) with nothing but a line program. */
struct fixture {
    struct dwarfmake m;
    struct dw_line line;
    struct wndl_dwarf *d;
};

static void put_unit(struct dwarfmake *m)
{
    static const uint16_t unit[] = {
        0x10, 0x06, 0x1b, 0x08, 0x11, 0x01, 0x12, 0x05, 0};
    dw_abbrev(m, 1, 0x11, false, unit);
    wndl_buf_byte(&m->abbrev, 0);
    size_t begun = dw_begin_unit(m, 0);
    wndl_buf_byte(&m->info, 1);
    dw_uint(m, &m->info, 0, 4);
    dw_string(&m->info, "/src");
    dw_address(m, &m->info, 0x1000);
    dw_uint(m, &m->info, 0x1000, 2);
    dw_end(m, &m->info, begun);
}

/* Up to the tables, which the test writes. */
static void begin_tables(struct fixture *f, unsigned version, unsigned max_ops)
{
    struct dwarf_recipe how = {version, 8, 4, false, false};
    dwarfmake_init(&f->m, &how);
    put_unit(&f->m);
    f->line = dw_begin_line(&f->m, max_ops);
    f->d = NULL;
}

/* Up to the program, which the test writes. */
static void begin(struct fixture *f, unsigned version)
{
    begin_tables(f, version, 1);
    dw_sample_files(&f->m);
    dw_begin_program(&f->m, &f->line);
}

static void finish(struct fixture *f)
{
    struct wndl_error err;
    dw_end_line(&f->m, &f->line);
    struct wndl_dwarf_sections in = dwarfmake_sections(&f->m);
    assert_int_equal(
        wndl_dwarf_open(&in, wndl_mem_libc(), &f->d, &err), WNDL_OK);
}

static void end(struct fixture *f)
{
    wndl_dwarf_close(f->d);
    dwarfmake_free(&f->m);
}

static void put(struct fixture *f, const char *bytes, size_t size)
{
    wndl_buf_add(&f->m.line, bytes, size);
}

/* "file:line:column", or "none". */
static void check(struct fixture *f, uint64_t address, const char *expected)
{
    struct wndl_dwarf_frames frames;
    char text[128] = "none";
    if (wndl_dwarf_lookup(f->d, (wndl_svma){address}, &frames, NULL) ==
        WNDL_OK) {
        assert_int_equal(frames.count, 1);
        snprintf(text, sizeof text, "%s:%u:%u",
            (const char *)frames.frames[0].file.data, frames.frames[0].line,
            frames.frames[0].column);
    }
    assert_string_equal(text, expected);
}

static uint32_t damaged_units(const struct fixture *f)
{
    struct wndl_dwarf_stats stats;
    wndl_dwarf_get_stats(f->d, &stats);
    return stats.units_damaged;
}

/* Bytes as GCC writes them: special opcodes, const_add_pc, advances. */
static void program_of_all_standard_opcodes(void **state)
{
    (void)state;
    for (unsigned version = 2; version <= 5; version++) {
        struct fixture f;
        begin(&f, version);
        dw_set_address(&f.m, 0x1000);
        put(&f, "\x05\x03\x03\x09\x01", 5); /* column 3, line 10, copy */
        put(&f, "\x4b", 1);                 /* special 75: +5 bytes, -1 line */
        put(&f, "\x08\x10", 2);     /* const_add_pc +20, special 16: +0, +0 */
        put(&f, "\x02\x90\x01", 3); /* advance_pc 144 */
        put(&f, "\x06\x07\x0a\x0b\x0c\x05", 6); /* flags, isa 5 */
        put(&f, "\x04\x02\x11", 3); /* file 2, special 17: +1 line */
        put(&f, "\x09\x00\x01", 3); /* fixed_advance_pc 256 */
        put(&f, "\x03\x7e\x01", 3); /* line -2, copy */
        put(&f, "\x02\x10\x00\x01\x01", 5);
        finish(&f);
        check(&f, 0x0fff, "none");
        check(&f, 0x1000, "/src/a.c:10:3");
        check(&f, 0x1004, "/src/a.c:10:3");
        check(&f, 0x1005, "/src/a.c:9:3");
        check(&f, 0x10a8, "/src/a.c:9:3");
        check(&f, 0x10a9, "/src/inc/b.h:10:3");
        check(&f, 0x11a9, "/src/inc/b.h:8:3");
        check(&f, 0x11b8, "/src/inc/b.h:8:3");
        check(&f, 0x11b9, "none");
        assert_int_equal(damaged_units(&f), 0);
        end(&f);
    }
}

static void vliw_advances_by_operations(void **state)
{
    (void)state;
    struct fixture f;
    begin_tables(&f, 4, 3);
    dw_sample_files(&f.m);
    dw_begin_program(&f.m, &f.line);
    dw_set_address(&f.m, 0x1000);
    put(&f, "\x01", 1);
    put(&f, "\x02\x02\x03\x01\x01", 5); /* 2 operations: still 0x1000 */
    put(&f, "\x02\x02\x03\x01\x01", 5); /* 4: 0x1001, operation 1 */
    put(&f, "\x02\x05\x03\x01\x01", 5); /* 9: 0x1003, operation 0 */
    put(&f, "\x02\x03\x00\x01\x01", 5);
    finish(&f);
    check(&f, 0x1000, "/src/a.c:2:0");
    check(&f, 0x1001, "/src/a.c:3:0");
    check(&f, 0x1003, "/src/a.c:4:0");
    check(&f, 0x1004, "none");
    end(&f);
}

static void last_row_of_an_address_counts(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 5);
    dw_row(&f.m, 0x1000, 1, 5, 1);
    dw_row(&f.m, 0x1000, 1, 6, 1);
    dw_row(&f.m, 0x1000, 1, 7, 2);
    dw_row(&f.m, 0x1010, 1, 7, 2);
    dw_row(&f.m, 0x1010, 1, 8, 1);
    dw_end_sequence(&f.m, 0x1020);
    finish(&f);
    check(&f, 0x1000, "/src/a.c:7:2");
    check(&f, 0x100f, "/src/a.c:7:2");
    check(&f, 0x1010, "/src/a.c:8:1");
    end(&f);
}

/* Row i is at 0x1000 + 2 * i and says line 10 + i; between some rows there are
 * many opcodes that change no row, and discriminators. */
static void long_programs_are_entered_in_the_middle(void **state)
{
    (void)state;
    enum { ROWS = 700 };
    for (unsigned max_ops = 1; max_ops <= 2; max_ops++) {
        struct fixture f;
        begin_tables(&f, 4, max_ops);
        dw_sample_files(&f.m);
        dw_begin_program(&f.m, &f.line);
        dw_set_address(&f.m, 0x1000);
        put(&f, "\x03\x09\x01", 3); /* line 10, copy */
        for (unsigned i = 1; i < ROWS; i++) {
            for (unsigned k = i % 100 == 0 ? 300 : 0; k > 0; k--)
                put(&f, "\x03\x05\x03\x7b", 4); /* line +5, -5 */
            if (i % 3 == 0)
                put(&f, "\x00\x02\x04\x05", 4); /* discriminator 5 */
            put(&f, max_ops == 1 ? "\x02\x02" : "\x02\x04", 2);
            put(&f, "\x03\x01\x01", 3); /* line +1, copy */
        }
        put(&f, max_ops == 1 ? "\x02\x02" : "\x02\x04", 2);
        put(&f, "\x00\x01\x01", 3);
        finish(&f);
        for (unsigned i = 0; i < 2 * ROWS; i++) {
            char expected[32];
            snprintf(expected, sizeof expected, "/src/a.c:%u:0", 10 + i / 2);
            check(&f, 0x1000 + i, expected);
        }
        check(&f, 0x1000 + 2 * ROWS, "none");
        assert_int_equal(damaged_units(&f), 0);
        end(&f);
    }
}

static void sequences_are_found_in_any_order(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 4);
    dw_row(&f.m, 0x1800, 1, 3, 0);
    dw_end_sequence(&f.m, 0x1810);
    dw_row(&f.m, 0x1000, 1, 1, 0);
    dw_end_sequence(&f.m, 0x1010);
    dw_row(&f.m, 0x1010, 1, 2, 0);
    dw_end_sequence(&f.m, 0x1020);
    dw_row(&f.m, 0x1100, 1, 9, 0);
    dw_end_sequence(&f.m, 0x1100); /* of no bytes */
    finish(&f);
    check(&f, 0x100f, "/src/a.c:1:0");
    check(&f, 0x1010, "/src/a.c:2:0");
    check(&f, 0x1020, "none");
    check(&f, 0x1100, "none");
    check(&f, 0x180f, "/src/a.c:3:0");
    check(&f, 0x1810, "none");
    end(&f);
}

/* A dropped function of 8 KiB would hide what is really at 0x1000. */
static void sequences_of_dropped_code_are_left_out(void **state)
{
    (void)state;
    static const uint64_t gone[] = {0, UINT64_MAX, UINT64_MAX - 1};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        struct fixture f;
        begin(&f, 5);
        dw_row(&f.m, gone[i], 1, 66, 0);
        dw_end_sequence(&f.m, gone[i] + 0x2000);
        dw_row(&f.m, 0x1000, 1, 1, 0);
        dw_end_sequence(&f.m, 0x1010);
        finish(&f);
        check(&f, 0x1000, "/src/a.c:1:0");
        check(&f, 0x1010, "none");
        assert_int_equal(damaged_units(&f), 0);
        end(&f);
    }
}

static void addresses_that_fall_begin_a_new_sequence(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 4);
    dw_row(&f.m, 0x1100, 1, 1, 0);
    dw_row(&f.m, 0x1110, 1, 2, 0);
    dw_row(&f.m, 0x1000, 1, 3, 0);
    dw_end_sequence(&f.m, 0x1010);
    finish(&f);
    check(&f, 0x1100, "/src/a.c:1:0");
    check(&f, 0x1110, "none");
    check(&f, 0x1008, "/src/a.c:3:0");
    end(&f);
}

static void define_file_adds_to_the_table(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 3);
    put(&f, "\x00\x09\x03/x.c\x00\x00\x00\x00", 11);
    dw_row(&f.m, 0x1000, 3, 1, 0);
    dw_end_sequence(&f.m, 0x1010);
    finish(&f);
    check(&f, 0x1000, "/x.c:1:0");
    end(&f);
}

static void unknown_opcodes_are_stepped_over(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 5);
    f.m.line.data[f.line.tables - 1] = 2; /* isa now takes two operands */
    dw_set_address(&f.m, 0x1000);
    put(&f, "\x0c\x81\x01\x02", 4);
    put(&f, "\x00\x04\x80\x01\x02\x03", 6); /* DW_LNE_lo_user */
    put(&f, "\x00\x02\x04\x07", 4);         /* discriminator */
    put(&f, "\x01\x02\x10\x00\x01\x01", 6);
    finish(&f);
    check(&f, 0x1000, "/src/a.c:1:0");
    assert_int_equal(damaged_units(&f), 0);
    end(&f);
}

/* Tables as clang writes them: strings elsewhere, MD5 sums of 16 bytes. */
static void version_5_entries_may_have_any_form(void **state)
{
    (void)state;
    static const uint8_t dirs[] = {1, 1, 0x1f, 1, 0, 0, 0, 0};
    static const uint8_t formats[] = {4, 1, 0x0e, 5, 0x1e, 2, 0x0f, 4, 0x06, 1};
    struct fixture f;
    begin_tables(&f, 5, 1);
    dw_string(&f.m.line_str, "/there");
    dw_string(&f.m.str, "no.c");
    dw_string(&f.m.str, "z.c");
    put(&f, (const char *)dirs, sizeof dirs);
    put(&f, (const char *)formats, sizeof formats);
    put(&f, "\x05\0\0\0", 4);
    put(&f, "0123456789abcdef", 16);
    put(&f, "\0\x11\x22\x33\x44", 5);
    dw_begin_program(&f.m, &f.line);
    dw_row(&f.m, 0x1000, 0, 7, 0);
    dw_row(&f.m, 0x1004, 1, 8, 0);
    dw_end_sequence(&f.m, 0x1010);
    finish(&f);
    check(&f, 0x1000, "/there/z.c:7:0");
    check(&f, 0x1004, ":8:0"); /* no such file */
    end(&f);
}

/* It is the compilation directory itself, however it is spelt. */
static void directory_0_of_version_5_is_not_joined_to_another(void **state)
{
    (void)state;
    static const char tables[] =
        "\1\1\x08\2.\0inc\0\2\1\x08\2\x0b\2a.c\0\0b.h\0\1";
    struct fixture f;
    begin_tables(&f, 5, 1);
    put(&f, tables, sizeof tables - 1);
    dw_begin_program(&f.m, &f.line);
    dw_row(&f.m, 0x1000, 0, 1, 0);
    dw_row(&f.m, 0x1004, 1, 2, 0);
    dw_end_sequence(&f.m, 0x1010);
    finish(&f);
    check(&f, 0x1000, "./a.c:1:0");
    check(&f, 0x1004, "/src/inc/b.h:2:0");
    end(&f);
}

static void check_damage(const char *bytes, size_t size)
{
    struct fixture f;
    begin(&f, 5);
    dw_row(&f.m, 0x1000, 1, 1, 0);
    dw_end_sequence(&f.m, 0x1010);
    put(&f, bytes, size);
    finish(&f);
    check(&f, 0x1000, "none");
    assert_int_equal(damaged_units(&f), 1);
    end(&f);
}

static void a_damaged_program_gives_no_rows(void **state)
{
    (void)state;
    check_damage("\x02", 1);         /* operand is missing */
    check_damage("\x00\x00", 2);     /* extended opcode of no bytes */
    check_damage("\x00\x7f\x01", 3); /* longer than the program */
    check_damage("\x00\x0a\x02"
                 "123456789",
        12);                         /* address of 9 bytes */
    check_damage("\x00\x01\x02", 3); /* of none */
    check_damage("\x01", 1);         /* no end of sequence */
}

static void line_range_of_zero_is_damage(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 5);
    f.m.line.data[f.line.tables - 14] = 0;
    put(&f, "\x4b\x00\x01\x01", 4);
    finish(&f);
    check(&f, 0x1000, "none");
    assert_int_equal(damaged_units(&f), 1);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_of_all_standard_opcodes),
        cmocka_unit_test(vliw_advances_by_operations),
        cmocka_unit_test(last_row_of_an_address_counts),
        cmocka_unit_test(long_programs_are_entered_in_the_middle),
        cmocka_unit_test(sequences_are_found_in_any_order),
        cmocka_unit_test(sequences_of_dropped_code_are_left_out),
        cmocka_unit_test(addresses_that_fall_begin_a_new_sequence),
        cmocka_unit_test(define_file_adds_to_the_table),
        cmocka_unit_test(unknown_opcodes_are_stepped_over),
        cmocka_unit_test(version_5_entries_may_have_any_form),
        cmocka_unit_test(directory_0_of_version_5_is_not_joined_to_another),
        cmocka_unit_test(a_damaged_program_gives_no_rows),
        cmocka_unit_test(line_range_of_zero_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
