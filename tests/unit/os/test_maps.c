/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "os/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct wndl_cursor over(const char *text)
{
    return wndl_cursor_at(
        (struct wndl_bytes){(const uint8_t *)text, strlen(text)}, 0, false);
}

static const char golden[] =
    "55d0a0000000-55d0a0001000 r--p 00000000 fe:01 1234      /usr/bin/a b\n"
    "55d0a0001000-55d0a0003000 r-xp 00001000 fe:01 1234      /usr/bin/a b\n"
    "7f0000000000-7f0000021000 rw-p 00000000 00:00 0 \n"
    "7f0000021000-7f0004000000 ---p 00000000 00:00 0 \n"
    "7ffc12300000-7ffc12321000 rw-p 00000000 00:00 0         [stack]\n"
    "7f5500000000-7f5500100000 rw-s 00000000 00:01 77 /memfd:x (deleted)\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]";

static void lines_are_read_field_by_field(void **state)
{
    (void)state;
    struct wndl_cursor c = over(golden);
    struct wndl_mapping m[7];
    for (size_t i = 0; i < 7; i++)
        assert_true(wndl_maps_line(&c, &m[i]));
    assert_false(wndl_maps_line(&c, &m[0]));
    assert_false(c.failed);

    assert_true(m[1].start == 0x55d0a0001000 && m[1].end == 0x55d0a0003000);
    assert_true(m[1].offset == 0x1000 && m[1].inode == 1234);
    assert_true(m[1].readable && !m[1].writable && m[1].executable);
    assert_true(wndl_bytes_is(m[1].path, "/usr/bin/a b"));
    assert_true(m[2].path.size == 0 && m[2].writable);
    assert_false(m[3].readable);
    assert_true(wndl_bytes_is(m[4].path, "[stack]"));
    assert_true(wndl_bytes_is(m[5].path, "/memfd:x (deleted)"));
    assert_true(m[6].end == 0xffffffffff601000);
    assert_true(wndl_bytes_is(m[6].path, "[vsyscall]"));
}

static void what_is_no_mapping_fails_the_cursor(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "\n",
        "VmFlags: rd ex\n",
        "1000 2000 r--p 0 0:0 0\n",
        "10000000000000000-2 r--p 0 0:0 0\n",
        "1-2 rwzp 0 0:0 0\n",
        "1-2 r--p 0 0:0 a\n",
        "-2 r--p 0 0:0 1\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct wndl_cursor c = over(wrong[i]);
        struct wndl_mapping m;
        assert_false(wndl_maps_line(&c, &m));
        assert_true(c.failed);
    }
}

static void parse_lines(struct wndl_bytes prefix, void *context)
{
    (void)context;
    struct wndl_cursor c = wndl_cursor_at(prefix, 0, false);
    struct wndl_mapping m;
    while (wndl_maps_line(&c, &m))
        assert_true(m.path.size <= prefix.size);
}

static void a_list_cut_anywhere_is_read_up_to_there(void **state)
{
    (void)state;
    for_each_truncation(
        (struct wndl_bytes){(const uint8_t *)golden, sizeof golden - 1},
        parse_lines, NULL);
}

/* What is looked for, and how many mappings there were. */
struct search {
    uint64_t address;
    struct wndl_mapping found;
    size_t count;
    size_t stop_after; /* 0: never */
};

static bool look(void *context, const struct wndl_mapping *m)
{
    struct search *s = context;
    s->count++;
    if (s->address >= m->start && s->address < m->end)
        s->found = *m;
    return s->count != s->stop_after;
}

/* As an independent reader of the same file sees it. */
static size_t count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t lines = 0;
    int c;
    while ((c = fgetc(file)) != EOF)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static void this_process_is_read_with_room_large_and_small(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *three = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(mprotect(three, page, PROT_NONE), 0);
    assert_int_equal(mprotect(three + 2 * page, page, PROT_NONE), 0);
    static const size_t sizes[] = {512, 4096, 65536};
    for (size_t i = 0; i < 3; i++) {
        struct search s = {.address = (uintptr_t)three + page};
        uint8_t *room = malloc(sizes[i]);
        assert_true(wndl_maps_each(
            "/proc/self/maps", (struct wndl_bytes){room, sizes[i]}, look, &s));
        assert_true(s.found.start == (uintptr_t)three + page);
        assert_true(s.found.end == (uintptr_t)three + 2 * page);
        assert_true(s.found.readable && s.found.writable);
        free(room);
    }
    munmap(three, 3 * page);
}

static void every_line_is_visited_once(void **state)
{
    (void)state;
    char path[] = "/tmp/wndl-maps-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int i = 0; i < 400; i++)
        assert_true(write(fd, golden, sizeof golden - 1) > 0 &&
                    write(fd, "\n", 1) == 1);
    close(fd);
    for (size_t size = 512; size < 800; size += 7) {
        struct search s = {0};
        uint8_t *room = malloc(size);
        assert_true(
            wndl_maps_each(path, (struct wndl_bytes){room, size}, look, &s));
        assert_int_equal(s.count, count_lines(path));
        free(room);
    }
    unlink(path);
}

static void a_line_longer_than_the_room_is_stepped_over(void **state)
{
    (void)state;
    char path[] = "/tmp/wndl-maps-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "1000-2000 r--p 0 0:0 1 /short\n");
    fprintf(file, "2000-3000 r--p 0 0:0 1 /%02000d\n", 0);
    fprintf(file, "3000-4000 r--p 0 0:0 1 /short\n");
    fclose(file);
    struct search s = {.address = 0x3000};
    uint8_t *room = malloc(512);
    assert_true(wndl_maps_each(path, (struct wndl_bytes){room, 512}, look, &s));
    assert_int_equal(s.count, 2);
    assert_true(s.found.end == 0x4000);
    free(room);
    unlink(path);
}

static void a_visitor_may_stop_and_what_cannot_be_read_is_told(void **state)
{
    (void)state;
    uint8_t room[4096];
    struct search s = {.stop_after = 2};
    assert_true(wndl_maps_each(
        "/proc/self/maps", (struct wndl_bytes){room, sizeof room}, look, &s));
    assert_int_equal(s.count, 2);
    assert_false(wndl_maps_each("/proc/self/nothing",
        (struct wndl_bytes){room, sizeof room}, look, &s));
    /* A folder can be opened, but not read. */
    assert_false(wndl_maps_each(
        "/proc/self", (struct wndl_bytes){room, sizeof room}, look, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read_field_by_field),
        cmocka_unit_test(what_is_no_mapping_fails_the_cursor),
        cmocka_unit_test(a_list_cut_anywhere_is_read_up_to_there),
        cmocka_unit_test(this_process_is_read_with_room_large_and_small),
        cmocka_unit_test(every_line_is_visited_once),
        cmocka_unit_test(a_line_longer_than_the_room_is_stepped_over),
        cmocka_unit_test(a_visitor_may_stop_and_what_cannot_be_read_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
