/* SPDX-License-Identifier: MIT */
/*
 * Debug maps with many object files: each file is opened once and each member
 * of an archive a bounded number of times, whatever they are called.
 */
#include "testlib.h"

#include "base/buf.h"
#include "obj/core/object.h"
#include "symbolize/debug_map/debug_map.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEXT = 0x1000, EACH = 16, OBJECT = 1, EXECUTABLE = 2 };
enum { STAB_FUN = 0x24, STAB_SO = 0x64, STAB_OSO = 0x66, IN_SECTION = 0x0f };

static char folder[] = "/tmp/windlass-debug-map-XXXXXX";

/* ---- Mach-O with symbols only */

struct image {
    struct wndl_buf symbols, strings, out;
    uint32_t count;
};

static void image_init(struct image *image)
{
    *image = (struct image){0};
    wndl_buf_init(&image->symbols, wndl_mem_libc());
    wndl_buf_init(&image->strings, wndl_mem_libc());
    wndl_buf_init(&image->out, wndl_mem_libc());
    wndl_buf_byte(&image->strings, 0);
}

static void image_free(struct image *image)
{
    wndl_buf_free(&image->symbols);
    wndl_buf_free(&image->strings);
    wndl_buf_free(&image->out);
}

static void add_symbol(
    struct image *image, unsigned type, const char *name, uint64_t value)
{
    bool named = name[0] != '\0';
    wndl_buf_u32le(&image->symbols, named ? (uint32_t)image->strings.size : 0);
    wndl_buf_byte(&image->symbols, (uint8_t)type);
    wndl_buf_byte(&image->symbols, 1);
    wndl_buf_add(&image->symbols, "\0", 2);
    wndl_buf_u64le(&image->symbols, value);
    if (named)
        wndl_buf_add(&image->strings, name, strlen(name) + 1);
    image->count++;
}

static void add_name(struct wndl_buf *out, const char *name)
{
    char text[17] = {0};
    snprintf(text, sizeof text, "%s", name);
    wndl_buf_add(out, text, 16);
}

static void add_words(struct wndl_buf *out, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wndl_buf_u32le(out, words[i]);
}

#define ADD_WORDS(out, ...)                                                    \
    add_words(out, (const uint32_t[]){__VA_ARGS__},                            \
        sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* For x86-64. The code takes no room in the file. */
static struct wndl_bytes image_end(struct image *image, uint32_t kind)
{
    enum { COMMANDS = 72 + 80 + 24 };
    struct wndl_buf *out = &image->out;
    uint32_t at = 32 + COMMANDS;
    ADD_WORDS(out, 0xfeedfacf, 0x01000007, 3, kind, 2, COMMANDS, 0, 0);
    ADD_WORDS(out, 0x19, 72 + 80);
    add_name(out, "__TEXT");
    ADD_WORDS(out, TEXT, 0, INT32_MAX, 0, 0, 0, 0, 0, 7, 5, 1, 0);
    add_name(out, "__text");
    add_name(out, "__TEXT");
    ADD_WORDS(out, TEXT, 0, INT32_MAX, 0, 0, 0, 0, 0, 0x80000400, 0, 0, 0);
    ADD_WORDS(out, 2, 24, at, image->count, at + (uint32_t)image->symbols.size,
        (uint32_t)image->strings.size);
    wndl_buf_add(out, image->symbols.data, image->symbols.size);
    wndl_buf_add(out, image->strings.data, image->strings.size);
    assert_false(out->failed || image->symbols.failed);
    return (struct wndl_bytes){out->data, out->size};
}

/* ---- a program of `count` functions, f0, f1, ..., one of each source */

static void add_source_of(
    struct image *image, const char *file, const char *name, unsigned number)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    add_symbol(image, STAB_SO, "x.c", 0);
    add_symbol(image, STAB_OSO, path, 0);
    add_symbol(image, STAB_FUN, name, TEXT + (uint64_t)EACH * number);
    add_symbol(image, STAB_FUN, "", EACH);
    add_symbol(image, STAB_SO, "", 0);
}

static void add_source(struct image *image, const char *file, unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "_f%u", number);
    add_source_of(image, file, name, number);
}

static void write_file(const char *name, const struct wndl_buf *content)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(
        fwrite(content->data, 1, content->size, file), content->size);
    assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static void add_member(
    struct wndl_buf *archive, const char *name, struct wndl_bytes content)
{
    wndl_buf_printf(archive, "%-16s%-12u%-6u%-6u%-8s%-10zu`\n", name, 0u, 0u,
        0u, "644", content.size);
    wndl_buf_add(archive, content.data, content.size);
    if (content.size % 2 != 0)
        wndl_buf_byte(archive, '\n');
}

/* The last function's comes first. All have a function that is called alike. */
static void write_archive(unsigned count, const char *name_format)
{
    struct wndl_buf archive;
    wndl_buf_init(&archive, wndl_mem_libc());
    wndl_buf_text(&archive, "!<arch>\n");
    for (unsigned i = count; i-- > 0;) {
        struct image object;
        char name[17];
        image_init(&object);
        snprintf(name, sizeof name, "_f%u", i);
        add_symbol(&object, IN_SECTION, "_alike", TEXT + EACH);
        add_symbol(&object, IN_SECTION, name, TEXT);
        snprintf(name, sizeof name, name_format, i);
        add_member(&archive, name, image_end(&object, OBJECT));
        image_free(&object);
    }
    assert_false(archive.failed);
    write_file("lib.a", &archive);
    wndl_buf_free(&archive);
}

struct program {
    struct image image;
    struct failing_mem heap;
    struct wndl_object *object;
    struct wndl_debug_map *map;
};

enum { PLENTY = 1 << 30 };

static void program_open(struct program *p)
{
    struct wndl_bytes bytes = image_end(&p->image, EXECUTABLE);
    failing_mem_init(&p->heap, PLENTY);
    assert_int_equal(
        wndl_object_open(bytes, "p", wndl_mem_libc(), &p->object, NULL),
        WNDL_OK);
    assert_int_equal(
        wndl_debug_map_open(p->object, NULL, &p->heap.mem, &p->map), WNDL_OK);
    assert_non_null(p->map);
}

static void program_close(struct program *p)
{
    wndl_debug_map_close(p->map);
    wndl_object_close(p->object);
    image_free(&p->image);
    assert_int_equal(p->heap.live, 0);
}

/* The objects have no debug information to answer from. */
static void look_up(struct program *p, unsigned number)
{
    struct wndl_dwarf_frames frames;
    wndl_svma addr = {TEXT + (uint64_t)EACH * number + 1};
    assert_int_equal(
        wndl_debug_map_lookup(p->map, addr, &frames), WNDL_NOT_FOUND);
}

static uint32_t missing(const struct program *p)
{
    struct wndl_dwarf_stats stats;
    wndl_debug_map_get_stats(p->map, &stats);
    return stats.files_missing;
}

/* ---- tests */

/* How often memory was asked for while all members were found, each of which
 * has the function that was linked from it. */
static long count_members(unsigned count, const char *name_format)
{
    struct program p = {0};
    image_init(&p.image);
    for (unsigned i = 0; i < count; i++) {
        char name[17];
        char file[32];
        snprintf(name, sizeof name, name_format, i);
        snprintf(file, sizeof file, "lib.a(%s)", name);
        add_source(&p.image, file, i);
    }
    write_archive(count, name_format);
    program_open(&p);
    long before = p.heap.budget;
    for (unsigned i = 0; i < count; i++)
        look_up(&p, i);
    long used = before - p.heap.budget;
    assert_int_equal(missing(&p), 0);
    program_close(&p);
    remove_file("lib.a");
    return used;
}

/* Four times the members would be 16 times the work, were each looked for from
 * the first on. */
static void test_members(void **state)
{
    static const char *const formats[] = {"x%u.o", "x.o"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        long some = count_members(100, formats[i]);
        long more = count_members(400, formats[i]);
        assert_true(some >= 100);
        assert_true(more < 6 * some && more < 400 * 8);
    }
}

/* What was opened is not opened again: it is gone by then. */
static void test_opened_once(void **state)
{
    enum { COUNT = 50 };
    (void)state;
    for (int in_archive = 0; in_archive < 2; in_archive++) {
        const char *file = in_archive ? "lib.a" : "x.o";
        struct program p = {0};
        struct image object;
        image_init(&p.image);
        image_init(&object);
        for (unsigned i = 0; i < COUNT; i++) {
            char name[16];
            char member[32];
            snprintf(name, sizeof name, "_f%u", i);
            add_symbol(&object, IN_SECTION, name, TEXT + (uint64_t)EACH * i);
            snprintf(member, sizeof member, "lib.a(x%u.o)", i);
            add_source(&p.image, in_archive ? member : file, i);
        }
        (void)image_end(&object, OBJECT);
        if (in_archive)
            write_archive(COUNT, "x%u.o");
        else
            write_file(file, &object.out);
        program_open(&p);
        look_up(&p, 0);
        remove_file(file);
        for (unsigned i = 1; i < COUNT; i++)
            look_up(&p, i);
        assert_int_equal(missing(&p), 0);
        program_close(&p);
        image_free(&object);
    }
}

/* All sources say that they are one member: it is not opened for each. */
static void test_one_member(void **state)
{
    enum { COUNT = 200 };
    (void)state;
    struct program p = {0};
    struct image object;
    struct wndl_buf archive;
    image_init(&p.image);
    image_init(&object);
    wndl_buf_init(&archive, wndl_mem_libc());
    for (unsigned i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "_f%u", i);
        add_symbol(&object, IN_SECTION, name, TEXT + (uint64_t)EACH * i);
        add_source(&p.image, "lib.a(x.o)", i);
    }
    wndl_buf_text(&archive, "!<arch>\n");
    add_member(&archive, "x.o", image_end(&object, OBJECT));
    write_file("lib.a", &archive);
    program_open(&p);
    look_up(&p, 0);
    const long before = p.heap.budget;
    for (unsigned i = 1; i < COUNT; i++)
        look_up(&p, i);
    assert_true(before - p.heap.budget < COUNT / 2);
    assert_int_equal(missing(&p), 0);
    program_close(&p);
    remove_file("lib.a");
    image_free(&object);
    wndl_buf_free(&archive);
}

/* A file that is missing is looked for once; each source of it is counted. */
static void test_missing_once(void **state)
{
    (void)state;
    struct program p = {0};
    struct image object;
    image_init(&p.image);
    image_init(&object);
    add_source(&p.image, "x.o", 0);
    add_source(&p.image, "x.o", 1);
    add_symbol(&object, IN_SECTION, "_f1", TEXT);
    (void)image_end(&object, OBJECT);
    program_open(&p);
    look_up(&p, 0);
    write_file("x.o", &object.out);
    look_up(&p, 1);
    assert_int_equal(missing(&p), 2);
    program_close(&p);
    remove_file("x.o");
    image_free(&object);
}

/* A function that several members have, and one that none has. */
static void test_namesakes(void **state)
{
    (void)state;
    struct program p = {0};
    image_init(&p.image);
    add_source_of(&p.image, "lib.a(x.o)", "_alike", 0);
    add_source_of(&p.image, "lib.a(x.o)", "_none", 1);
    write_archive(100, "x.o");
    program_open(&p);
    look_up(&p, 0);
    assert_int_equal(missing(&p), 0);
    look_up(&p, 1);
    assert_int_equal(missing(&p), 1);
    program_close(&p);
    remove_file("lib.a");
}

/* Any allocation fails once. What was asked for is answered afterwards. */
static void test_no_memory(void **state)
{
    (void)state;
    write_archive(3, "x.o");
    bool failed = true;
    for (long budget = 0; failed; budget++) {
        struct wndl_dwarf_frames frames;
        struct program p = {0};
        assert_true(budget < 1000);
        image_init(&p.image);
        for (unsigned i = 0; i < 3; i++)
            add_source(&p.image, "lib.a(x.o)", i);
        program_open(&p);
        p.heap.budget = budget;
        for (unsigned i = 0; i < 3; i++)
            (void)!wndl_debug_map_lookup(
                p.map, (wndl_svma){TEXT + EACH * i}, &frames);
        failed = p.heap.budget <= 0;
        p.heap.budget = PLENTY;
        for (unsigned i = 0; i < 3; i++)
            look_up(&p, i);
        assert_int_equal(missing(&p), 0);
        program_close(&p);
    }
    remove_file("lib.a");
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_opened_once),
        cmocka_unit_test(test_one_member),
        cmocka_unit_test(test_missing_once),
        cmocka_unit_test(test_namesakes),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
