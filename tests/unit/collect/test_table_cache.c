/* SPDX-License-Identifier: MIT */
/* collect/code/table_cache.h: what was kept comes back; what is damaged, old or
 * of others does not; a folder that is of no use is an error. */
#include "collect/code/table_cache.h"

#include "testlib.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t id[] = {0xab, 0x01, 0xff};

static const struct wndl_kept_facts facts = {
    .build_id = {id, sizeof id}, .size = 1234};

static const struct wndl_bytes table = {(const uint8_t *)"table", 5};

struct fixture {
    char root[32], folder[64];
    struct wndl_kept_table kept;
};

static struct fixture begin(void)
{
    struct fixture f = {.root = "/tmp/windlass-cache-XXXXXX"};
    assert_non_null(mkdtemp(f.root));
    snprintf(f.folder, sizeof f.folder, "%s/a/b", f.root);
    wndl_kept_table_of(&f.kept, f.folder, &facts);
    return f;
}

static void end(struct fixture *f)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->root);
    assert_int_equal(system(command), 0);
}

static void keep(const struct fixture *f)
{
    struct wndl_error err = {0};
    assert_int_equal(wndl_kept_table_write(&f->kept, table, &err), WNDL_OK);
}

static enum wndl_status look(const struct fixture *f, struct wndl_error *err)
{
    struct wndl_arena arena;
    struct wndl_bytes bytes = {0};
    wndl_arena_init(&arena, wndl_mem_libc());
    const enum wndl_status status =
        wndl_kept_table_read(&f->kept, &arena, &bytes, err);
    if (status == WNDL_OK)
        assert_true(wndl_bytes_equal(bytes, table));
    wndl_arena_free(&arena);
    return status;
}

static void a_table_comes_back(void **state)
{
    (void)state;
    struct fixture f = begin();
    struct wndl_error err = {0};
    struct stat st;
    assert_int_equal(look(&f, &err), WNDL_NOT_FOUND);
    keep(&f);
    keep(&f);
    assert_int_equal(look(&f, &err), WNDL_OK);
    assert_int_equal(stat(f.kept.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(f.folder, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    end(&f);
}

static void an_empty_table_is_kept(void **state)
{
    (void)state;
    struct fixture f = begin();
    struct wndl_arena arena;
    struct wndl_bytes bytes = table;
    struct wndl_error err = {0};
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(
        wndl_kept_table_write(&f.kept, (struct wndl_bytes){0}, &err), WNDL_OK);
    assert_int_equal(
        wndl_kept_table_read(&f.kept, &arena, &bytes, &err), WNDL_OK);
    assert_int_equal(bytes.size, 0);
    wndl_arena_free(&arena);
    end(&f);
}

static void another_binary_has_another_table(void **state)
{
    (void)state;
    struct fixture f = begin();
    struct wndl_error err = {0};
    struct wndl_kept_facts other = facts;
    keep(&f);
    other.has_debug_frame = true;
    wndl_kept_table_of(&f.kept, f.folder, &other);
    assert_int_equal(look(&f, &err), WNDL_NOT_FOUND);
    other = facts;
    other.size++;
    wndl_kept_table_of(&f.kept, f.folder, &other);
    assert_int_equal(look(&f, &err), WNDL_NOT_FOUND);
    other.build_id.size = 0;
    wndl_kept_table_of(&f.kept, f.folder, &other);
    assert_string_equal(f.kept.path, "");
    assert_int_equal(look(&f, &err), WNDL_NOT_FOUND);
    keep(&f); /* nowhere */
    strcpy(f.kept.path, "/another");
    wndl_kept_table_of(&f.kept, NULL, &facts);
    assert_string_equal(f.kept.path, "");
    assert_int_equal(look(&f, &err), WNDL_NOT_FOUND);
    end(&f);
}

/* Flips each byte, and cuts at each. */
static void damage_is_seen(void **state)
{
    (void)state;
    enum { SIZE = 24 + 5, VERSION = 12, TABLE = 24 };
    struct fixture f = begin();
    uint8_t bytes[SIZE];
    keep(&f);
    int fd = open(f.kept.path, O_RDWR);
    assert_int_equal(read(fd, bytes, SIZE), SIZE);
    for (off_t i = 0; i < SIZE; i++) {
        struct wndl_error err = {0};
        const uint8_t wrong = bytes[i] ^ 0x40;
        assert_int_equal(pwrite(fd, &wrong, 1, i), 1);
        assert_int_equal(look(&f, &err), WNDL_MALFORMED);
        assert_string_equal(err.file, f.kept.path);
        assert_int_equal(pwrite(fd, &bytes[i], 1, i), 1);
    }
    for (off_t size = SIZE - 1; size >= 0; size--) {
        struct wndl_error err = {0};
        assert_int_equal(ftruncate(fd, size), 0);
        assert_int_equal(
            look(&f, &err), size == 0 ? WNDL_TRUNCATED : WNDL_MALFORMED);
    }
    close(fd);
    keep(&f); /* in its place */
    struct wndl_error err = {0};
    assert_int_equal(look(&f, &err), WNDL_OK);
    end(&f);
}

static void what_others_may_write_is_not_used(void **state)
{
    (void)state;
    struct fixture f = begin();
    struct wndl_error err = {0};
    keep(&f);
    assert_int_equal(chmod(f.kept.path, 0620), 0);
    assert_int_equal(look(&f, &err), WNDL_DENIED);
    assert_int_equal(chmod(f.kept.path, 0600), 0);
    assert_int_equal(chmod(f.folder, 0702), 0);
    assert_int_equal(look(&f, &err), WNDL_DENIED);
    assert_int_equal(wndl_kept_table_write(&f.kept, table, &err), WNDL_DENIED);
    assert_int_equal(chmod(f.folder, 0700), 0);
    assert_int_equal(look(&f, &err), WNDL_OK);
    end(&f);
}

static void a_folder_of_no_use_is_an_error(void **state)
{
    (void)state;
    struct fixture f = begin();
    struct wndl_error err = {0};
    snprintf(f.folder, sizeof f.folder, "%s/a", f.root);
    close(open(f.folder, O_WRONLY | O_CREAT, 0600));
    wndl_kept_table_of(&f.kept, f.folder, &facts);
    assert_int_equal(wndl_kept_table_write(&f.kept, table, &err), WNDL_IO);
    assert_int_equal(err.sys_errno, ENOTDIR);
    assert_string_equal(err.file, f.folder);
    assert_int_equal(look(&f, &err), WNDL_NOT_FOUND);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_comes_back),
        cmocka_unit_test(an_empty_table_is_kept),
        cmocka_unit_test(another_binary_has_another_table),
        cmocka_unit_test(damage_is_seen),
        cmocka_unit_test(what_others_may_write_is_not_used),
        cmocka_unit_test(a_folder_of_no_use_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
