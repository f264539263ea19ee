/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "read_recipe.h"

#include "wndl/follow.h"

#include <sys/mman.h>
#include <unistd.h>

/* A file that grows by `step` bytes a time, each of them followed. */
static void follow(
    struct wndl_profile *p, const struct wndl_buf *file, size_t step)
{
    struct wndl_follower f;
    struct wndl_error err = {0};
    int fd = memfd_create("growing", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(wndl_profile_init(p, wndl_mem_libc()));
    assert_true(wndl_follower_init(&f, p));
    for (size_t at = 0; at < file->size; at += step) {
        size_t size = file->size - at < step ? file->size - at : step;
        assert_int_equal(write(fd, file->data + at, size), size);
        assert_int_equal(wndl_follower_read(&f, fd, &err), WNDL_OK);
    }
    wndl_follower_free(&f);
    close(fd);
}

static void assert_same(
    const struct wndl_profile *p, const struct wndl_profile *whole)
{
    assert_int_equal(p->processes.len, whole->processes.len);
    assert_int_equal(p->threads.len, whole->threads.len);
    assert_int_equal(p->frames.len, whole->frames.len);
    assert_int_equal(p->nodes.len, whole->nodes.len);
    assert_int_equal(p->samples.len, whole->samples.len);
    assert_int_equal(p->blocks.len, whole->blocks.len);
    assert_int_equal(p->chunks_damaged, whole->chunks_damaged);
    for (size_t i = 0; i < p->samples.len; i++) {
        assert_int_equal(sample_at(p, i)->node, sample_at(whole, i)->node);
        assert_int_equal(sample_at(p, i)->cpu, sample_at(whole, i)->cpu);
    }
}

static void growing_file_gives_what_the_whole_one_does(void **state)
{
    (void)state;
    static const char *const recipes[] = {golden, golden_11};
    for (size_t r = 0; r < sizeof recipes / sizeof recipes[0]; r++) {
        struct wndl_buf file = cook(recipes[r]);
        struct wndl_profile whole, p;
        read_recipe(recipes[r], &whole);
        for (size_t step = 1; step <= file.size; step += 13) {
            follow(&p, &file, step);
            assert_same(&p, &whole);
            wndl_profile_free(&p);
        }
        wndl_profile_free(&whole);
        wndl_buf_free(&file);
    }
}

static void damaged_chunk_is_counted_and_passed(void **state)
{
    (void)state;
    struct wndl_buf file = cook(golden);
    struct wndl_profile p;
    file.data[file.size - 1] ^= 1; /* the CRC of the last */
    follow(&p, &file, 7);
    assert_int_equal(p.chunks_damaged, 1);
    wndl_profile_free(&p);
    wndl_buf_free(&file);
}

static void other_file_is_refused(void **state)
{
    (void)state;
    static const char text[] = "This is a text, and not a recording at all.";
    struct wndl_profile p;
    struct wndl_follower f;
    struct wndl_error err = {0};
    int fd = memfd_create("other", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, sizeof text), sizeof text);
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    assert_true(wndl_follower_init(&f, &p));
    assert_int_equal(wndl_follower_read(&f, fd, &err), WNDL_MALFORMED);
    wndl_follower_free(&f);
    wndl_profile_free(&p);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing_file_gives_what_the_whole_one_does),
        cmocka_unit_test(damaged_chunk_is_counted_and_passed),
        cmocka_unit_test(other_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
