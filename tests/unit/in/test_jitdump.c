/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "in/jitdump.h"
#include "jitmake.h"

static void put_load(struct jitmake *m)
{
    jitmake_load(m, 0x1000, 0x40, 7, "JS:*f x.js:2:1");
}

static void put_lines(struct jitmake *m)
{
    static const struct jitmake_line lines[] = {
        {0x1000, 2, "x.js"}, {0x1008, 3, "\xff"}, {0x1010, 4, ""}};
    jitmake_lines(m, 0x1000, lines, 3, 5);
}

static void put_others(struct jitmake *m)
{
    jitmake_begin(m, 4); /* unwinding information */
    jitmake_put(m, 0, 8);
    jitmake_finish(m);
    jitmake_begin(m, 77);
    jitmake_finish(m);
    jitmake_move(m, 0x3000, 0x40, 7);
    jitmake_begin(m, 3);
    jitmake_finish(m);
}

static void make(struct jitmake *m, bool big)
{
    jitmake_init(m, big, 4711);
    put_lines(m);
    put_load(m);
    put_others(m);
    assert_false(m->out.failed);
}

static void expect_lines(struct wndl_jitdump_record *r)
{
    static const char *const files[] = {"x.js", "x.js", ""};
    struct wndl_jitdump_line line = {0};
    assert_int_equal(r->kind, WNDL_JITDUMP_LINES);
    assert_true(r->start == 0x1000 && r->line_count == 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(wndl_jitdump_line(&r->lines, &line));
        assert_true(line.address == 0x1000 + 8 * i);
        assert_true(line.line == 2 + i && line.column == 5);
        assert_true(wndl_bytes_is(line.file, files[i]));
    }
    assert_int_equal(wndl_cursor_left(&r->lines), 5);
}

static void expect_all(struct wndl_bytes file)
{
    struct wndl_jitdump d;
    struct wndl_jitdump_record r;
    assert_int_equal(wndl_jitdump_open(&d, file, NULL), WNDL_OK);
    assert_int_equal(d.pid, 4711);
    assert_true(wndl_jitdump_next(&d, &r));
    expect_lines(&r);
    assert_true(wndl_jitdump_next(&d, &r));
    assert_int_equal(r.kind, WNDL_JITDUMP_LOAD);
    assert_true(r.start == 0x1000 && r.size == 0x40 && r.index == 7);
    assert_true(wndl_bytes_is(r.name, "JS:*f x.js:2:1"));
    assert_true(wndl_jitdump_next(&d, &r));
    assert_int_equal(r.kind, WNDL_JITDUMP_MOVE);
    assert_true(r.start == 0x3000 && r.size == 0x40 && r.index == 7);
    assert_true(wndl_jitdump_next(&d, &r));
    assert_int_equal(r.kind, WNDL_JITDUMP_CLOSE);
    assert_false(wndl_jitdump_next(&d, &r));
    assert_true(!d.cut && d.damaged == 0);
}

static void golden_is_read_in_both_byte_orders(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct jitmake m;
        make(&m, big);
        expect_all(jitmake_bytes(&m));
        wndl_buf_free(&m.out);
    }
}

static void what_is_no_jitdump_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint8_t value;
        enum wndl_status expected;
    } changes[] = {
        {0, 'X', WNDL_MALFORMED},
        {4, 2, WNDL_UNSUPPORTED},
        {8, 39, WNDL_MALFORMED},
        {10, 1, WNDL_MALFORMED},
    };
    struct wndl_jitdump d;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct jitmake m;
        make(&m, false);
        m.out.data[changes[i].offset] = changes[i].value;
        assert_int_equal(wndl_jitdump_open(&d, jitmake_bytes(&m), NULL),
            changes[i].expected);
        wndl_buf_free(&m.out);
    }
    assert_int_equal(
        wndl_jitdump_open(&d, (struct wndl_bytes){0}, NULL), WNDL_TRUNCATED);
}

static size_t count_records(struct wndl_bytes file, struct wndl_jitdump *d)
{
    struct wndl_jitdump_record r;
    size_t records = 0;
    assert_int_equal(wndl_jitdump_open(d, file, NULL), WNDL_OK);
    for (; wndl_jitdump_next(d, &r); records++) {
        struct wndl_jitdump_line line = {0};
        if (r.kind == WNDL_JITDUMP_LINES)
            for (uint64_t i = 0; i < r.line_count; i++)
                if (!wndl_jitdump_line(&r.lines, &line))
                    break;
    }
    return records;
}

static void damaged_record_is_passed_over_alone(void **state)
{
    (void)state;
    struct jitmake m;
    struct wndl_jitdump d;
    jitmake_init(&m, false, 4711);
    put_load(&m);
    size_t size_of_code = m.record + 16 + 8 + 8 + 8;
    put_lines(&m);
    put_others(&m);
    memset(m.out.data + size_of_code, 0xff, 8);
    assert_int_equal(count_records(jitmake_bytes(&m), &d), 3);
    assert_true(d.damaged == 1 && !d.cut);
    wndl_buf_free(&m.out);
}

static void impossible_number_of_lines_is_damage(void **state)
{
    (void)state;
    struct jitmake m;
    struct wndl_jitdump d;
    jitmake_init(&m, false, 4711);
    put_lines(&m);
    m.out.data[m.record + 16 + 8] = 5;
    put_load(&m);
    assert_int_equal(count_records(jitmake_bytes(&m), &d), 1);
    assert_int_equal(d.damaged, 1);
    wndl_buf_free(&m.out);
}

static void record_without_room_for_itself_ends_the_file(void **state)
{
    (void)state;
    struct jitmake m;
    struct wndl_jitdump d;
    make(&m, false);
    m.out.data[40 + 4] = 15;
    m.out.data[40 + 5] = 0;
    assert_int_equal(count_records(jitmake_bytes(&m), &d), 0);
    assert_true(d.cut);
    wndl_buf_free(&m.out);
}

static void parse(struct wndl_bytes prefix, void *context)
{
    size_t *most = context;
    struct wndl_jitdump d;
    if (prefix.size < 40) {
        assert_int_equal(wndl_jitdump_open(&d, prefix, NULL), WNDL_TRUNCATED);
        return;
    }
    size_t records = count_records(prefix, &d);
    assert_true(records >= *most && d.damaged == 0);
    *most = records;
}

static void a_dump_cut_anywhere_is_read_up_to_there(void **state)
{
    (void)state;
    struct jitmake m;
    size_t most = 0;
    make(&m, false);
    for_each_truncation(jitmake_bytes(&m), parse, &most);
    assert_int_equal(most, 3);
    wndl_buf_free(&m.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_is_read_in_both_byte_orders),
        cmocka_unit_test(what_is_no_jitdump_is_refused),
        cmocka_unit_test(damaged_record_is_passed_over_alone),
        cmocka_unit_test(impossible_number_of_lines_is_damage),
        cmocka_unit_test(record_without_room_for_itself_ends_the_file),
        cmocka_unit_test(a_dump_cut_anywhere_is_read_up_to_there),
    };
    return cmocka_run_group_tests_name("jitdump", tests, NULL, NULL);
}
