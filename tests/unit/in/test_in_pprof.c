/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "graphtext.h"
#include "in/pprof.h"

#include <stdlib.h>
#include <zlib.h>

/*
 * Samples before what they refer to, lists packed and not; one without a
 * stack, one negative, one at no location, one with too few values; code
 * inlined and code without a name.
 */
static const uint8_t golden[] = {0x0a, 0x04, 0x08, 0x01, 0x10, 0x02, 0x0a, 0x04,
    0x08, 0x03, 0x10, 0x04, 0x12, 0x09, 0x08, 0x02, 0x08, 0x01, 0x10, 0x03,
    0x10, 0xb8, 0x17, 0x12, 0x09, 0x0a, 0x02, 0x03, 0x01, 0x12, 0x03, 0x01,
    0xe8, 0x07, 0x12, 0x04, 0x12, 0x02, 0x01, 0x0a, 0x12, 0x10, 0x0a, 0x01,
    0x01, 0x12, 0x0b, 0x01, 0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0x01, 0x12, 0x07, 0x0a, 0x01, 0x09, 0x12, 0x02, 0x01, 0x05, 0x12,
    0x06, 0x0a, 0x01, 0x01, 0x12, 0x01, 0x01, 0x1a, 0x11, 0x08, 0x01, 0x10,
    0x80, 0x80, 0x80, 0x02, 0x18, 0x80, 0x80, 0xc0, 0x02, 0x20, 0x80, 0x20,
    0x28, 0x05, 0x22, 0x0f, 0x08, 0x01, 0x10, 0x01, 0x18, 0x80, 0x82, 0x80,
    0x02, 0x22, 0x04, 0x08, 0x01, 0x10, 0x05, 0x22, 0x15, 0x08, 0x02, 0x10,
    0x01, 0x18, 0x80, 0x84, 0x80, 0x02, 0x22, 0x04, 0x08, 0x03, 0x10, 0x03,
    0x22, 0x04, 0x08, 0x02, 0x10, 0x07, 0x22, 0x09, 0x08, 0x03, 0x10, 0x01,
    0x18, 0xb4, 0xa4, 0x80, 0x02, 0x2a, 0x08, 0x08, 0x01, 0x10, 0x06, 0x20,
    0x07, 0x28, 0x01, 0x2a, 0x08, 0x08, 0x02, 0x10, 0x08, 0x20, 0x09, 0x28,
    0x01, 0x2a, 0x08, 0x08, 0x03, 0x10, 0x0a, 0x20, 0x0b, 0x28, 0x01, 0x32,
    0x00, 0x32, 0x07, 0x73, 0x61, 0x6d, 0x70, 0x6c, 0x65, 0x73, 0x32, 0x05,
    0x63, 0x6f, 0x75, 0x6e, 0x74, 0x32, 0x03, 0x63, 0x70, 0x75, 0x32, 0x0b,
    0x6e, 0x61, 0x6e, 0x6f, 0x73, 0x65, 0x63, 0x6f, 0x6e, 0x64, 0x73, 0x32,
    0x0c, 0x2f, 0x75, 0x73, 0x72, 0x2f, 0x62, 0x69, 0x6e, 0x2f, 0x61, 0x70,
    0x70, 0x32, 0x04, 0x6d, 0x61, 0x69, 0x6e, 0x32, 0x03, 0x6d, 0x2e, 0x63,
    0x32, 0x01, 0x66, 0x32, 0x03, 0x61, 0x2e, 0x63, 0x32, 0x01, 0x67, 0x32,
    0x03, 0x61, 0x2e, 0x68, 0x60, 0xe8, 0x07};

static struct wndl_bytes golden_bytes(void)
{
    return (struct wndl_bytes){golden, sizeof golden};
}

static const char expected[] = "events: samples cpu\n"
                               "summary: 5 4010\n"
                               "\nfl=(1) ???\n"
                               "fn=(1) [root]\n"
                               "cfi=(1)\n"
                               "cfn=(2) [no stack]\n"
                               "calls=1 0\n"
                               "0 1 10\n"
                               "cob=(1) /usr/bin/app\n"
                               "cfi=(2) m.c\n"
                               "cfn=(3) main\n"
                               "calls=4 0\n"
                               "0 4 4000\n"
                               "\nfl=(1)\n"
                               "fn=(2)\n"
                               "0 1 10\n"
                               "\nob=(1)\n"
                               "fl=(1)\n"
                               "fn=(4) app+0x2234\n"
                               "0 1 1000\n"
                               "\nfl=(3) a.c\n"
                               "fn=(5) f\n"
                               "cfi=(4) a.h\n"
                               "cfn=(6) g\n"
                               "calls=3 0\n"
                               "7 3 3000\n"
                               "\nfl=(4)\n"
                               "fn=(6)\n"
                               "3 3 3000\n"
                               "\nfl=(2)\n"
                               "fn=(3)\n"
                               "cfi=(1)\n"
                               "cfn=(4)\n"
                               "calls=1 0\n"
                               "5 1 1000\n"
                               "cfi=(3)\n"
                               "cfn=(5)\n"
                               "calls=3 0\n"
                               "5 3 3000\n"
                               "\ntotals: 5 4010\n";

static const struct wndl_damage damage = {
    3, 42, "a sample of a negative value"};

/* The bytes by gzip, to be freed. */
static struct wndl_bytes zipped(struct wndl_bytes bytes)
{
    enum { ROOM = 4096, GZIP_ALONE = 16 };
    uint8_t *out = malloc(ROOM);
    z_stream z = {0};
    assert_non_null(out);
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + GZIP_ALONE, 8,
                         Z_DEFAULT_STRATEGY),
        Z_OK);
    z.next_in = (z_const Bytef *)bytes.data;
    z.avail_in = (uInt)bytes.size;
    z.next_out = out;
    z.avail_out = ROOM;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&z), Z_OK);
    return (struct wndl_bytes){out, ROOM - z.avail_out};
}

static void samples_are_read(void **state)
{
    (void)state;
    assert_true(wndl_pprof_is(golden_bytes()));
    assert_graph_read(wndl_pprof_read, golden_bytes(), expected, &damage);
}

static void compressed_ones_are_the_same(void **state)
{
    (void)state;
    struct wndl_bytes file = zipped(golden_bytes());
    assert_true(wndl_pprof_is(file));
    assert_graph_read(wndl_pprof_read, file, expected, &damage);
    free((void *)file.data);
}

static void file_cut_anywhere_is_read_or_refused(void **state)
{
    (void)state;
    assert_graph_cut(wndl_pprof_read, golden_bytes(), 7);
    struct wndl_bytes file = zipped(golden_bytes());
    assert_graph_cut(wndl_pprof_read, file, 3);
    free((void *)file.data);
}

static void refuse(
    struct wndl_bytes file, enum wndl_status status, uint64_t offset)
{
    struct wndl_callgraph g;
    struct wndl_damage found = {0};
    struct wndl_error err = {0};
    assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
    assert_int_equal(wndl_pprof_read(&g, file, &found, &err), status);
    assert_true(err.offset == offset);
    wndl_callgraph_free(&g);
}

static void damaged_compression_is_told_of_with_its_place(void **state)
{
    (void)state;
    struct wndl_bytes file = zipped(golden_bytes());
    refuse((struct wndl_bytes){file.data, file.size - 3}, WNDL_TRUNCATED,
        file.size - 3);
    ((uint8_t *)file.data)[file.size - 6] ^= 1;
    refuse(file, WNDL_MALFORMED, file.size - 4);
    free((void *)file.data);
}

static void text_is_no_profile(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "\n", "\nabc", "\n\n1", "main;f 1\n", "\n\x02\x08", "{\"a\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(wndl_pprof_is(
            (struct wndl_bytes){(const uint8_t *)texts[i], strlen(texts[i])}));
    refuse((struct wndl_bytes){0}, WNDL_MALFORMED, 0);
}

/* The second one's indices are of its own strings. */
static void concatenated_profiles_are_added_up(void **state)
{
    (void)state;
    static uint8_t two[2 * sizeof golden];
    struct wndl_callgraph g;
    struct wndl_damage skipped = {0};
    struct wndl_error err = {0};
    memcpy(two, golden, sizeof golden);
    memcpy(two + sizeof golden, golden, sizeof golden);
    assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
    assert_int_equal(wndl_pprof_read(&g, (struct wndl_bytes){two, sizeof two},
                         &skipped, &err),
        WNDL_OK);
    assert_int_equal(g.events.len, 2);
    assert_int_equal(wndl_callgraph_costs(&g.through, 0)[0], 10);
    assert_int_equal(wndl_callgraph_costs(&g.through, 0)[1], 8020);
    assert_int_equal(skipped.count, 6);
    wndl_callgraph_free(&g);
    assert_graph_cut(
        wndl_pprof_read, (struct wndl_bytes){two, sizeof two}, sizeof two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concatenated_profiles_are_added_up),
        cmocka_unit_test(samples_are_read),
        cmocka_unit_test(compressed_ones_are_the_same),
        cmocka_unit_test(file_cut_anywhere_is_read_or_refused),
        cmocka_unit_test(damaged_compression_is_told_of_with_its_place),
        cmocka_unit_test(text_is_no_profile),
    };
    return cmocka_run_group_tests_name("in_pprof", tests, NULL, NULL);
}
