/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "marked.h"
#include "os/file.h"
#include "symbolize/files/cache_file.h"
#include "symbolize/symbolizer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windlass/version.h>
#include <zlib.h>

#define FIXTURE(name) WNDL_BUILT_FIXTURES "/symbolize/" name

enum { HEADER = 120, ANSWER = 16, FRAME = 32 };

static const struct wndl_cache_key key = {.build_id = {0xab, 0xcd},
    .build_id_size = 2,
    .sources = 0x1122334455667788};

/* What the test's file holds: nothing at 5, two frames at 0x10, one at 0x20. */
static const struct wndl_symbol_frame frames[] = {
    {"f(int)", "_Z1fi", "a.c", 3, 1, true, 0x10, 0x1d},
    {"g", "g", "a.c", 9, 0, false, 0xc, 0x1d},
    {"g", "g", "", 0, 0, false, 0x20, 0},
};
static const struct wndl_symbols answers[] = {
    {NULL, 0}, {frames, 2}, {frames + 2, 1}};
static const uint64_t rvas[] = {5, 0x10, 0x20};

static void make(struct wndl_buf *out)
{
    struct wndl_arena arena;
    struct wndl_cache_writer writer;
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_true(wndl_cache_writer_init(&writer, &arena));
    for (size_t i = 0; i < 3; i++)
        wndl_cache_writer_add(&writer, rvas[i], &answers[i]);
    wndl_buf_init(out, wndl_mem_libc());
    assert_int_equal(wndl_cache_writer_finish(&writer, &key, out), WNDL_OK);
    wndl_cache_writer_free(&writer);
    wndl_arena_free(&arena);
}

static struct wndl_bytes bytes_of(const struct wndl_buf *buf)
{
    return (struct wndl_bytes){buf->data, buf->size};
}

static void put32(struct wndl_buf *buf, size_t at, uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        buf->data[at + i] = (uint8_t)(value >> 8 * i);
}

/* As somebody would who makes files up. */
static void mend_crc(struct wndl_buf *buf)
{
    put32(
        buf, 12, (uint32_t)crc32(0, buf->data + 16, (unsigned)buf->size - 16));
}

static enum wndl_status read_buf(
    const struct wndl_buf *buf, struct wndl_cache_file *file)
{
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_cache_file_read(bytes_of(buf), &key, file, &err);
    assert_int_equal(err.status, status);
    assert_true(status == WNDL_OK || file->count == 0);
    assert_true(status == WNDL_OK || err.what[0] != '\0');
    return status;
}

static void the_bytes_are_those_of_the_specification(void **state)
{
    (void)state;
    /* clang-format off */
    static const uint8_t head[] = {
        'W', 'N', 'D', 'L', 'S', 'Y', 'M', 'C', 1, 0, 0, 0,
    };
    static const uint8_t middle[] = {
        0x21, 1, 0, 0, 0, 0, 0, 0, /* size: 289 */
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
        WNDL_VERSION_PATCH, WNDL_VERSION_MINOR << 4, 0, WNDL_VERSION_MAJOR,
        3, 0, 0, 0, 3, 0, 0, 0, 25, 0, 0, 0,
        2, 0, 0, 0, 0, 0, 0, 0, 0xab, 0xcd,
    };
    static const uint8_t tables[] = {
        5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
        0x20, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0,
        0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0,
        14, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0x1d, 0, 1, 0,
        0xc, 0, 0, 0, 0, 0, 0, 0, 18, 0, 0, 0, 18, 0, 0, 0,
        14, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0x1d, 0, 0, 0,
        0x20, 0, 0, 0, 0, 0, 0, 0, 18, 0, 0, 0, 18, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    };
    static const char strings[] = "\0f(int)\0_Z1fi\0a.c\0g";
    /* clang-format on */
    struct wndl_buf out;
    make(&out);
    size_t strings_at = HEADER + sizeof tables;
    assert_int_equal(out.size, strings_at + sizeof strings);
    assert_memory_equal(out.data, head, sizeof head);
    assert_memory_equal(out.data + HEADER, tables, sizeof tables);
    assert_memory_equal(out.data + strings_at, strings, sizeof strings);
    uint8_t expected[HEADER - 16] = {0};
    memcpy(expected, middle, sizeof middle);
    expected[0] = (uint8_t)out.size;
    expected[1] = (uint8_t)(out.size >> 8);
    expected[28] = sizeof strings;
    assert_memory_equal(out.data + 16, expected, sizeof expected);
    uint8_t crc[4];
    memcpy(crc, out.data + 12, 4);
    mend_crc(&out);
    assert_memory_equal(out.data + 12, crc, 4);
    wndl_buf_free(&out);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct wndl_buf out;
    struct wndl_cache_file file;
    struct wndl_cache_answer answer;
    make(&out);
    assert_int_equal(read_buf(&out, &file), WNDL_OK);
    assert_int_equal(file.count, 3);
    for (size_t i = 0; i < 3; i++) {
        struct wndl_symbol_frame got[2];
        assert_true(wndl_cache_file_find(&file, rvas[i], &answer));
        assert_int_equal(answer.count, answers[i].count);
        wndl_cache_file_frames(&file, &answer, got);
        for (size_t k = 0; k < answer.count; k++) {
            const struct wndl_symbol_frame *want = &answers[i].frames[k];
            assert_string_equal(got[k].function, want->function);
            assert_string_equal(got[k].mangled, want->mangled);
            assert_string_equal(got[k].file, want->file);
            assert_int_equal(got[k].line, want->line);
            assert_int_equal(got[k].column, want->column);
            assert_int_equal(got[k].inlined, want->inlined);
            assert_int_equal(got[k].function_rva, want->function_rva);
            assert_int_equal(got[k].language, want->language);
        }
    }
    const uint64_t others[] = {0, 4, 6, 0x11, 0x21, UINT64_MAX};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(wndl_cache_file_find(&file, others[i], &answer));
    wndl_buf_free(&out);
}

static void expect_refused(struct wndl_bytes prefix, void *context)
{
    struct wndl_cache_file file;
    struct wndl_error err = {0};
    const size_t *whole = context;
    if (prefix.size == *whole)
        return;
    enum wndl_status status = wndl_cache_file_read(prefix, &key, &file, &err);
    assert_int_equal(status, prefix.size < 8 ? WNDL_MALFORMED : WNDL_TRUNCATED);
    assert_int_equal(file.count, 0);
}

static void a_file_cut_short_anywhere_is_refused(void **state)
{
    (void)state;
    struct wndl_buf out;
    make(&out);
    for_each_truncation(bytes_of(&out), expect_refused, &out.size);
    wndl_buf_free(&out);
}

static void one_wrong_bit_anywhere_is_seen(void **state)
{
    (void)state;
    struct wndl_buf out;
    struct wndl_cache_file file;
    make(&out);
    for (size_t bit = 0; bit < out.size * 8; bit++) {
        out.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(read_buf(&out, &file), WNDL_OK);
        out.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(read_buf(&out, &file), WNDL_OK);
    wndl_buf_free(&out);
}

/* With a right checksum, so that the other checks are what refuses. */
static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    enum { FRAMES = HEADER + 3 * ANSWER, STRINGS = FRAMES + 3 * FRAME };
    static const struct {
        size_t at;
        uint32_t value;
        enum wndl_status status;
    } damages[] = {
        {8, 2, WNDL_UNSUPPORTED},           /* version */
        {32, 0x7f, WNDL_UNSUPPORTED},       /* writer */
        {24, 1, WNDL_MALFORMED},            /* sources */
        {36, 2, WNDL_MALFORMED},            /* counts of tables */
        {36, UINT32_MAX, WNDL_MALFORMED},   /* */
        {40, 0x80000000, WNDL_MALFORMED},   /* */
        {44, 0, WNDL_MALFORMED},            /* */
        {48, 3, WNDL_MALFORMED},            /* size of the build-id */
        {56, 1, WNDL_MALFORMED},            /* build-id */
        {HEADER + 16, 4, WNDL_MALFORMED},   /* rva before the last */
        {HEADER + 16, 5, WNDL_MALFORMED},   /* the same again */
        {HEADER + 8, 1, WNDL_MALFORMED},    /* first frame */
        {HEADER + 12, 1, WNDL_MALFORMED},   /* count of frames */
        {HEADER + 28, 4, WNDL_MALFORMED},   /* */
        {HEADER + 44, 0, WNDL_MALFORMED},   /* a frame of no answer */
        {FRAMES + 8, 1000, WNDL_MALFORMED}, /* strings */
        {FRAMES + 12, UINT32_MAX, WNDL_MALFORMED},
        {FRAMES + 16, 1000, WNDL_MALFORMED},
        {FRAMES + 28, 0, WNDL_MALFORMED}, /* not inlined into the next */
        {FRAMES + FRAME + 28, 0x10000, WNDL_MALFORMED}, /* into nothing */
        {FRAMES + 28, 0x20000, WNDL_MALFORMED},
        {STRINGS, 0x61616161, WNDL_MALFORMED}, /* does not begin with NUL */
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct wndl_buf out;
        struct wndl_cache_file file;
        make(&out);
        put32(&out, damages[i].at, damages[i].value);
        mend_crc(&out);
        assert_int_equal(read_buf(&out, &file), damages[i].status);
        wndl_buf_free(&out);
    }
}

/* ---- by a symbolizer */

struct notes {
    unsigned count;
    struct wndl_error last;
};

static void note(void *context, const struct wndl_error *err)
{
    struct notes *notes = context;
    notes->count++;
    notes->last = *err;
}

static char folder[] = "/tmp/wndl-test-cache-XXXXXX";
static char cache_path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(cache_path, sizeof cache_path, "%s/cache", folder);
    return 0;
}

/* Calls `visit` for each file; the number of them. */
static unsigned each_file(void (*visit)(const char *path))
{
    unsigned count = 0;
    DIR *dir = opendir(cache_path);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        char path[512];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", cache_path, e->d_name);
        count++;
        if (visit != NULL)
            visit(path);
    }
    if (dir != NULL)
        closedir(dir);
    return count;
}

static void remove_file(const char *path)
{
    unlink(path);
}

static int remove_folder(void **state)
{
    (void)state;
    each_file(remove_file);
    rmdir(cache_path);
    return rmdir(folder);
}

static int empty_folder(void **state)
{
    (void)state;
    each_file(remove_file);
    return 0;
}

static struct wndl_symbolizer *open_with(
    struct wndl_mem *mem, const char *path, struct notes *notes, bool mangled)
{
    const struct wndl_symbolizer_cache cache = {cache_path, note, notes};
    struct wndl_symbolizer_options options = {
        .size = sizeof options, .no_demangle = mangled, .cache = &cache};
    struct wndl_symbolizer *s = NULL;
    *notes = (struct notes){0};
    enum wndl_status status =
        wndl_symbolizer_open_with(mem, path, &options, &s, NULL);
    assert_true(status == WNDL_OK || status == WNDL_NOMEM);
    return s;
}

/* The place in the middle of an inlined chain, in one run. */
static void look_up(const char *path, struct notes *notes, bool mangled)
{
    struct wndl_symbols answer;
    struct wndl_symbolizer_info info;
    struct wndl_symbolizer *s =
        open_with(wndl_mem_libc(), path, notes, mangled);
    assert_int_equal(
        wndl_symbolizer_lookup(s, marked_rva(path), &answer, NULL), WNDL_OK);
    assert_int_equal(answer.count, 3);
    assert_string_equal(answer.frames[0].function, "innermost");
    assert_int_equal(answer.frames[0].line, LINE_INNERMOST);
    assert_true(answer.frames[0].inlined);
    assert_string_equal(answer.frames[2].function, "outer");
    assert_non_null(strstr(answer.frames[2].file, "symbolize/sample.c"));
    assert_int_equal(
        wndl_symbolizer_lookup(s, 1u << 30, &answer, NULL), WNDL_NOT_FOUND);
    wndl_symbolizer_get_info(s, &info);
    assert_true(info.has_dwarf);
    assert_string_equal(info.debug_file, path);
    wndl_symbolizer_close(s);
}

static struct stat stat_first;
static char only_file[512];

static void remember(const char *path)
{
    assert_int_equal(stat(path, &stat_first), 0);
    snprintf(only_file, sizeof only_file, "%s", path);
}

static void a_second_run_answers_the_same_and_writes_nothing(void **state)
{
    (void)state;
    struct notes notes;
    look_up(FIXTURE("pie"), &notes, false);
    assert_int_equal(notes.count, 0);
    assert_int_equal(each_file(remember), 1);
    ino_t first = stat_first.st_ino;
    look_up(FIXTURE("pie"), &notes, false);
    assert_int_equal(notes.count, 0);
    assert_int_equal(each_file(remember), 1);
    assert_int_equal(stat_first.st_ino, first);
}

/* Answers that are wrong in the file come out: it is what was asked. */
static void a_second_run_asks_the_file(void **state)
{
    (void)state;
    struct notes notes;
    struct wndl_symbols answer;
    look_up(FIXTURE("pie"), &notes, false);
    each_file(remember);
    struct wndl_bytes whole = read_whole_file(only_file);
    struct wndl_buf copy;
    wndl_buf_init(&copy, wndl_mem_libc());
    wndl_buf_add(&copy, whole.data, whole.size);
    uint8_t *name = memmem(copy.data, copy.size, "innermost", 9);
    assert_non_null(name);
    memcpy(name, "INNERMOST", 9);
    mend_crc(&copy);
    FILE *f = fopen(only_file, "wb");
    assert_int_equal(fwrite(copy.data, 1, copy.size, f), copy.size);
    fclose(f);
    struct wndl_symbolizer *s =
        open_with(wndl_mem_libc(), FIXTURE("pie"), &notes, false);
    uint64_t rva = marked_rva(FIXTURE("pie"));
    assert_int_equal(
        wndl_symbolizer_lookup_batch(s, &rva, 1, &answer, NULL), WNDL_OK);
    assert_string_equal(answer.frames[0].function, "INNERMOST");
    /* What is not in it is looked up all the same, beside it. */
    const uint64_t both[] = {answer.frames[2].function_rva, rva};
    struct wndl_symbols two[2];
    assert_int_equal(
        wndl_symbolizer_lookup_batch(s, both, 2, two, NULL), WNDL_OK);
    assert_string_equal(two[0].frames[two[0].count - 1].function, "outer");
    assert_int_not_equal(two[0].frames[0].line, 0);
    wndl_symbolizer_close(s);
    free((void *)whole.data);
    wndl_buf_free(&copy);
}

static void answers_of_several_runs_come_together(void **state)
{
    (void)state;
    struct notes notes;
    struct wndl_symbols answer;
    uint64_t rva = marked_rva(FIXTURE("pie"));
    struct wndl_cache_file none = {0};
    assert_false(
        wndl_cache_file_find(&none, rva, &(struct wndl_cache_answer){0}));
    for (uint64_t i = 0; i < 4; i++) {
        struct wndl_symbolizer *s =
            open_with(wndl_mem_libc(), FIXTURE("pie"), &notes, false);
        (void)!wndl_symbolizer_lookup(s, rva + 3 - i, &answer, NULL);
        wndl_symbolizer_close(s);
    }
    assert_int_equal(each_file(remember), 1);
    struct wndl_bytes whole = read_whole_file(only_file);
    assert_int_equal(whole.data[36], 4); /* count of answers */
    free((void *)whole.data);
}

static void mangled_names_are_kept_apart(void **state)
{
    (void)state;
    struct notes notes;
    look_up(FIXTURE("pie"), &notes, false);
    look_up(FIXTURE("pie"), &notes, true);
    assert_int_equal(each_file(NULL), 2);
}

static void damage(const char *path)
{
    assert_int_equal(truncate(path, 100), 0);
}

static void a_damaged_file_is_told_of_and_written_anew(void **state)
{
    (void)state;
    struct notes notes;
    look_up(FIXTURE("pie"), &notes, false);
    each_file(damage);
    look_up(FIXTURE("pie"), &notes, false);
    assert_int_equal(notes.count, 1);
    assert_int_equal(notes.last.status, WNDL_TRUNCATED);
    assert_non_null(strstr(notes.last.file, ".wsym"));
    look_up(FIXTURE("pie"), &notes, false);
    assert_int_equal(notes.count, 0);
    assert_int_equal(each_file(NULL), 1);
}

static void a_folder_that_cannot_be_made_is_told_of(void **state)
{
    (void)state;
    struct notes notes;
    char whole[sizeof cache_path];
    memcpy(whole, cache_path, sizeof whole);
    snprintf(cache_path, sizeof cache_path, "%s/none/cache", folder);
    look_up(FIXTURE("pie"), &notes, false);
    memcpy(cache_path, whole, sizeof whole);
    assert_int_equal(notes.count, 1);
    assert_int_equal(notes.last.status, WNDL_IO);
    assert_int_equal(notes.last.sys_errno, ENOENT);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    struct notes notes;
    struct wndl_symbols answer;
    uint64_t rva = marked_rva(FIXTURE("pie"));
    bool enough = false;
    for (int round = 0; round < 2; round++, enough = false) {
        for (long budget = 0; !enough; budget++) {
            struct failing_mem mem;
            failing_mem_init(&mem, budget);
            struct wndl_symbolizer *s =
                open_with(&mem.mem, FIXTURE("pie"), &notes, false);
            enough = s != NULL && wndl_symbolizer_lookup(s, rva + budget % 2,
                                      &answer, NULL) == WNDL_OK;
            wndl_symbolizer_close(s);
            enough = enough && notes.count == 0;
            assert_int_equal(mem.live, 0);
        }
    }
    assert_int_equal(each_file(NULL), 1);
    look_up(FIXTURE("pie"), &notes, false);
    assert_int_equal(notes.count, 0);
}

int main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup(test, empty_folder)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_those_of_the_specification),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_file_cut_short_anywhere_is_refused),
        cmocka_unit_test(one_wrong_bit_anywhere_is_seen),
        cmocka_unit_test(what_cannot_be_is_refused),
        WITH_FOLDER(a_second_run_answers_the_same_and_writes_nothing),
        WITH_FOLDER(a_second_run_asks_the_file),
        WITH_FOLDER(answers_of_several_runs_come_together),
        WITH_FOLDER(mangled_names_are_kept_apart),
        WITH_FOLDER(a_damaged_file_is_told_of_and_written_anew),
        WITH_FOLDER(a_folder_that_cannot_be_made_is_told_of),
        WITH_FOLDER(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
