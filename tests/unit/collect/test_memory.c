/* SPDX-License-Identifier: MIT */
/* What is seen of a process's memory from outside. */
#include "testlib.h"

#include "collect/memory/cgroup.h"
#include "collect/memory/outside.h"
#include "collect/memory/steps.h"
#include "collect/memory/usage.h"
#include "in/memlog.h"
#include "os/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1024 * 1024 };

/* ---- steps */

/* The parts that were visited, as a text. */
static char visited[400];

static void add_part(void *context, const struct wndl_step_range *range)
{
    (void)context;
    const size_t used = strlen(visited);
    snprintf(visited + used, sizeof visited - used, "%llx-%llx%s %s;",
        (unsigned long long)range->start, (unsigned long long)range->end,
        range->is_code ? " code" : "", range->name);
}

static const char *more(struct wndl_step_range *map, size_t count,
    struct wndl_step_range *other, size_t other_count, uint64_t above)
{
    const struct wndl_step_map a = {map, count, count};
    const struct wndl_step_map b = {other, other_count, other_count};
    visited[0] = '\0';
    wndl_steps_each_more(&a, &b, above, add_part, NULL);
    return visited;
}

static void steps_are_what_the_other_lacks(void **state)
{
    (void)state;
    struct wndl_step_range before[] = {
        {0x1000, 0x2000, false, "a"},
        {0x3000, 0x4000, false, ""},
        {0x8000, 0x9000, true, ""},
    };
    struct wndl_step_range after[] = {
        {0x1000, 0x5000, false, "a"},
        {0x7000, 0x8000, false, "[heap]"},
        {0x8000, 0x9000, false, "was code"},
        {0xa000, 0xa800, true, ""},
    };
    assert_string_equal(more(after, 4, before, 3, 0x1000),
        "2000-3000 a;4000-5000 a;7000-8000 [heap];8000-9000 was code;");
    assert_string_equal(more(after, 4, before, 3, 0x800),
        "2000-3000 a;4000-5000 a;7000-8000 [heap];8000-9000 was code;"
        "a000-a800 code ;");
    assert_string_equal(more(before, 3, after, 4, 1), "8000-9000 code ;");
    assert_string_equal(more(after, 4, after, 4, 1), "");
    assert_string_equal(more(after, 1, NULL, 0, 1), "1000-5000 a;");
    assert_string_equal(more(NULL, 0, after, 4, 1), "");
}

static void own_steps_are_read(void **state)
{
    (void)state;
    struct wndl_step_map before = {0};
    struct wndl_step_map after = {0};
    assert_true(wndl_steps_read(&before, "/proc/self/maps"));
    void *used = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *reserved =
        mmap(NULL, 64 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(used != MAP_FAILED && reserved != MAP_FAILED);
    assert_true(wndl_steps_read(&after, "/proc/self/maps"));
    visited[0] = '\0';
    wndl_steps_each_more(&after, &before, 8 * MIB, add_part, NULL);
    char expected[60];
    snprintf(expected, sizeof expected, "%llx-%llx ;",
        (unsigned long long)(uintptr_t)used,
        (unsigned long long)(uintptr_t)used + 8 * MIB);
    assert_string_equal(visited, expected);
    assert_false(wndl_steps_read(&after, "/proc/self/no-such-maps"));
    munmap(used, 8 * MIB);
    munmap(reserved, 64 * MIB);
    wndl_steps_free(&before);
    wndl_steps_free(&after);
}

/* ---- usage */

static void own_usage_is_read(void **state)
{
    (void)state;
    struct wndl_usage usage;
    char *memory = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    memset(memory, 1, 8 * MIB);
    assert_true(wndl_usage_read(getpid(), &usage));
    assert_int_equal(usage.parent, getppid());
    assert_true(usage.start != 0);
    assert_string_equal(usage.name, "test_memory");
    assert_true(usage.minor > 0);
    assert_true(usage.resident >= 8 * MIB && usage.mapped >= usage.resident);
    assert_true(wndl_usage_proportional(getpid()) >= 8 * MIB);
    munmap(memory, 8 * MIB);
    assert_false(wndl_usage_read(-1, &usage));
}

static void numbers_of_lines_are_found(void **state)
{
    (void)state;
    const char *text = "Name:\ta Pss: 3\nPss:    12 kB\nPss_Anon: 7 kB\nend";
    assert_int_equal(wndl_usage_number(text, "Pss:"), 12);
    assert_int_equal(wndl_usage_number(text, "Pss_Anon:"), 7);
    assert_int_equal(wndl_usage_number(text, "Pss"), 0);
    assert_int_equal(wndl_usage_number("oom_kill 3\n", "oom_kill"), 3);
    assert_int_equal(wndl_usage_number("", "oom_kill"), 0);
}

/* ---- control groups */

#define MOUNTS_1                                                               \
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"      \
    "33 31 0:30 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"     \
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup "          \
    "rw,memory\n"

static void groups_of_both_versions_are_found(void **state)
{
    (void)state;
    struct wndl_cgroup group;
    assert_true(wndl_cgroup_parse(
        "8:pids:/\n4:memory:/a/b\n0::/c\n", MOUNTS_1, &group));
    assert_string_equal(group.folder, "/sys/fs/cgroup/memory/a/b");
    assert_false(group.is_second);
    assert_true(wndl_cgroup_parse("0::/user.slice/x\n",
        "29 23 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,x\n",
        &group));
    assert_string_equal(group.folder, "/sys/fs/cgroup/user.slice/x");
    assert_true(group.is_second);
    /* In a container a part of the tree is mounted. */
    assert_true(wndl_cgroup_parse("3:cpu,memory:/docker/1/sub\n",
        "35 31 0:32 /docker/1 /m rw - cgroup cgroup rw,cpu,memory\n", &group));
    assert_string_equal(group.folder, "/m/sub");
    assert_true(wndl_cgroup_parse("3:memory:/\n",
        "35 31 0:32 /docker/1 /m rw - cgroup cgroup rw,memory\n", &group));
    assert_string_equal(group.folder, "/m");
}

static void no_group_is_none(void **state)
{
    (void)state;
    struct wndl_cgroup group;
    static const char *const groups[] = {"", "x", "4:memory", "0:", "0::/a",
        "4:memoryx:/a\n", "\n\n", "4:memory:/a\n"};
    static const char *const mounts[] = {
        "", "35", "35 31 0:32 / /m rw - cgroup", "35 31 - cgroup x rw,mem\n"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        for (size_t j = 0; j < sizeof mounts / sizeof *mounts; j++)
            assert_false(wndl_cgroup_parse(groups[i], mounts[j], &group));
    }
    assert_false(wndl_cgroup_parse("4:memory:/a\n", "", &group));
    assert_false(wndl_cgroup_parse("4:cpu:/a\n", MOUNTS_1, &group));
}

/* ---- a log from outside */

/* Reads the only log of a folder. */
static void read_only_log(struct wndl_event_log *log, int folder)
{
    DIR *dir = fdopendir(dup(folder));
    struct wndl_file file;
    const struct dirent *entry;
    wndl_event_log_init(log, wndl_mem_libc());
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        const int fd = openat(folder, entry->d_name, O_RDONLY);
        assert_int_equal(log->processes.len, 0);
        assert_int_equal(wndl_file_of_descriptor(fd, &file, NULL), WNDL_OK);
        assert_int_equal(
            wndl_memlog_read_ring(log, file.bytes, NULL, NULL), WNDL_OK);
        wndl_file_close(&file);
        close(fd);
        unlinkat(folder, entry->d_name, 0);
    }
    closedir(dir);
}

static void put_some(struct wndl_outside *log)
{
    const int64_t numbers[] = {81, 82, 83};
    wndl_outside_put(log, WNDL_OUTSIDE_RSS, numbers, 2, NULL);
    wndl_outside_put(log, WNDL_OUTSIDE_CODE, numbers, 2, "[heap]");
    wndl_outside_rename(log);
    wndl_outside_put(log, WNDL_OUTSIDE_RSS, numbers + 1, 2, NULL);
}

static void check_some(const struct wndl_event_log *log, pid_t pid)
{
    static const char *const names[] = {"rss", "step of code", "name", "rss"};
    const struct wndl_event_process *p = wndl_vec_at(&log->processes, 0);
    assert_int_equal(p->process, pid);
    assert_int_equal(p->parent, getpid());
    assert_int_equal(p->watcher, getpid());
    assert_string_equal(p->name, "test_memory");
    assert_int_equal(log->events.len, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct wndl_event *e = wndl_vec_at(&log->events, i);
        assert_string_equal(wndl_event_type_of(log, e)->name, names[i]);
        assert_int_equal(e->thread, 0);
        assert_int_equal(e->number_at[0], i == 2 ? 0 : i == 3 ? 82 : 81);
    }
    const struct wndl_event *step = wndl_vec_at(&log->events, 1);
    assert_true(wndl_bytes_is(step->text, "[heap]"));
}

static void a_watcher_writes_logs_of_others(void **state)
{
    (void)state;
    char path[] = "/tmp/test_memory.XXXXXX";
    struct wndl_outside log = {0};
    struct wndl_event_log copy;
    assert_non_null(mkdtemp(path));
    const int folder = open(path, O_RDONLY | O_DIRECTORY);
    const pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    assert_int_equal(wndl_outside_open(&log, folder, child, NULL), WNDL_OK);
    put_some(&log);
    wndl_outside_close(&log);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(wndl_outside_open(&log, folder, child, NULL), WNDL_IO);
    read_only_log(&copy, folder);
    check_some(&copy, child);
    wndl_event_log_free(&copy);
    close(folder);
    rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_what_the_other_lacks),
        cmocka_unit_test(own_steps_are_read),
        cmocka_unit_test(own_usage_is_read),
        cmocka_unit_test(numbers_of_lines_are_found),
        cmocka_unit_test(groups_of_both_versions_are_found),
        cmocka_unit_test(no_group_is_none),
        cmocka_unit_test(a_watcher_writes_logs_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
