/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "obj/packed/ar.h"

static void put_member(
    struct wndl_buf *out, const char *name, unsigned time, const char *content)
{
    wndl_buf_printf(out, "%-16s%-12u%-6u%-6u%-8s%-10zu`\n%s", name, time, 0u,
        0u, "644", strlen(content), content);
    if (strlen(content) % 2 != 0)
        wndl_buf_byte(out, '\n');
}

static struct wndl_bytes make_archive(struct wndl_buf *out)
{
    wndl_buf_init(out, wndl_mem_libc());
    wndl_buf_text(out, "!<arch>\n");
    put_member(out, "//", 0, "a_name_of_gnu.o/\nx/\n");
    put_member(out, "short.o", 5, "one");
    put_member(out, "gnu.o/", 0, "two");
    put_member(out, "#1/8", 6, "bsd.o___three");
    put_member(out, "/0", 0, "four");
    put_member(out, "short.o", 7, "five");
    put_member(out, "short.o", 7, "six");
    put_member(out, "last.o", 7, "seven");
    for (size_t i = 0; i + 5 < out->size; i++)
        if (memcmp(out->data + i, "bsd.o", 5) == 0)
            memset(out->data + i + 5, 0, 3);
    return (struct wndl_bytes){out->data, out->size};
}

struct wanted {
    const char *name;
    uint64_t time;
    size_t nth;
};

static enum wndl_status find_member(struct wndl_bytes archive,
    const struct wanted *w, struct wndl_bytes *content, struct wndl_error *err)
{
    struct wndl_arena arena;
    const struct wndl_ar *ar;
    const struct wndl_ar_member *m = NULL;
    const struct wndl_bytes name = {(const uint8_t *)w->name, strlen(w->name)};
    size_t nth = w->nth;
    wndl_arena_init(&arena, wndl_mem_libc());
    enum wndl_status status = wndl_ar_open(archive, &arena, &ar, err);
    if (status == WNDL_OK)
        status = wndl_ar_find(ar, name, w->time, &m, err);
    for (; m != NULL && nth != 0; nth--)
        m = m->next;
    *content = m == NULL ? (struct wndl_bytes){0} : m->bytes;
    if (status == WNDL_OK && m == NULL)
        status = WNDL_NOT_FOUND;
    wndl_arena_free(&arena);
    return status;
}

static void check_member(struct wndl_bytes archive, const char *name,
    uint64_t time, size_t nth, const char *content)
{
    struct wndl_bytes member;
    const struct wanted wanted = {name, time, nth};
    enum wndl_status status = find_member(archive, &wanted, &member, NULL);
    assert_int_equal(status, content == NULL ? WNDL_NOT_FOUND : WNDL_OK);
    if (content != NULL)
        assert_true(wndl_bytes_is(member, content));
}

static void test_archive(void **state)
{
    (void)state;
    struct wndl_buf out;
    struct wndl_bytes archive = make_archive(&out);
    check_member(archive, "short.o", 0, 0, "one");
    check_member(archive, "short.o", 5, 0, "one");
    check_member(archive, "short.o", 0, 1, "five");
    check_member(archive, "short.o", 0, 2, "six");
    check_member(archive, "short.o", 7, 0, "five");
    check_member(archive, "short.o", 7, 1, "six");
    check_member(archive, "short.o", 7, 2, NULL);
    check_member(archive, "short.o", 8, 0, NULL);
    check_member(archive, "gnu.o", 9, 0, "two");
    check_member(archive, "bsd.o", 6, 0, "three");
    check_member(archive, "a_name_of_gnu.o", 0, 0, "four");
    check_member(archive, "none.o", 0, 0, NULL);
    wndl_buf_free(&out);
}

/* Members are found in an archive that is no more what it was. */
static void test_listed_once(void **state)
{
    (void)state;
    struct wndl_buf out;
    struct wndl_arena arena;
    const struct wndl_ar *ar;
    const struct wndl_ar_member *m;
    const struct wndl_bytes name = {(const uint8_t *)"last.o", 6};
    struct wndl_bytes archive = make_archive(&out);
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(wndl_ar_open(archive, &arena, &ar, NULL), WNDL_OK);
    memset(out.data, 0, out.size);
    assert_int_equal(wndl_ar_find(ar, name, 7, &m, NULL), WNDL_OK);
    assert_ptr_equal(m->bytes.data + m->bytes.size, out.data + out.size - 1);
    wndl_arena_free(&arena);
    wndl_buf_free(&out);
}

static void find_last(struct wndl_bytes prefix, void *context)
{
    struct wndl_bytes member;
    struct wndl_error err = {0};
    const struct wndl_bytes *whole = context;
    const struct wanted wanted = {"last.o", 0, 0};
    enum wndl_status status = find_member(prefix, &wanted, &member, &err);
    /* The last byte only fills. */
    if (prefix.size + 1 >= whole->size) {
        assert_int_equal(status, WNDL_OK);
        return;
    }
    assert_int_not_equal(status, WNDL_OK);
    assert_string_not_equal(err.what, "");
}

static void test_truncated_archive(void **state)
{
    (void)state;
    struct wndl_buf out;
    struct wndl_bytes whole = make_archive(&out);
    for_each_truncation(whole, find_last, &whole);
    wndl_buf_free(&out);
}

static void test_not_an_archive(void **state)
{
    (void)state;
    static const char *const texts[] = {"!<thin>\n", "!<arch>", "\177ELF"};
    for (size_t i = 0; i < 3; i++) {
        struct wndl_bytes member;
        struct wndl_error err = {0};
        const struct wanted wanted = {"a", 0, 0};
        struct wndl_bytes bytes = {(const uint8_t *)texts[i], strlen(texts[i])};
        assert_int_equal(
            find_member(bytes, &wanted, &member, &err), WNDL_UNSUPPORTED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_archive),
        cmocka_unit_test(test_listed_once),
        cmocka_unit_test(test_truncated_archive),
        cmocka_unit_test(test_not_an_archive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
