/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "elfmake.h"
#include "obj/find/splitfile.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/*
 * ROOT/bin/prog is the binary, ROOT/debug/prog.debug its debug file, and
 * ROOT/debug the debug folder. A test puts files there and asks for one.
 */
struct place {
    char root[64];
    char debug[80];
    const char *dirs[2];
    struct wndl_debugfile binary, debugfile;
};

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    strcpy(place->root, "/tmp/test_splitfile.XXXXXX");
    if (mkdtemp(place->root) == NULL)
        return -1;
    snprintf(place->debug, sizeof place->debug, "%s/debug", place->root);
    place->dirs[0] = place->debug;
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    char command[128];
    wndl_debugfile_close(&place->binary);
    wndl_debugfile_close(&place->debugfile);
    snprintf(command, sizeof command, "rm -rf '%s'", place->root);
    free(place);
    return system(command);
}

static void path_of(
    const struct place *place, const char *name, char *path, size_t size)
{
    assert_true(
        (size_t)snprintf(path, size, "%s/%s", place->root, name) < size);
}

static void write_at(
    const struct place *place, const char *name, struct wndl_bytes bytes)
{
    char path[256];
    path_of(place, name, path, sizeof path);
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

/* An ELF file with one section, that has `data`. */
static void put_file(const struct place *place, const char *name,
    const char *section, struct wndl_bytes data)
{
    struct made_section only = {
        .name = section, .type = SHT_PROGBITS, .data = data, .alignment = 4};
    struct elf_recipe recipe = {.is_64 = true,
        .type = ET_DYN,
        .machine = EM_X86_64,
        .sections = &only,
        .section_count = 1};
    if (strcmp(section, ".note.gnu.build-id") == 0)
        only.type = SHT_NOTE;
    struct wndl_bytes elf = make_elf(&recipe);
    write_at(place, name, elf);
    free((void *)elf.data);
}

static void put_empty(const struct place *place, const char *name)
{
    put_file(place, name, ".empty", (struct wndl_bytes){0});
}

static void put_identified(
    const struct place *place, const char *name, const char *id)
{
    struct elf_recipe recipe = {.is_64 = true};
    struct wndl_buf note;
    wndl_buf_init(&note, wndl_mem_libc());
    put_build_id(&note, &recipe, id, strlen(id));
    put_file(place, name, ".note.gnu.build-id", bytes_of(&note));
    wndl_buf_free(&note);
}

static void open_at(
    const struct place *place, const char *name, struct wndl_debugfile *out)
{
    char path[256];
    path_of(place, name, path, sizeof path);
    assert_int_equal(wndl_file_open(path, &out->file, NULL), WNDL_OK);
    assert_int_equal(wndl_object_open(out->file.bytes, path, wndl_mem_libc(),
                         &out->object, NULL),
        WNDL_OK);
}

/* What to look for beside the binary and its debug file, with one section. */
static struct wndl_splitfile_places begin(
    struct place *place, const char *section, struct wndl_bytes data)
{
    put_empty(place, "bin/prog");
    put_file(place, "debug/prog.debug", section, data);
    open_at(place, "bin/prog", &place->binary);
    open_at(place, "debug/prog.debug", &place->debugfile);
    return (struct wndl_splitfile_places){place->binary.object,
        place->debugfile.object, place->dirs, wndl_mem_libc()};
}

/* That a file was found, ROOT/`name`. */
static void check_found(const struct place *place, enum wndl_status status,
    struct wndl_debugfile *found, const char *name)
{
    char path[256];
    path_of(place, name, path, sizeof path);
    assert_int_equal(status, WNDL_OK);
    assert_string_equal(wndl_object_path(found->object), path);
    wndl_debugfile_close(found);
}

static struct wndl_bytes text(const char *chars)
{
    return (struct wndl_bytes){(const uint8_t *)chars, strlen(chars)};
}

static void dwo_files_are_found_in_order(void **state)
{
    static const char *const order[] = {"build/sub/a.dwo", "debug/sub/a.dwo",
        "debug/a.dwo", "bin/sub/a.dwo", "bin/a.dwo"};
    struct place *place = *state;
    struct wndl_splitfile_places places =
        begin(place, ".empty", (struct wndl_bytes){0});
    char comp_dir[128];
    struct wndl_debugfile found;
    struct wndl_error err = {0};
    unsigned next = 0;
    path_of(place, "build", comp_dir, sizeof comp_dir);
    struct wndl_splitfile_dwo dwo = {text("sub/a.dwo"), text(comp_dir)};
    for (size_t i = 0; i < 5; i++)
        put_empty(place, order[i]);
    for (size_t i = 0; i < 5; i++)
        check_found(place,
            wndl_splitfile_open_dwo(&places, &dwo, &next, &found, &err), &found,
            order[i]);
    assert_int_equal(
        wndl_splitfile_open_dwo(&places, &dwo, &next, &found, &err),
        WNDL_NOT_FOUND);
}

static void an_absolute_dwo_name_may_have_moved(void **state)
{
    struct place *place = *state;
    struct wndl_splitfile_places places =
        begin(place, ".empty", (struct wndl_bytes){0});
    struct wndl_splitfile_dwo dwo = {text("/nowhere/a.dwo"), text("build")};
    struct wndl_debugfile found;
    unsigned next = 0;
    put_empty(place, "bin/a.dwo");
    check_found(place,
        wndl_splitfile_open_dwo(&places, &dwo, &next, &found, NULL), &found,
        "bin/a.dwo");
}

static void a_missing_dwo_file_is_named(void **state)
{
    struct place *place = *state;
    struct wndl_splitfile_places places =
        begin(place, ".empty", (struct wndl_bytes){0});
    struct wndl_splitfile_dwo dwo = {text("a.dwo"), text("/nowhere")};
    struct wndl_debugfile found;
    struct wndl_error err = {0};
    unsigned next = 0;
    write_at(place, "bin/a.dwo", text("no ELF file"));
    assert_int_equal(
        wndl_splitfile_open_dwo(&places, &dwo, &next, &found, &err),
        WNDL_NOT_FOUND);
    assert_string_equal(err.file, "/nowhere/a.dwo");
    assert_null(found.object);
    dwo.comp_dir = text("relative"); /* then it is nowhere to be told of */
    dwo.name = text("b.dwo");
    next = 5;
    err = (struct wndl_error){0};
    assert_int_equal(
        wndl_splitfile_open_dwo(&places, &dwo, &next, &found, &err),
        WNDL_NOT_FOUND);
    assert_int_equal(err.status, WNDL_NOT_FOUND);
}

static void the_package_is_beside_either_file(void **state)
{
    struct place *place = *state;
    struct wndl_splitfile_places places =
        begin(place, ".empty", (struct wndl_bytes){0});
    struct wndl_debugfile found;
    struct wndl_error err = {0};
    assert_int_equal(
        wndl_splitfile_open_package(&places, &found, &err), WNDL_NOT_FOUND);
    put_empty(place, "debug/prog.debug.dwp");
    check_found(place, wndl_splitfile_open_package(&places, &found, NULL),
        &found, "debug/prog.debug.dwp");
    put_empty(place, "bin/prog.dwp");
    check_found(place, wndl_splitfile_open_package(&places, &found, NULL),
        &found, "bin/prog.dwp");
}

/* ---- supplementary files ---- */

static const char link_bytes[] = "dwz/common\0identity";
static const struct wndl_bytes altlink = {
    (const uint8_t *)link_bytes, sizeof link_bytes - 1};

static void an_altlink_leads_by_name_or_build_id(void **state)
{
    struct place *place = *state;
    struct wndl_splitfile_places places =
        begin(place, ".gnu_debugaltlink", altlink);
    struct wndl_debugfile found;
    struct wndl_error err = {0};
    assert_int_equal(wndl_splitfile_open_supplementary(&places, &found, &err),
        WNDL_NOT_FOUND);
    assert_non_null(strstr(err.file, "/debug/dwz/common"));
    /* "identity" in hexadecimal, cut after its first byte */
    put_identified(
        place, "debug/.build-id/69/64656e74697479.debug", "identity");
    check_found(place, wndl_splitfile_open_supplementary(&places, &found, NULL),
        &found, "debug/.build-id/69/64656e74697479.debug");
    put_identified(place, "debug/dwz/common", "another");
    check_found(place, wndl_splitfile_open_supplementary(&places, &found, NULL),
        &found, "debug/.build-id/69/64656e74697479.debug");
    put_identified(place, "debug/dwz/common", "identity");
    check_found(place, wndl_splitfile_open_supplementary(&places, &found, NULL),
        &found, "debug/dwz/common");
}

static void another_build_is_refused(void **state)
{
    struct place *place = *state;
    struct wndl_splitfile_places places =
        begin(place, ".gnu_debugaltlink", altlink);
    struct wndl_debugfile found;
    struct wndl_error err = {0};
    put_identified(place, "debug/dwz/common", "another");
    assert_int_equal(wndl_splitfile_open_supplementary(&places, &found, &err),
        WNDL_NOT_FOUND);
    assert_non_null(strstr(err.file, "/debug/dwz/common"));
    assert_non_null(strstr(err.what, "another build"));
}

/* DWARF 5, 7.3.6: version, is it the supplementary one, name, checksum. */
static void debug_sup_leads_to_its_like(void **state)
{
    static const char from[] = "\5\0\0dwz/common\0\3abc";
    static const char to[] = "\5\0\1\0\3abc";
    static const char wrong[] = "\5\0\1\0\3abd";
    static const char same_side[] = "\5\0\0\0\3abc";
    struct place *place = *state;
    struct wndl_splitfile_places places = begin(place, ".debug_sup",
        (struct wndl_bytes){(const uint8_t *)from, sizeof from - 1});
    const struct {
        const char *data;
        enum wndl_status status;
    } cases[] = {
        {wrong, WNDL_NOT_FOUND}, {same_side, WNDL_NOT_FOUND}, {to, WNDL_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wndl_debugfile found;
        put_file(place, "debug/dwz/common", ".debug_sup",
            (struct wndl_bytes){(const uint8_t *)cases[i].data, 8});
        assert_int_equal(
            wndl_splitfile_open_supplementary(&places, &found, NULL),
            cases[i].status);
        wndl_debugfile_close(&found);
    }
}

struct truncation {
    struct place *place;
    const char *section;
};

static void ask_with_prefix(struct wndl_bytes prefix, void *context)
{
    struct truncation *t = context;
    struct wndl_debugfile found;
    struct wndl_splitfile_places places = begin(t->place, t->section, prefix);
    if (prefix.size < 8)
        assert_int_equal(
            wndl_splitfile_open_supplementary(&places, &found, NULL),
            WNDL_NOT_FOUND);
    else if (wndl_splitfile_open_supplementary(&places, &found, NULL) ==
             WNDL_OK)
        wndl_debugfile_close(&found);
    wndl_debugfile_close(&t->place->binary);
    wndl_debugfile_close(&t->place->debugfile);
}

static void truncation_of_a_link_is_survived(void **state)
{
    static const char sup[] = "\5\0\0dwz/common\0\3abc";
    struct truncation t = {*state, ".gnu_debugaltlink"};
    put_identified(t.place, "debug/dwz/common", "identity");
    for_each_truncation(altlink, ask_with_prefix, &t);
    t.section = ".debug_sup";
    for_each_truncation(
        (struct wndl_bytes){(const uint8_t *)sup, sizeof sup - 1},
        ask_with_prefix, &t);
}

static void every_allocation_may_fail(void **state)
{
    struct place *place = *state;
    struct wndl_splitfile_places places =
        begin(place, ".gnu_debugaltlink", altlink);
    enum wndl_status status = WNDL_NOMEM;
    put_identified(place, "debug/dwz/common", "identity");
    for (long budget = 0; status == WNDL_NOMEM; budget++) {
        struct failing_mem mem;
        struct wndl_debugfile found;
        failing_mem_init(&mem, budget);
        places.mem = &mem.mem;
        status = wndl_splitfile_open_supplementary(&places, &found, NULL);
        wndl_debugfile_close(&found);
        assert_int_equal(mem.live, 0);
    }
    assert_int_equal(status, WNDL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            dwo_files_are_found_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_absolute_dwo_name_may_have_moved, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_missing_dwo_file_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_package_is_beside_either_file, setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_altlink_leads_by_name_or_build_id, setup, teardown),
        cmocka_unit_test_setup_teardown(
            another_build_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(
            debug_sup_leads_to_its_like, setup, teardown),
        cmocka_unit_test_setup_teardown(
            truncation_of_a_link_is_survived, setup, teardown),
        cmocka_unit_test_setup_teardown(
            every_allocation_may_fail, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
