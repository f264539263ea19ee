/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "rec/chunk.h"
#include "wndl/put_aside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/put_asideXXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int leave_folder(void **state)
{
    (void)state;
    unlink("a");
    unlink("a.old");
    return chdir("/") != 0 || rmdir(folder) != 0;
}

/* Writes a header, and `mark` after it. */
static void make_recording(const char *path, const char *mark)
{
    struct wndl_buf header;
    wndl_buf_init(&header, wndl_mem_libc());
    wndl_chunk_file_header(&header);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    fwrite(header.data, 1, header.size, out);
    fputs(mark, out);
    assert_int_equal(fclose(out), 0);
    wndl_buf_free(&header);
}

static void make_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static bool ends_in(const char *path, const char *mark)
{
    char text[100] = "";
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return false;
    const size_t size = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    return size >= strlen(mark) &&
           memcmp(text + size - strlen(mark), mark, strlen(mark)) == 0;
}

static enum wndl_status put_aside(bool *moved, struct wndl_error *err)
{
    return wndl_put_aside("a", wndl_recording_is_at, moved, err);
}

static void recordings_make_room(void **state)
{
    (void)state;
    bool moved;
    assert_int_equal(put_aside(&moved, NULL), WNDL_OK);
    assert_false(moved);
    make_recording("a", "first");
    assert_int_equal(put_aside(&moved, NULL), WNDL_OK);
    assert_true(moved);
    assert_true(ends_in("a.old", "first"));
    make_recording("a", "second");
    assert_int_equal(put_aside(&moved, NULL), WNDL_OK);
    assert_true(ends_in("a.old", "second"));
    assert_int_not_equal(access("a", F_OK), 0);
    wndl_put_back("a");
    assert_true(ends_in("a", "second"));
    assert_int_not_equal(access("a.old", F_OK), 0);
}

static void other_files_stay(void **state)
{
    (void)state;
    bool moved;
    struct wndl_error err = {0};
    static const char *const texts[] = {"\211WNDL", "hello, world\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        make_text("a", texts[i]);
        assert_int_equal(put_aside(&moved, &err), WNDL_IO);
        assert_string_equal(err.file, "a");
        assert_false(moved);
        assert_true(ends_in("a", texts[i]));
    }
    make_recording("a", "mine");
    make_text("a.old", "hello, world\n");
    assert_int_equal(put_aside(&moved, &err), WNDL_IO);
    assert_string_equal(err.file, "a.old");
    assert_true(ends_in("a", "mine"));
    assert_true(ends_in("a.old", "world\n"));
    unlink("a.old");
    wndl_put_back("a"); /* there is nothing to give back */
    assert_true(ends_in("a", "mine"));
}

/* What a recorder leaves that ends before it writes. */
static void an_empty_file_makes_room_for_nothing(void **state)
{
    (void)state;
    bool moved = true;
    make_recording("a.old", "earlier");
    make_text("a", "");
    assert_int_equal(put_aside(&moved, NULL), WNDL_OK);
    assert_false(moved);
    assert_int_not_equal(access("a", F_OK), 0);
    assert_true(ends_in("a.old", "earlier"));
    make_text("a", "");
    const int fd = open("a", O_RDWR);
    wndl_put_aside_hold(fd);
    assert_int_equal(put_aside(&moved, NULL), WNDL_IO);
    assert_int_equal(access("a", F_OK), 0);
    close(fd);
}

/* Of two recorders, neither takes the other's file away. */
static void recordings_being_written_stay(void **state)
{
    (void)state;
    bool moved;
    struct wndl_error err = {0};
    make_recording("a", "growing");
    const int fd = open("a", O_RDWR);
    wndl_put_aside_hold(fd);
    assert_int_equal(put_aside(&moved, &err), WNDL_IO);
    assert_non_null(strstr(err.what, "another recorder"));
    close(fd);
    assert_int_equal(put_aside(&moved, &err), WNDL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_make_room),
        cmocka_unit_test(other_files_stay),
        cmocka_unit_test(an_empty_file_makes_room_for_nothing),
        cmocka_unit_test(recordings_being_written_stay),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
