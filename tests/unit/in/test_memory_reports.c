/* SPDX-License-Identifier: MIT */
/* in/memory_reports.h: whole files, cut ones, and every byte damaged. */
#include "in/memory_reports.h"

#include "testlib.h"

#include <string.h>
#include <zlib.h>

static const char sample[] =
    "{\"version\":1,\"hasMozMallocUsableSize\":true,\"reports\":[\n"
    "{\"process\":\"app (pid 7)\",\"path\":\"explicit/a\\u002fb\",\"kind\":1,"
    "\"units\":0,\"amount\":-12,\"description\":\"A.\",\"estimated\":true,"
    "\"private\":2},\n"
    "{\"running\":\"slow\"},\n"
    "{\"missing\":\"lost\",\"why\":\"it threw\"},\n"
    "{\"path\":\"hits\",\"kind\":2,\"units\":3,"
    "\"amount\":9223372036854775807,\"description\":\"\",\"more\":[{}]}\n"
    "],\"other\":{\"a\":[1,null]}}\n";

static enum wndl_status read_bytes(
    struct wndl_memory_reports *reports, const void *data, size_t size)
{
    struct wndl_error err = {0};
    assert_true(wndl_memory_reports_init(reports, wndl_mem_libc()));
    return wndl_memory_reports_read(
        reports, "", (struct wndl_bytes){data, size}, &err);
}

static enum wndl_status status_of(const char *text)
{
    struct wndl_memory_reports reports;
    const enum wndl_status status = read_bytes(&reports, text, strlen(text));
    wndl_memory_reports_free(&reports);
    return status;
}

static void assert_text(struct wndl_bytes text, const char *expected)
{
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
}

static void reads_every_member(void **state)
{
    (void)state;
    struct wndl_memory_reports reports;
    assert_int_equal(read_bytes(&reports, sample, strlen(sample)), WNDL_OK);
    assert_int_equal(reports.rows.len, 2);
    const struct wndl_reported *row = wndl_vec_at(&reports.rows, 0);
    assert_text(row->path, "explicit/a/b");
    assert_text(row->description, "A.");
    assert_text(
        wndl_intern_get(&reports.processes, row->process), "app (pid 7)");
    assert_int_equal(row->kind, WNDL_REPORTED_HEAP);
    assert_int_equal(row->unit, WNDL_REPORTED_BYTES);
    assert_int_equal(row->amount, -12);
    assert_true(row->is_estimated);
    assert_int_equal(row->private_parts, 2);
    row = wndl_vec_at(&reports.rows, 1);
    assert_int_equal(row->process, 0);
    assert_int_equal(row->unit, WNDL_REPORTED_PERCENTAGE);
    assert_true(row->amount == INT64_MAX);
    assert_false(row->is_estimated);
    assert_text(reports.running, "slow");
    const struct wndl_unreported *lost = wndl_vec_at(&reports.missing, 0);
    assert_text(lost->reporter, "lost");
    assert_text(lost->why, "it threw");
    wndl_memory_reports_free(&reports);
}

static void refuses_what_it_cannot_read(void **state)
{
    (void)state;
#define REPORT "{\"version\":1,\"reports\":[{\"path\":\"a\",\"kind\":0,"
    assert_int_equal(
        status_of("{\"version\":2,\"reports\":[]}"), WNDL_UNSUPPORTED);
    assert_int_equal(status_of("{\"reports\":[]}"), WNDL_MALFORMED);
    assert_int_equal(status_of("{\"version\":1}"), WNDL_MALFORMED);
    assert_int_equal(status_of("[]"), WNDL_MALFORMED);
    assert_int_equal(
        status_of("{\"version\":1,\"reports\":[]} x"), WNDL_MALFORMED);
    assert_int_equal(status_of("{\"version\":1,\"reports\":[],\"reports\":[]}"),
        WNDL_MALFORMED);
    assert_int_equal(
        status_of(REPORT "\"units\":4,\"amount\":1}]}"), WNDL_UNSUPPORTED);
    assert_int_equal(
        status_of(REPORT "\"units\":0,\"amount\":- 1}]}"), WNDL_MALFORMED);
    assert_int_equal(
        status_of(REPORT "\"units\":0,\"amount\":1.5}]}"), WNDL_MALFORMED);
    assert_int_equal(
        status_of(REPORT "\"units\":0,\"amount\":9223372036854775808}]}"),
        WNDL_MALFORMED);
    assert_int_equal(
        status_of(REPORT "\"units\":0,\"amount\":-9223372036854775808}]}"),
        WNDL_OK);
    assert_int_equal(status_of(REPORT "\"units\":0}]}"), WNDL_MALFORMED);
    assert_int_equal(
        status_of(REPORT "\"units\":0,\"amount\":1,\"estimated\":trues}]}"),
        WNDL_MALFORMED);
    assert_int_equal(
        status_of(REPORT "\"units\":0,\"amount\":1,\"estimated\":1}]}"),
        WNDL_MALFORMED);
    assert_int_equal(
        status_of(REPORT "\"units\":0,\"amount\":1,\"private\":2147483648}]}"),
        WNDL_MALFORMED);
#undef REPORT
}

static void refuses_every_cut(void **state)
{
    (void)state;
    for (size_t size = 0; size + 1 < strlen(sample); size++) {
        struct wndl_memory_reports reports;
        assert_int_not_equal(read_bytes(&reports, sample, size), WNDL_OK);
        wndl_memory_reports_free(&reports);
    }
}

/* Damage is found, or it changes a text or a number and nothing else. */
static void survives_damage_of_every_byte(void **state)
{
    (void)state;
    static const char others[] = {'\0', '"', '\\', '{', ']', ',', '9', '\xff'};
    char copy[sizeof sample];
    for (size_t at = 0; at < strlen(sample); at++) {
        for (size_t i = 0; i < sizeof others; i++) {
            struct wndl_memory_reports reports;
            memcpy(copy, sample, sizeof sample);
            copy[at] = others[i];
            if (read_bytes(&reports, copy, strlen(sample)) == WNDL_OK)
                assert_int_equal(reports.rows.len, 2);
            wndl_memory_reports_free(&reports);
        }
    }
}

static size_t zip(unsigned char *to, size_t room)
{
    z_stream z = {0};
    assert_int_equal(
        deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
        Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)sample;
    z.avail_in = (uInt)strlen(sample);
    z.next_out = to;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static void reads_gzip_and_finds_its_damage(void **state)
{
    (void)state;
    unsigned char zipped[1024];
    const size_t size = zip(zipped, sizeof zipped);
    struct wndl_memory_reports reports;
    assert_int_equal(read_bytes(&reports, zipped, size), WNDL_OK);
    assert_int_equal(reports.rows.len, 2);
    wndl_memory_reports_free(&reports);
    for (size_t at = 0; at < size; at++) {
        const bool is_head = at >= 4 && at < 10; /* time, level, system */
        assert_int_not_equal(read_bytes(&reports, zipped, at), WNDL_OK);
        wndl_memory_reports_free(&reports);
        zipped[at] ^= 0x55;
        const enum wndl_status status = read_bytes(&reports, zipped, size);
        assert_true(is_head || status != WNDL_OK);
        wndl_memory_reports_free(&reports);
        zipped[at] ^= 0x55;
    }
}

static void fails_without_memory(void **state)
{
    (void)state;
    for (long budget = 0; budget < 10000; budget++) {
        struct failing_mem mem;
        failing_mem_init(&mem, budget);
        struct wndl_memory_reports reports;
        struct wndl_error err = {0};
        enum wndl_status status = WNDL_NOMEM;
        if (wndl_memory_reports_init(&reports, &mem.mem))
            status = wndl_memory_reports_read(&reports, "",
                (struct wndl_bytes){(const uint8_t *)sample, strlen(sample)},
                &err);
        wndl_memory_reports_free(&reports);
        if (status == WNDL_OK)
            return;
        assert_int_equal(status, WNDL_NOMEM);
    }
    fail_msg("it never succeeds");
}

/* ---- several, one after the other */

static const char two[] =
    "{\"version\":1,\"time\":1000,\"reports\":[{\"path\":\"a\",\"kind\":1,"
    "\"units\":0,\"amount\":1}]}\n"
    "{\"version\":1,\"time\":2000,\"reports\":[]}\n";

/* Reads the first `size` bytes of them. Returns how many there are. */
static size_t read_two(size_t size, enum wndl_status *status, uint64_t times[2])
{
    struct wndl_arena arena;
    struct wndl_vec series;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&series, &arena, sizeof(struct wndl_memory_reports *));
    *status = wndl_memory_series_read(
        &series, &arena, (struct wndl_bytes){(const uint8_t *)two, size}, NULL);
    struct wndl_memory_reports **all = series.data;
    const size_t count = series.len;
    for (size_t i = 0; i < count && i < 2; i++)
        times[i] = all[i]->time;
    wndl_memory_series_free(&series);
    wndl_arena_free(&arena);
    return count;
}

static void reads_a_series_and_its_times(void **state)
{
    (void)state;
    enum wndl_status status;
    uint64_t times[2] = {0};
    assert_int_equal(read_two(sizeof two - 1, &status, times), 2);
    assert_int_equal(status, WNDL_OK);
    assert_int_equal(times[0], 1000);
    assert_int_equal(times[1], 2000);
}

/* Whole are the cuts after each object, before or after its newline. */
static void a_cut_series_says_so(void **state)
{
    (void)state;
    const size_t first = (size_t)(strchr(two, '\n') - two);
    for (size_t size = 0; size < sizeof two - 1; size++) {
        enum wndl_status status;
        uint64_t times[2];
        const bool is_whole =
            size == first || size == first + 1 || size == sizeof two - 2;
        const size_t count = read_two(size, &status, times);
        assert_int_equal(status, is_whole ? WNDL_OK : WNDL_TRUNCATED);
        assert_int_equal(count, size > first + 1 ? 2 : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_member),
        cmocka_unit_test(refuses_what_it_cannot_read),
        cmocka_unit_test(refuses_every_cut),
        cmocka_unit_test(survives_damage_of_every_byte),
        cmocka_unit_test(reads_gzip_and_finds_its_damage),
        cmocka_unit_test(fails_without_memory),
        cmocka_unit_test(reads_a_series_and_its_times),
        cmocka_unit_test(a_cut_series_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
