/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/names/jit.h"
#include "analyze/names/jit_names.h"
#include "jitmake.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FRAMES = 8, OTHER_USER = 65432 };

/* A recording of /bin/app, which ran from 1000 s to 2000 s after 1970. */
struct fixture {
    struct wndl_profile profile;
    struct wndl_symbolized s;
    uint32_t frames[MAX_FRAMES];
    size_t count;
};

static const uint64_t second = 1000000000;

static void add_process(struct fixture *f, uint32_t parent, uint32_t pid)
{
    static const char app[] = "/bin/app";
    struct wndl_process *process = wndl_vec_push(&f->profile.processes);
    *process = (struct wndl_process){
        .parent = parent,
        .pid = pid,
        .end = 1000 * second,
        .how_ended = 1,
        .executable = {(const uint8_t *)app, sizeof app - 1},
    };
}

static void add_address(struct fixture *f, uint32_t process, uint64_t address)
{
    struct wndl_frame_key key = {.image = WNDL_NO_INDEX,
        .process = process,
        .address = address,
        .exact = WNDL_EXACT_INTERRUPTED};
    assert_true(f->count < MAX_FRAMES);
    assert_true(wndl_profile_frame(&f->profile, key, &f->frames[f->count++]));
}

static void init(struct fixture *f)
{
    *f = (struct fixture){0};
    assert_true(wndl_profile_init(&f->profile, wndl_mem_libc()));
    f->profile.realtime = 1000 * second;
}

static void start(struct fixture *f)
{
    assert_true(wndl_symbolized_init(&f->s, &f->profile, wndl_mem_libc()));
}

static void clear(struct fixture *f)
{
    wndl_symbolized_free(&f->s);
    wndl_profile_free(&f->profile);
}

/* "function|file:line|file:line": where it starts, where the frame is. */
static const char *name_of(const struct fixture *f, size_t frame)
{
    static char text[512];
    const struct wndl_symbolized *s = &f->s;
    const struct wndl_span *span = wndl_vec_at(&s->spans, f->frames[frame]);
    if (span->count == 0)
        return "none";
    const struct wndl_location *at = wndl_symbolized_location(s, span, 0);
    const struct wndl_function *function =
        wndl_vec_at(&s->functions, at->function);
    snprintf(text, sizeof text, "%s|%s:%u|%s:%u",
        wndl_intern_text(&s->strings, function->name),
        wndl_intern_text(&s->strings, function->file), function->line,
        wndl_intern_text(&s->strings, at->file), at->line);
    return text;
}

/* ---- from bytes */

struct names {
    struct wndl_jit_names n;
    struct wndl_jit_address addresses[MAX_FRAMES];
    uint32_t next[MAX_FRAMES + 1];
};

/* The frames of `f`, which were added in the order of their addresses. */
static struct wndl_jit_names *names_of(struct fixture *f, struct names *names)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const struct wndl_frame_key *key =
            wndl_vec_at(&f->profile.frames, f->frames[i]);
        names->addresses[i] =
            (struct wndl_jit_address){key->address, 0, f->frames[i]};
        names->next[i] = i;
    }
    names->next[f->count] = (uint32_t)f->count;
    names->n = (struct wndl_jit_names){.s = &f->s,
        .addresses = names->addresses,
        .next = names->next,
        .count = (uint32_t)f->count};
    return &names->n;
}

static void later_lines_win_over_earlier_ones(void **state)
{
    (void)state;
    static const char map[] = "1000 100 old a.js:1\n"
                              "1010 10 inner\n"
                              "3000 10 other\n"
                              "junk\n"
                              "1040 100 newer /b c.js:7:9\n"
                              "1060 0 empty\n";
    static const uint64_t addresses[] = {
        0xfff, 0x1000, 0x1010, 0x1020, 0x1040, 0x113f, 0x1140, 0x3000};
    static const char *const expected[] = {"none", "old a.js:1|a.js:1|a.js:0",
        "inner|:0|:0", "old a.js:1|a.js:1|a.js:0",
        "newer /b c.js:7:9|/b c.js:7|/b c.js:0",
        "newer /b c.js:7:9|/b c.js:7|/b c.js:0", "none", "other|:0|:0"};
    struct fixture f;
    struct names names;
    init(&f);
    for (size_t i = 0; i < 8; i++)
        add_address(&f, 0, addresses[i]);
    start(&f);
    struct wndl_bytes bytes = {(const uint8_t *)map, sizeof map - 1};
    assert_true(wndl_jit_names_from_map(names_of(&f, &names), bytes));
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(name_of(&f, i), expected[i]);
    assert_int_equal(names.n.named, 6);
    assert_int_equal(names.n.damaged, 1);
    clear(&f);
}

static void place_is_what_a_name_ends_with(void **state)
{
    (void)state;
    static const struct {
        const char *name, *file;
        uint32_t line;
    } cases[] = {
        {"JS:*f /a/x.js:12:3", "/a/x.js", 12},
        {"LazyCompile:*f /a/x.js:12", "/a/x.js", 12},
        {"JS:~ /a b/x.js:1:1", "/a b/x.js", 1},
        {"JS:^f g file:///a b/x.mjs:3:4", "file:///a b/x.mjs", 3},
        {"JS:~ node:internal/main/run:9:1", "node:internal/main/run", 9},
        {"Builtin:ArrayMap", NULL, 0},
        {"f :3:4", NULL, 0},
        {"12:3", NULL, 0},
        {":1", NULL, 0},
        {"f x.js:1234567890", NULL, 0},
        {"", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wndl_bytes name = {
            (const uint8_t *)cases[i].name, strlen(cases[i].name)};
        struct wndl_bytes file;
        uint32_t line;
        bool found = wndl_jit_place(name, &file, &line);
        assert_int_equal(found, cases[i].file != NULL);
        if (!found)
            continue;
        assert_true(wndl_bytes_is(file, cases[i].file));
        assert_int_equal(line, cases[i].line);
    }
}

static void expect_from_dump(struct fixture *f, struct jitmake *m,
    const char *const *expected, uint64_t damaged)
{
    struct names names;
    start(f);
    assert_int_equal(wndl_jit_names_from_dump(
                         names_of(f, &names), jitmake_bytes(m), 4711, NULL),
        WNDL_OK);
    for (size_t i = 0; i < f->count; i++)
        assert_string_equal(name_of(f, i), expected[i]);
    assert_int_equal(names.n.damaged, damaged);
    wndl_buf_free(&m->out);
    clear(f);
}

/* f at 0x1000, then moved to 0x2000, where g had been. */
static void dump_names_loaded_and_moved_code_with_lines(void **state)
{
    (void)state;
    static const struct jitmake_line lines[] = {
        {0x1020, 9, "in.h"}, {0x1004, 3, "f.c"}, {0x1010, 4, "\xff"}};
    /* The first address comes before the first line. */
    static const char *const expected[] = {"f|f.c:0|f.c:0", "f|f.c:0|f.c:3",
        "f|f.c:0|f.c:4", "f|f.c:0|in.h:9", "f|f.c:0|f.c:3", "g|:0|:0"};
    struct fixture f;
    struct jitmake m;
    init(&f);
    static const uint64_t addresses[] = {
        0x1000, 0x1004, 0x101f, 0x103f, 0x200f, 0x2040};
    for (size_t i = 0; i < 6; i++)
        add_address(&f, 0, addresses[i]);
    jitmake_init(&m, false, 4711);
    jitmake_lines(&m, 0x1000, lines, 3, 0);
    jitmake_load(&m, 0x1000, 0x40, 1, "f");
    jitmake_load(&m, 0x2000, 0x80, 2, "g");
    jitmake_move(&m, 0x2000, 0x40, 1);
    jitmake_move(&m, 0x9000, 0x40, 99);
    expect_from_dump(&f, &m, expected, 1);
}

static void offsets_after_an_elf_header_are_understood(void **state)
{
    (void)state;
    static const struct jitmake_line lines[] = {
        {0x1040, 2, "x.js"}, {0x1048, 3, "x.js"}};
    static const char *const expected[] = {
        "JS:*f x.js:1:1|x.js:1|x.js:2", "JS:*f x.js:1:1|x.js:1|x.js:3"};
    struct fixture f;
    struct jitmake m;
    init(&f);
    add_address(&f, 0, 0x1000);
    add_address(&f, 0, 0x1009);
    jitmake_init(&m, false, 4711);
    jitmake_lines(&m, 0x1000, lines, 2, 6);
    jitmake_load(&m, 0x1000, 0x80, 1, "JS:*f x.js:1:1");
    expect_from_dump(&f, &m, expected, 0);
}

static void file_names_with_zeroes_in_them_are_made_good(void **state)
{
    (void)state;
    static const struct jitmake_line lines[] = {
        {0x1000, 2, "x.js"}, {0x1008, 3, "x.js"}};
    static const char *const expected[] = {
        "JS:*f x.js:1:1|x.js:1|x.js:2", "JS:*f x.js:1:1|x.js:1|x.js:3"};
    struct fixture f;
    struct jitmake m;
    init(&f);
    add_address(&f, 0, 0x1000);
    add_address(&f, 0, 0x1009);
    jitmake_init(&m, false, 4711);
    jitmake_lines(&m, 0x1000, lines, 2, 6);
    memset(m.out.data + m.record + 16 + 16 + 16, 0, 4);
    jitmake_load(&m, 0x1000, 0x80, 1, "JS:*f x.js:1:1");
    expect_from_dump(&f, &m, expected, 0);
}

static void lines_that_are_damaged_lose_themselves_alone(void **state)
{
    (void)state;
    static const struct jitmake_line lines[] = {
        {0x1000, 2, "x.js"}, {0x1008, 3, "x.js"}};
    static const char *const expected[] = {"f|:0|:0"};
    struct fixture f;
    struct jitmake m;
    init(&f);
    add_address(&f, 0, 0x1000);
    jitmake_init(&m, false, 4711);
    jitmake_lines(&m, 0x1000, lines, 2, 9);
    jitmake_load(&m, 0x1000, 0x80, 1, "f");
    expect_from_dump(&f, &m, expected, 1);
}

static void dump_of_another_process_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    struct names names;
    struct jitmake m;
    init(&f);
    start(&f);
    jitmake_init(&m, false, 4712);
    assert_int_equal(wndl_jit_names_from_dump(
                         names_of(&f, &names), jitmake_bytes(&m), 4711, NULL),
        WNDL_NOT_FOUND);
    wndl_buf_free(&m.out);
    clear(&f);
}

/* ---- from files */

static char home[64];

static int make_home(void **state)
{
    (void)state;
    strcpy(home, "/tmp/wndl-test-jit-XXXXXX");
    return mkdtemp(home) == NULL || setenv("HOME", home, 1) != 0;
}

static int remove_home(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s' /tmp/perf-%d.map", home,
        (int)getpid());
    return system(command);
}

/* Last written `time` seconds after 1970. */
static void write_file(const char *path, struct wndl_bytes bytes, long time)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
    struct timespec times[2] = {{.tv_sec = time}, {.tv_sec = time}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static const char *map_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    return path;
}

static void write_map(const char *text, long time)
{
    struct wndl_bytes bytes = {(const uint8_t *)text, strlen(text)};
    unlink(map_path());
    write_file(map_path(), bytes, time);
}

static void symbolize(struct fixture *f)
{
    start(f);
    assert_true(wndl_jit_symbolize(&f->s, f->frames, f->count, NULL));
}

static const char *module_of(const struct fixture *f, size_t frame)
{
    const struct wndl_span *span = wndl_vec_at(&f->s.spans, f->frames[frame]);
    const struct wndl_location *at = wndl_symbolized_location(&f->s, span, 0);
    const struct wndl_function *function =
        wndl_vec_at(&f->s.functions, at->function);
    const struct wndl_module *module =
        wndl_vec_at(&f->s.modules, function->module);
    assert_int_equal(module->state, WNDL_SYMBOLS_GENERATED);
    return wndl_intern_text(&f->s.strings, module->name);
}

static void map_is_used_in_the_time_of_its_process(void **state)
{
    (void)state;
    static const struct {
        long time;
        const char *expected;
    } cases[] = {
        {998, "none"}, {1000, "f|:0|:0"}, {2000, "f|:0|:0"}, {2002, "none"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        init(&f);
        add_process(&f, WNDL_NO_INDEX, (uint32_t)getpid());
        add_address(&f, 0, 0x1000);
        write_map("1000 10 f\n", cases[i].time);
        symbolize(&f);
        assert_string_equal(name_of(&f, 0), cases[i].expected);
        bool used = strcmp(cases[i].expected, "none") != 0;
        assert_int_equal(f.s.modules.len, used ? 2 : 1);
        if (used)
            assert_string_equal(module_of(&f, 0), "[JIT] app");
        clear(&f);
    }
}

static void forked_process_goes_on_with_its_parents_code(void **state)
{
    (void)state;
    struct fixture f;
    init(&f);
    add_process(&f, WNDL_NO_INDEX, (uint32_t)getpid());
    add_process(&f, 0, UINT32_MAX);
    add_process(&f, 0, UINT32_MAX - 1);
    struct wndl_process *execed = wndl_vec_at(&f.profile.processes, 2);
    execed->generation = 1;
    for (uint32_t i = 0; i < 3; i++)
        add_address(&f, i, 0x1000);
    write_map("1000 10 f\n", 1500);
    symbolize(&f);
    assert_string_equal(name_of(&f, 0), "f|:0|:0");
    assert_string_equal(name_of(&f, 1), "f|:0|:0");
    assert_string_equal(name_of(&f, 2), "none");
    clear(&f);
}

static void map_after_a_link_is_not_used(void **state)
{
    (void)state;
    struct fixture f;
    char other[128];
    init(&f);
    add_process(&f, WNDL_NO_INDEX, (uint32_t)getpid());
    add_address(&f, 0, 0x1000);
    write_map("1000 10 f\n", 1500);
    snprintf(other, sizeof other, "%s/other", home);
    assert_int_equal(rename(map_path(), other), 0);
    assert_int_equal(symlink(other, map_path()), 0);
    symbolize(&f);
    assert_string_equal(name_of(&f, 0), "none");
    clear(&f);
}

/* Needs to be root, to make a file of another user's. */
static void map_of_another_user_is_used_if_he_recorded(void **state)
{
    (void)state;
    if (geteuid() != 0)
        SKIP("not root");
    static const uint32_t owners[] = {0, OTHER_USER};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        init(&f);
        f.profile.owner = owners[i];
        add_process(&f, WNDL_NO_INDEX, (uint32_t)getpid());
        add_address(&f, 0, 0x1000);
        write_map("1000 10 f\n", 1500);
        assert_int_equal(chown(map_path(), OTHER_USER, 0), 0);
        symbolize(&f);
        assert_string_equal(name_of(&f, 0), i == 0 ? "none" : "f|:0|:0");
        clear(&f);
    }
}

static void dump_in_the_home_folder_comes_before_the_map(void **state)
{
    (void)state;
    char path[192];
    struct fixture f;
    struct jitmake m;
    init(&f);
    add_process(&f, WNDL_NO_INDEX, (uint32_t)getpid());
    add_address(&f, 0, 0x1000);
    add_address(&f, 0, 0x2000);
    write_map("1000 10 map\n2000 10 map\n", 1500);
    snprintf(path, sizeof path, "%s/.debug", home);
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/jit");
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/java-jit-1");
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path + strlen(path), 32, "/jit-%d.dump", (int)getpid());
    jitmake_init(&m, true, (uint32_t)getpid());
    jitmake_load(&m, 0x1000, 0x10, 1, "dump");
    write_file(path, jitmake_bytes(&m), 1500);
    wndl_buf_free(&m.out);
    symbolize(&f);
    assert_string_equal(name_of(&f, 0), "dump|:0|:0");
    assert_string_equal(name_of(&f, 1), "map|:0|:0");
    clear(&f);
}

/* Uses the files of the test before. */
static void failed_allocations_are_told_and_leak_nothing(void **state)
{
    (void)state;
    struct fixture f;
    init(&f);
    add_process(&f, WNDL_NO_INDEX, (uint32_t)getpid());
    add_address(&f, 0, 0x1000);
    add_address(&f, 0, 0x2000);
    bool done = false;
    for (long budget = 0; !done; budget++) {
        struct failing_mem heap;
        failing_mem_init(&heap, budget);
        if (wndl_symbolized_init(&f.s, &f.profile, &heap.mem)) {
            done = wndl_jit_symbolize(&f.s, f.frames, f.count, NULL);
            if (done)
                assert_string_equal(name_of(&f, 0), "dump|:0|:0");
            wndl_symbolized_free(&f.s);
        }
        assert_int_equal(heap.live, 0);
    }
    wndl_profile_free(&f.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_lines_win_over_earlier_ones),
        cmocka_unit_test(place_is_what_a_name_ends_with),
        cmocka_unit_test(dump_names_loaded_and_moved_code_with_lines),
        cmocka_unit_test(offsets_after_an_elf_header_are_understood),
        cmocka_unit_test(file_names_with_zeroes_in_them_are_made_good),
        cmocka_unit_test(lines_that_are_damaged_lose_themselves_alone),
        cmocka_unit_test(dump_of_another_process_is_refused),
        cmocka_unit_test(map_is_used_in_the_time_of_its_process),
        cmocka_unit_test(forked_process_goes_on_with_its_parents_code),
        cmocka_unit_test(map_after_a_link_is_not_used),
        cmocka_unit_test(map_of_another_user_is_used_if_he_recorded),
        cmocka_unit_test(dump_in_the_home_folder_comes_before_the_map),
        cmocka_unit_test(failed_allocations_are_told_and_leak_nothing),
    };
    return cmocka_run_group_tests_name("jit", tests, make_home, remove_home);
}
