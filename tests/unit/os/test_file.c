/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "os/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of the test's own; *state is its path. */
static int make_folder(void **state)
{
    static char folder[64];
    strcpy(folder, "/tmp/test_file.XXXXXX");
    *state = mkdtemp(folder);
    return *state == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    return system(command);
}

static const char *path_in(void **state, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", (char *)*state, name);
    return path;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void open_maps_the_whole_file(void **state)
{
    const char *path = path_in(state, "some file");
    write_file(path, "contents");
    struct wndl_file file;
    assert_int_equal(wndl_file_open(path, &file, NULL), WNDL_OK);
    assert_true(wndl_bytes_is(file.bytes, "contents"));
    wndl_file_close(&file);
    assert_int_equal(file.bytes.size, 0);
    wndl_file_close(&file);
}

static void bytes_outlive_the_name(void **state)
{
    const char *path = path_in(state, "removed");
    write_file(path, "contents");
    struct wndl_file file;
    assert_int_equal(wndl_file_open(path, &file, NULL), WNDL_OK);
    unlink(path);
    assert_true(wndl_bytes_is(file.bytes, "contents"));
    wndl_file_close(&file);
}

static void expect(const char *path, enum wndl_status status, int sys_errno)
{
    struct wndl_file file;
    struct wndl_error err = {0};
    assert_int_equal(wndl_file_open(path, &file, &err), status);
    assert_int_equal(err.status, status);
    assert_int_equal(err.sys_errno, sys_errno);
    assert_string_equal(err.file, path);
    assert_int_not_equal(err.what[0], '\0');
    assert_int_equal(file.bytes.size, 0);
}

static void what_is_not_a_file_with_contents_is_refused_by_path(void **state)
{
    expect(path_in(state, "absent"), WNDL_IO, ENOENT);
    expect(*state, WNDL_UNSUPPORTED, 0);
    expect("/dev/null", WNDL_UNSUPPORTED, 0);
    const char *path = path_in(state, "empty");
    write_file(path, "");
    expect(path, WNDL_TRUNCATED, 0);
}

/* Nor is it opened: that alone would let go on who waits at its other end. */
static void a_pipe_is_refused_without_waiting(void **state)
{
    char event[256];
    const char *path = path_in(state, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    int watch = inotify_init1(IN_NONBLOCK);
    assert_true(watch >= 0);
    assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
    expect(path, WNDL_UNSUPPORTED, 0);
    assert_int_equal(read(watch, event, sizeof event), -1);
    assert_int_equal(errno, EAGAIN);
    close(watch);
}

static void real_folder_follows_links_and_fits_or_fails(void **state)
{
    char folder[256], target[256];
    strcpy(target, path_in(state, "target"));
    write_file(target, "x");
    const char *link = path_in(state, "link");
    assert_int_equal(symlink(target, link), 0);
    assert_true(wndl_file_real_folder(link, folder, sizeof folder));
    assert_string_equal(folder, *state);
    assert_true(wndl_file_real_folder("/proc", folder, sizeof folder));
    assert_string_equal(folder, "");
    assert_false(wndl_file_real_folder(link, folder, strlen(*state)));
    assert_true(wndl_file_real_folder(link, folder, strlen(*state) + 1));
    assert_false(
        wndl_file_real_folder(path_in(state, "absent"), folder, sizeof folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_maps_the_whole_file),
        cmocka_unit_test(bytes_outlive_the_name),
        cmocka_unit_test(what_is_not_a_file_with_contents_is_refused_by_path),
        cmocka_unit_test(a_pipe_is_refused_without_waiting),
        cmocka_unit_test(real_folder_follows_links_and_fits_or_fails),
    };
    return cmocka_run_group_tests_name(
        "file", tests, make_folder, remove_folder);
}
