/* SPDX-License-Identifier: MIT */
/* in/check_list.h: a baseline, cut ones, those that are none. */
#include "in/check_list.h"

#include "testlib.h"

#include <string.h>

static const char sample[] =
    "{\"version\":1,\"tool\":\"drd\",\"runs\":1,\"errors\":[\n"
    "{\"key\":\"00000000000000ff\",\"kind\":\"Race\",\"times\":3,"
    "\"place\":\"f(int) (a.c)\",\"stacks\":[{\"frames\":[]}]},\n"
    "{\"key\":\"fedcba9876543210\"}],\"gone\":[{\"key\":\"x\"}]}";

static enum wndl_status read_bytes(struct wndl_arena *arena,
    struct wndl_vec *known, const char *text, size_t size)
{
    struct wndl_error err = {0};
    wndl_arena_init(arena, wndl_mem_libc());
    wndl_vec_init(known, arena, sizeof(struct wndl_known_finding));
    return wndl_check_list_read(
        known, (struct wndl_bytes){(const uint8_t *)text, size}, &err);
}

static void reads_keys_and_places(void **state)
{
    (void)state;
    struct wndl_arena arena;
    struct wndl_vec known;
    assert_int_equal(
        read_bytes(&arena, &known, sample, sizeof sample - 1), WNDL_OK);
    assert_int_equal(known.len, 2);
    const struct wndl_known_finding *k = known.data;
    assert_true(k[0].key == 0xff);
    assert_true(wndl_bytes_is(k[0].kind, "Race"));
    assert_true(wndl_bytes_is(k[0].place, "f(int) (a.c)"));
    assert_true(k[1].key == 0xfedcba9876543210u);
    assert_int_equal(k[1].place.size, 0);
    assert_false(k[1].is_seen);
    wndl_arena_free(&arena);
}

static void refuses_a_part(void **state)
{
    (void)state;
    for (size_t size = 0; size + 1 < sizeof sample; size++) {
        struct wndl_arena arena;
        struct wndl_vec known;
        assert_int_not_equal(read_bytes(&arena, &known, sample, size), WNDL_OK);
        wndl_arena_free(&arena);
    }
}

static void refuses_what_is_no_list(void **state)
{
    (void)state;
    static const char *const files[] = {
        "[]",
        "{}",
        "{\"version\":1}",
        "{\"version\":2,\"errors\":[]}",
        "{\"errors\":[]}",
        "{\"version\":1,\"errors\":[{}]}",
        "{\"version\":1,\"errors\":[{\"key\":\"ff\"}]}",
        "{\"version\":1,\"errors\":[{\"key\":\"00000000000000fg\"}]}",
        "{\"version\":1,\"errors\":[{\"key\":\"000000000000000ff\"}]}",
        "{\"version\":1,\"errors\":[]} x",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct wndl_arena arena;
        struct wndl_vec known;
        assert_int_not_equal(
            read_bytes(&arena, &known, files[i], strlen(files[i])), WNDL_OK);
        wndl_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_keys_and_places),
        cmocka_unit_test(refuses_a_part),
        cmocka_unit_test(refuses_what_is_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
