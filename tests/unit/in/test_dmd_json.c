/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "in/dmd_json.h"

#include <stdlib.h>
#include <zlib.h>

static const char golden[] =
    "{\n \"version\": 5,\n"
    " \"invocation\": {\"dmdEnvVar\": \"--mode=\\u0064ark\",\n"
    "  \"mode\": \"dark-matter\", \"more\": [1, {\"a\": \"]\"}]},\n"
    " \"blockList\": [\n"
    "  {\"req\": 24, \"slop\": 8, \"alloc\": \"A\", \"num\": 3},\n"
    "  {\"req\": 24, \"slop\": 8, \"alloc\": \"A\"},\n"
    "  {\"req\": 0, \"reps\": [\"B\", \"C\"]},\n"
    "  {\"req\": 9, \"alloc\": \"B\", \"reps\": [\"Zz\"],"
    " \"addr\": \"7f00\", \"contents\": [\"0\", \"1\"]}\n"
    " ],\n"
    " \"traceTable\": {\"A\": [\"F\", \"G\"], \"B\": [\"G\"], \"C\": []},\n"
    " \"frameTable\": {\"F\": \"#00: f (a \\\"b\\\".c:1)\"},\n"
    " \"later\": null\n}\n";

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

/* In memory of malloc. */
static struct wndl_bytes compressed(struct wndl_bytes from)
{
    enum { GZIP = 16 };
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + GZIP, 8,
                         Z_DEFAULT_STRATEGY),
        Z_OK);
    size_t room = deflateBound(&z, from.size);
    uint8_t *data = malloc(room);
    assert_non_null(data);
    z.next_in = (z_const Bytef *)from.data;
    z.avail_in = (uInt)from.size;
    z.next_out = data;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return (struct wndl_bytes){data, room - z.avail_out};
}

static void check_golden(struct wndl_bytes file)
{
    struct wndl_dmd_file dmd;
    struct wndl_error err = {0};
    assert_int_equal(
        wndl_dmd_json_read(file, wndl_mem_libc(), &dmd, &err), WNDL_OK);
    assert_int_equal(dmd.mode, WNDL_HEAP_MODE_DARK_MATTER);
    assert_true(dmd.has_env && wndl_bytes_is(dmd.env, "--mode=dark"));
    assert_int_equal(dmd.blocks.len, 3);
    const struct wndl_dmd_block *block = dmd.blocks.data;
    assert_int_equal(block[0].count, 4); /* equal ones are one */
    assert_int_equal(block[0].requested, 24);
    assert_int_equal(block[0].slop, 8);
    assert_int_equal(block[1].stacks[WNDL_HEAP_ALLOCATED], 0);
    assert_int_equal(block[2].stacks[WNDL_HEAP_ALLOCATED], block[1].stacks[1]);
    assert_int_equal(block[2].stacks[WNDL_HEAP_REPORTED_AGAIN], 0);
    const struct wndl_dmd_trace *trace =
        wndl_vec_at(&dmd.traces, block[0].stacks[0] - 1);
    assert_true(trace->known && trace->count == 2);
    const uint32_t *frame = wndl_vec_at(&dmd.frame_of, trace->first);
    const struct wndl_bytes *text = wndl_vec_at(&dmd.frames, frame[0]);
    assert_true(wndl_bytes_is(*text, "#00: f (a \"b\".c:1)"));
    assert_int_equal(dmd.blocks_lost, 1); /* Zz */
    assert_int_equal(dmd.frames_lost, 2); /* G, twice */
    wndl_dmd_json_free(&dmd);
}

static void all_of_a_file_is_read(void **state)
{
    (void)state;
    check_golden(bytes_of(golden));
    assert_true(wndl_dmd_json_guess(bytes_of(golden)));
    assert_false(wndl_dmd_json_guess(bytes_of("\x89WNDL")));
    assert_false(wndl_dmd_json_guess(bytes_of("")));
}

static void gzip_is_read_also_in_parts(void **state)
{
    (void)state;
    struct wndl_bytes whole = bytes_of(golden);
    struct wndl_bytes a = compressed((struct wndl_bytes){whole.data, 100});
    struct wndl_bytes b =
        compressed((struct wndl_bytes){whole.data + 100, whole.size - 100});
    uint8_t *both = calloc(1, a.size + b.size + 512);
    assert_non_null(both);
    memcpy(both, a.data, a.size);
    memcpy(both + a.size, b.data, b.size);
    check_golden((struct wndl_bytes){both, a.size + b.size});
    check_golden((struct wndl_bytes){both, a.size + b.size + 512});
    both[a.size + b.size - 6] ^= 1; /* of its CRC */
    struct wndl_dmd_file dmd;
    struct wndl_error err = {0};
    struct wndl_bytes damaged = {both, a.size + b.size};
    assert_int_equal(wndl_dmd_json_read(damaged, wndl_mem_libc(), &dmd, &err),
        WNDL_MALFORMED);
    assert_string_equal(err.section, "gzip");
    wndl_dmd_json_free(&dmd);
    free((void *)a.data);
    free((void *)b.data);
    free(both);
}

#define HEAD                                                                   \
    "{\"version\":5,\"invocation\":{\"dmdEnvVar\":null,\"mode\":\"live\"},"
#define TABLES "\"traceTable\":{},\"frameTable\":{}}"

static void damage_is_told_with_its_offset(void **state)
{
    (void)state;
    const uint64_t head = sizeof HEAD - 1;
    const struct {
        const char *text;
        enum wndl_status status;
        uint64_t offset;
    } wrong[] = {
        {"", WNDL_TRUNCATED, 0},
        {"[]", WNDL_MALFORMED, 0},
        {"{}", WNDL_MALFORMED, 2},
        {"{\"version\": 4", WNDL_UNSUPPORTED, 12},
        {"{\"version\": \"5\"", WNDL_MALFORMED, 12},
        {"{\"version\": 05", WNDL_MALFORMED, 12},
        {"{\"version\": 5.0", WNDL_MALFORMED, 12},
        {"{\"invocation\": {\"mode\": \"dead\"}", WNDL_UNSUPPORTED, 24},
        {"{\"invocation\": {\"dmdEnvVar\": nul}", WNDL_MALFORMED, 29},
        {"{\"invocation\": {\"mode\": \"\\x\"}", WNDL_MALFORMED, 25},
        {"{\"x\": [}", WNDL_MALFORMED, 7},
        {"{\"x\":, \"y\": 1}", WNDL_MALFORMED, 5},
        {"{\"x\": 1, \"x\"; 2}", WNDL_MALFORMED, 12},
        {"{\"version\":5,\"version\":5}", WNDL_MALFORMED, 23},
        {HEAD TABLES, WNDL_MALFORMED, head + sizeof TABLES - 1},
        {HEAD "\"blockList\":[]," TABLES "x", WNDL_MALFORMED,
            head + sizeof TABLES - 1 + 15},
        {HEAD "\"blockList\":{}", WNDL_MALFORMED, head + 12},
        {HEAD "\"blockList\":[1]", WNDL_MALFORMED, head + 13},
        {HEAD "\"blockList\":[{}]", WNDL_MALFORMED, head + 13},
        {HEAD "\"blockList\":[{\"req\":-1}]", WNDL_MALFORMED, head + 20},
        {HEAD "\"blockList\":[{\"req\":18446744073709551616}]", WNDL_MALFORMED,
            head + 20},
        {HEAD "\"blockList\":[{\"req\":9007199254740993}]", WNDL_LIMIT,
            head + 13},
        {HEAD "\"blockList\":[{\"req\":1,\"num\":0}]", WNDL_MALFORMED,
            head + 13},
        {HEAD "\"blockList\":[{\"req\":0,\"num\":9007199254740993}]",
            WNDL_LIMIT, head + 13},
        {HEAD "\"blockList\":[{\"req\":1,\"reps\":[\"A\",\"A\",\"A\"]}]",
            WNDL_MALFORMED, head + 38},
        {HEAD "\"traceTable\":{\"A\":[1]}", WNDL_MALFORMED, head + 19},
        {HEAD "\"frameTable\":{\"A\":\"\xff\"}", WNDL_MALFORMED, head + 19},
        {"\x1f\x8b\x07\x01\x01\x01\x01\x01\x01\x01\x01", WNDL_MALFORMED, 4},
        {"\x1f\x8b\x08", WNDL_TRUNCATED, 3},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct wndl_dmd_file dmd;
        struct wndl_error err = {0};
        enum wndl_status status = wndl_dmd_json_read(
            bytes_of(wrong[i].text), wndl_mem_libc(), &dmd, &err);
        if (status != wrong[i].status || err.offset != wrong[i].offset)
            print_message("%s: status %d at %d: %s\n", wrong[i].text, status,
                (int)err.offset, err.what);
        assert_int_equal(status, wrong[i].status);
        assert_int_equal(err.offset, wrong[i].offset);
        assert_string_equal(
            err.section, wrong[i].text[0] == '\x1f' ? "gzip" : "JSON");
        wndl_dmd_json_free(&dmd);
    }
}

static void parse_cut(struct wndl_bytes prefix, void *context)
{
    struct wndl_dmd_file dmd;
    struct wndl_error err = {0};
    const struct wndl_bytes *whole = context;
    /* A line end follows the last bracket; a byte does not tell gzip. */
    bool zipped = whole->data[0] == 0x1f;
    size_t enough = zipped ? whole->size : whole->size - 1;
    enum wndl_status expected = prefix.size >= enough        ? WNDL_OK
                                : zipped && prefix.size == 1 ? WNDL_MALFORMED
                                                             : WNDL_TRUNCATED;
    enum wndl_status status =
        wndl_dmd_json_read(prefix, wndl_mem_libc(), &dmd, &err);
    wndl_dmd_json_free(&dmd);
    assert_int_equal(status, expected);
    assert_true(status == WNDL_OK || err.what[0] != '\0');
}

static void a_file_cut_anywhere_is_truncated(void **state)
{
    (void)state;
    struct wndl_bytes plain = bytes_of(golden);
    struct wndl_bytes packed = compressed(plain);
    for_each_truncation(plain, parse_cut, &plain);
    for_each_truncation(packed, parse_cut, &packed);
    free((void *)packed.data);
}

static void too_deep_and_too_long_is_refused(void **state)
{
    (void)state;
    static char deep[4096] = "{\"x\": ";
    memset(deep + 6, '[', sizeof deep - 7);
    static char longest[(1 << 20) + 64] = "{\"";
    memset(longest + 2, 'a', sizeof longest - 3);
    const char *const texts[] = {deep, longest};
    for (size_t i = 0; i < 2; i++) {
        struct wndl_dmd_file dmd;
        assert_int_equal(
            wndl_dmd_json_read(bytes_of(texts[i]), wndl_mem_libc(), &dmd, NULL),
            WNDL_LIMIT);
        wndl_dmd_json_free(&dmd);
    }
}

static void no_memory_is_told(void **state)
{
    (void)state;
    struct wndl_bytes packed = compressed(bytes_of(golden));
    for (int zipped = 0; zipped < 2; zipped++) {
        enum wndl_status status = WNDL_NOMEM;
        for (long budget = 0; status != WNDL_OK; budget++) {
            struct failing_mem heap;
            struct wndl_dmd_file dmd;
            failing_mem_init(&heap, budget);
            status = wndl_dmd_json_read(
                zipped ? packed : bytes_of(golden), &heap.mem, &dmd, NULL);
            assert_true(status == WNDL_OK || status == WNDL_NOMEM);
            wndl_dmd_json_free(&dmd);
            assert_int_equal(heap.live, 0);
        }
    }
    free((void *)packed.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_a_file_is_read),
        cmocka_unit_test(gzip_is_read_also_in_parts),
        cmocka_unit_test(damage_is_told_with_its_offset),
        cmocka_unit_test(a_file_cut_anywhere_is_truncated),
        cmocka_unit_test(too_deep_and_too_long_is_refused),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests_name("dmd_json", tests, NULL, NULL);
}
