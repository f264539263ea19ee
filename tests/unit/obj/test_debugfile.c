/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "elfmake.h"
#include "obj/find/debugfile.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

static const struct elf_recipe little_64 = {
    .is_64 = true, .type = ET_DYN, .machine = EM_X86_64};

/*
 * Folders: ROOT/bin holds the binary, ROOT/debug is the debug folder. A test
 * puts files there and asks for the binary's debug file.
 */
struct place {
    char root[64];
    char debug[80];
    struct wndl_file file;
    struct wndl_object *binary;
};

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    strcpy(place->root, "/tmp/test_debugfile.XXXXXX");
    if (mkdtemp(place->root) == NULL)
        return -1;
    snprintf(place->debug, sizeof place->debug, "%s/debug", place->root);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    char command[128];
    wndl_object_close(place->binary);
    wndl_file_close(&place->file);
    snprintf(command, sizeof command, "rm -rf '%s'", place->root);
    free(place);
    return system(command);
}

/* Writes ROOT/`name`, making the folders on the way. */
static void write_at(
    const struct place *place, const char *name, struct wndl_bytes bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", place->root, name);
    for (char *p = path + strlen(place->root) + 1; *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
}

/* An ELF file with a build-id and a debuglink, each if not NULL. */
static struct wndl_bytes make_file(
    const char *id, const char *link, uint32_t crc)
{
    struct elf_recipe recipe = little_64;
    struct made_section sections[2];
    struct wndl_buf note, tail;
    wndl_buf_init(&note, wndl_mem_libc());
    wndl_buf_init(&tail, wndl_mem_libc());
    recipe.sections = sections;
    if (id != NULL) {
        put_build_id(&note, &recipe, id, strlen(id));
        sections[recipe.section_count++] =
            (struct made_section){.name = ".note.gnu.build-id",
                .type = SHT_NOTE,
                .data = bytes_of(&note),
                .alignment = 4};
    }
    if (link != NULL) {
        wndl_buf_add(&tail, link, strlen(link) + 1);
        while (tail.size % 4 != 0)
            wndl_buf_byte(&tail, 0);
        put(&tail, &recipe, crc, 4);
        sections[recipe.section_count++] =
            (struct made_section){.name = ".gnu_debuglink",
                .type = SHT_PROGBITS,
                .data = bytes_of(&tail),
                .alignment = 4};
    }
    struct wndl_bytes elf = make_elf(&recipe);
    wndl_buf_free(&note);
    wndl_buf_free(&tail);
    return elf;
}

/* Puts such a file at ROOT/`name`; its CRC32 is returned. */
static uint32_t put_file(
    const struct place *place, const char *name, const char *id)
{
    struct wndl_bytes elf = make_file(id, NULL, 0);
    write_at(place, name, elf);
    uint32_t crc = (uint32_t)crc32(0, elf.data, (uInt)elf.size);
    free((void *)elf.data);
    return crc;
}

static void open_binary(
    struct place *place, const char *id, const char *link, uint32_t crc)
{
    struct wndl_bytes elf = make_file(id, link, crc);
    char path[128];
    write_at(place, "bin/prog", elf);
    free((void *)elf.data);
    snprintf(path, sizeof path, "%s/bin/prog", place->root);
    assert_int_equal(wndl_file_open(path, &place->file, NULL), WNDL_OK);
    assert_int_equal(wndl_object_open(place->file.bytes, path, wndl_mem_libc(),
                         &place->binary, NULL),
        WNDL_OK);
}

static enum wndl_status find(const struct place *place,
    struct wndl_debugfile *found, struct wndl_error *err)
{
    const char *const dirs[] = {"/nonexistent", place->debug, NULL};
    return wndl_debugfile_find(
        place->binary, dirs, wndl_mem_libc(), found, err);
}

static void expect_found(const struct place *place, const char *name)
{
    struct wndl_debugfile found;
    struct wndl_error err = {0};
    char path[256];
    snprintf(path, sizeof path, "%s/%s", place->root, name);
    if (find(place, &found, &err) != WNDL_OK)
        fail_msg("not found: %s", err.what);
    assert_string_equal(wndl_object_path(found.object), path);
    wndl_debugfile_close(&found);
}

static void expect_refused(const struct place *place, const char *why)
{
    struct wndl_debugfile found;
    struct wndl_error err = {0};
    assert_int_equal(find(place, &found, &err), WNDL_NOT_FOUND);
    assert_non_null(strstr(err.what, why));
    assert_null(found.object);
}

static void build_id_names_a_file_in_a_debug_folder(void **state)
{
    put_file(*state, "debug/.build-id/61/626364.debug", "abcd");
    open_binary(*state, "abcd", NULL, 0);
    expect_found(*state, "debug/.build-id/61/626364.debug");
}

static void file_with_another_build_id_is_refused(void **state)
{
    put_file(*state, "debug/.build-id/61/626364.debug", "abce");
    open_binary(*state, "abcd", NULL, 0);
    expect_refused(*state, "another build");
}

static void file_without_build_id_is_refused_under_build_id(void **state)
{
    put_file(*state, "debug/.build-id/61/626364.debug", NULL);
    open_binary(*state, "abcd", NULL, 0);
    expect_refused(*state, "another build");
}

static void link_is_looked_for_beside_the_binary(void **state)
{
    uint32_t crc = put_file(*state, "bin/prog.debug", "abcd");
    open_binary(*state, "abcd", "prog.debug", crc);
    expect_found(*state, "bin/prog.debug");
}

static void link_is_looked_for_below_the_binary(void **state)
{
    uint32_t crc = put_file(*state, "bin/.debug/prog.debug", NULL);
    open_binary(*state, "abcd", "prog.debug", crc);
    expect_found(*state, "bin/.debug/prog.debug");
}

static void link_is_looked_for_in_the_image_of_the_folder(void **state)
{
    struct place *place = *state;
    char name[256];
    snprintf(name, sizeof name, "debug%s/bin/prog.debug", place->root);
    uint32_t crc = put_file(place, name, NULL);
    open_binary(place, NULL, "prog.debug", crc);
    expect_found(place, name);
}

static void link_with_a_wrong_crc_is_refused(void **state)
{
    uint32_t crc = put_file(*state, "bin/prog.debug", "abcd");
    open_binary(*state, "abcd", "prog.debug", crc + 1);
    expect_refused(*state, "CRC32");
}

static void link_to_another_build_is_refused_in_spite_of_its_crc(void **state)
{
    uint32_t crc = put_file(*state, "bin/prog.debug", "wxyz");
    open_binary(*state, "abcd", "prog.debug", crc);
    expect_refused(*state, "another build");
}

static void next_candidate_is_tried_after_a_refused_one(void **state)
{
    put_file(*state, "debug/.build-id/61/626364.debug", "wxyz");
    put_file(*state, "bin/prog.debug", "wxyz");
    uint32_t crc = put_file(*state, "bin/.debug/prog.debug", "abcd");
    open_binary(*state, "abcd", "prog.debug", crc);
    expect_found(*state, "bin/.debug/prog.debug");
}

static void link_that_is_a_path_is_not_followed(void **state)
{
    uint32_t crc = put_file(*state, "elsewhere", NULL);
    open_binary(*state, NULL, "../elsewhere", crc);
    expect_refused(*state, "no separate debug file");
}

static void damaged_candidate_is_reported_by_path(void **state)
{
    struct place *place = *state;
    struct wndl_debugfile found;
    struct wndl_error err = {0};
    write_at(place, "debug/.build-id/61/626364.debug",
        (struct wndl_bytes){(const uint8_t *)"\177ELF\2\1\1", 7});
    open_binary(place, "abcd", NULL, 0);
    assert_int_equal(find(place, &found, &err), WNDL_NOT_FOUND);
    assert_non_null(strstr(err.file, "626364.debug"));
    assert_int_equal(err.status, WNDL_NOT_FOUND);
}

static void binary_without_identity_has_no_debug_file(void **state)
{
    open_binary(*state, NULL, NULL, 0);
    expect_refused(*state, "no separate debug file");
}

static void every_allocation_may_fail(void **state)
{
    struct place *place = *state;
    put_file(place, "debug/.build-id/61/626364.debug", "abcd");
    open_binary(place, "abcd", NULL, 0);
    const char *const dirs[] = {place->debug, NULL};
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status == WNDL_NOMEM; budget++) {
        struct failing_mem mem;
        struct wndl_debugfile found;
        failing_mem_init(&mem, budget);
        status =
            wndl_debugfile_find(place->binary, dirs, &mem.mem, &found, NULL);
        wndl_debugfile_close(&found);
        assert_int_equal(mem.live, 0);
    }
    assert_int_equal(status, WNDL_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(build_id_names_a_file_in_a_debug_folder),
        TEST(file_with_another_build_id_is_refused),
        TEST(file_without_build_id_is_refused_under_build_id),
        TEST(link_is_looked_for_beside_the_binary),
        TEST(link_is_looked_for_below_the_binary),
        TEST(link_is_looked_for_in_the_image_of_the_folder),
        TEST(link_with_a_wrong_crc_is_refused),
        TEST(link_to_another_build_is_refused_in_spite_of_its_crc),
        TEST(next_candidate_is_tried_after_a_refused_one),
        TEST(link_that_is_a_path_is_not_followed),
        TEST(damaged_candidate_is_reported_by_path),
        TEST(binary_without_identity_has_no_debug_file),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("debugfile", tests, NULL, NULL);
}
