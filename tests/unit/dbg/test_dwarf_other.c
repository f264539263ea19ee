/* SPDX-License-Identifier: MIT */
/* Functions in .dwo files, names in a supplementary file. */
#include "dwarf_world.h"

static void check_split(const struct dwarf_recipe *how)
{
    struct world w;
    make_world(&w, how);
    struct wndl_dwarf *d = open_world(&w);
    assert_int_equal(w.asked_split, 0); /* nothing was looked up yet */
    check_whole(d);
    assert_int_equal(w.asked_split, 1);
    assert_int_equal(w.asked_package, 1);
    assert_string_equal(w.asked_for, "a.dwo in /src");
    assert_int_equal(stats_of(d).files_missing, 0);
    assert_int_equal(stats_of(d).units_damaged, 0);
    wndl_dwarf_close(d);
    free_world(&w);
}

static void functions_come_from_the_dwo_file(void **state)
{
    (void)state;
    for_each_recipe(check_split);
}

static void a_dwo_of_another_build_is_passed_over(void **state)
{
    (void)state;
    for (unsigned version = 4; version <= 5; version++) {
        struct dwarf_recipe how = {version, 8, 4, false, false};
        struct world w;
        make_world(&w, &how);
        w.candidates[1] = w.candidates[0];
        w.candidates[0] = dwarfmake_sections(&w.wrong);
        w.candidate_count = 2;
        struct wndl_dwarf *d = open_world(&w);
        check_whole(d);
        assert_int_equal(w.asked_split, 2);
        assert_int_equal(stats_of(d).files_missing, 0);
        wndl_dwarf_close(d);
        free_world(&w);
    }
}

static void what_is_missing_is_told_once(void **state)
{
    (void)state;
    struct dwarf_recipe how = {5, 8, 4, false, false};
    for (unsigned wrong = 0; wrong < 2; wrong++) {
        struct world w;
        make_world(&w, &how);
        w.candidates[0] = dwarfmake_sections(&w.wrong);
        w.candidates[0].path = "wrong.dwo";
        w.candidate_count = wrong;
        struct wndl_dwarf *d = open_world(&w);
        check_lines_only(d);
        check_lines_only(d);
        assert_int_equal(w.asked_split, 1 + wrong);
        struct wndl_dwarf_stats stats = stats_of(d);
        assert_int_equal(stats.files_missing, 1);
        assert_string_equal(
            stats.first_missing.file, wrong ? "wrong.dwo" : "a.dwo");
        assert_int_equal(stats.units_damaged, 0);
        wndl_dwarf_close(d);
        free_world(&w);
    }
}

static void a_damaged_dwo_costs_its_functions(void **state)
{
    (void)state;
    struct dwarf_recipe how = {5, 8, 4, false, false};
    struct world w;
    make_world(&w, &how);
    w.dwo.info.data[w.dwo.info.size - 22] = 0x7f; /* the code of method */
    struct wndl_dwarf *d = open_world(&w);
    check_at(d, 0x1000, "main  /src/a.c:10");
    check_at(d, 0x1144, "  /src/a.c:20"); /* types are read now */
    check_lines_only(d);
    struct wndl_dwarf_stats stats = stats_of(d);
    assert_int_equal(stats.units_damaged, 1);
    assert_string_equal(stats.first_damage.file, "/src/a.dwo");
    assert_string_equal(stats.first_damage.section, ".debug_info");
    wndl_dwarf_close(d);
    free_world(&w);
}

/* ---- supplementary files ---- */

static void names_come_from_the_supplementary_file(void **state)
{
    (void)state;
    struct world w;
    make_world(&w, &plain4);
    make_sup(&w, "shared", false);
    make_user(&w, SUP_DIE, 0);
    struct wndl_dwarf *d = open_world(&w);
    check_at(d, 0x1000, "shared linked :0");
    assert_int_equal(w.asked_supplementary, 1);
    assert_int_equal(stats_of(d).files_missing, 0);
    wndl_dwarf_close(d);
    free_world(&w);
}

static void a_missing_supplementary_file_costs_names(void **state)
{
    (void)state;
    struct world w;
    make_world(&w, &plain4);
    make_user(&w, SUP_DIE, 0);
    struct wndl_dwarf *d = open_world(&w);
    check_at(d, 0x1000, "  :0");
    check_at(d, 0x1004, "  :0");
    assert_int_equal(w.asked_supplementary, 1);
    assert_int_equal(stats_of(d).files_missing, 1);
    assert_string_equal(stats_of(d).first_missing.file, "common");
    wndl_dwarf_close(d);
    free_world(&w);
}

static void references_there_are_checked(void **state)
{
    (void)state;
    static const struct {
        uint64_t die, string;
        const char *section;
    } cases[] = {
        {0x9999, 0, ".debug_info"},
        {SUP_UNIT - 3, 0, ".debug_info"}, /* in the header */
        {SUP_DIE, 0x9999, ".debug_str (supplementary)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        make_world(&w, &plain4);
        make_sup(&w, "shared", false);
        make_user(&w, cases[i].die, cases[i].string);
        struct wndl_dwarf *d = open_world(&w);
        struct wndl_dwarf_frames frames;
        for (int again = 0; again < 2; again++)
            assert_int_equal(
                wndl_dwarf_lookup(d, (wndl_svma){0x1000}, &frames, NULL),
                WNDL_NOT_FOUND);
        assert_int_equal(stats_of(d).units_damaged, 1);
        assert_string_equal(stats_of(d).first_damage.section, cases[i].section);
        wndl_dwarf_close(d);
        free_world(&w);
    }
}

/* A circle there, and a file that is its own supplementary file. */
static void circles_come_to_an_end(void **state)
{
    (void)state;
    struct world w;
    make_world(&w, &plain4);
    make_sup(&w, NULL, true);
    make_user(&w, SUP_DIE, 0);
    struct wndl_dwarf *d = open_world(&w);
    check_at(d, 0x1000, " linked :0");
    assert_int_equal(stats_of(d).units_damaged, 1);
    assert_string_equal(stats_of(d).first_damage.file, "common");
    assert_non_null(strstr(stats_of(d).first_damage.what, "circle"));
    wndl_dwarf_close(d);
    w.supplementary = dwarfmake_sections(&w.skeleton);
    make_user(&w, 11 + 1 + 8 + 1, 0); /* its own function */
    w.supplementary = dwarfmake_sections(&w.skeleton);
    w.supplementary.str = dwarfmake_sections(&w.sup).str;
    d = open_world(&w);
    check_at(d, 0x1000, " linked :0");
    wndl_dwarf_close(d);
    free_world(&w);
}

/* ---- every byte missing, every allocation failing ---- */

struct truncation {
    struct world *w;
    struct wndl_bytes *section;
};

static void ask_with_prefix(struct wndl_bytes prefix, void *context)
{
    struct truncation *t = context;
    struct wndl_bytes whole = *t->section;
    struct wndl_dwarf_frames frames;
    *t->section = prefix;
    struct wndl_dwarf *d = open_world(t->w);
    for (uint64_t at = 0x1000; at < 0x1150; at += 4)
        (void)!wndl_dwarf_lookup(d, (wndl_svma){at}, &frames, NULL);
    wndl_dwarf_close(d);
    *t->section = whole;
}

static void truncate_each(struct world *w, struct wndl_dwarf_sections *in)
{
    struct wndl_bytes *sections[] = {&in->info, &in->abbrev, &in->str,
        &in->str_offsets, &in->rnglists, &in->cu_index};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        struct truncation t = {w, sections[i]};
        for_each_truncation(*sections[i], ask_with_prefix, &t);
    }
}

static void truncate_recipe(const struct dwarf_recipe *how)
{
    struct world w;
    if (how->address_size != 8 || how->offset_size != 4 || how->big_endian)
        return;
    make_world(&w, how);
    truncate_each(&w, &w.candidates[0]);
    make_package(&w);
    truncate_each(&w, &w.package);
    free_world(&w);
}

static void truncation_of_any_section_is_survived(void **state)
{
    (void)state;
    for_each_recipe(truncate_recipe);
    struct world w;
    make_world(&w, &plain4);
    make_sup(&w, "shared", false);
    make_user(&w, SUP_DIE, 0);
    truncate_each(&w, &w.supplementary);
    free_world(&w);
}

/* Everything there is to ask, on a heap that fails after `budget`. */
static enum wndl_status ask_on(struct world *w, struct failing_mem *mem)
{
    struct wndl_dwarf_sections in = dwarfmake_sections(&w->skeleton);
    struct wndl_dwarf *d = NULL;
    struct wndl_dwarf_frames frames;
    in.files = &w->files;
    enum wndl_status status = wndl_dwarf_open(&in, &mem->mem, &d, NULL);
    for (uint64_t at = 0x1000; at < 0x1010 && status == WNDL_OK; at += 4)
        status = wndl_dwarf_lookup(d, (wndl_svma){at}, &frames, NULL);
    if (status == WNDL_NOMEM && d != NULL) {
        mem->budget = -1; /* memory is back: nothing was spoilt */
        assert_int_equal(
            wndl_dwarf_lookup(d, (wndl_svma){0x1000}, &frames, NULL), WNDL_OK);
        assert_int_not_equal(frames.frames[0].name.size, 0);
    }
    wndl_dwarf_close(d);
    assert_int_equal(mem->live, 0);
    return status;
}

static void fail_each(struct world *w)
{
    enum wndl_status status = WNDL_NOMEM;
    long budget = 0;
    for (; status == WNDL_NOMEM; budget++) {
        struct failing_mem mem;
        failing_mem_init(&mem, budget);
        status = ask_on(w, &mem);
    }
    assert_int_equal(status, WNDL_OK);
    assert_true(budget > 2);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct dwarf_recipe how = {5, 8, 4, false, true};
    struct world w;
    make_world(&w, &how);
    fail_each(&w);
    make_package(&w);
    fail_each(&w);
    free_world(&w);
    make_world(&w, &plain4);
    make_sup(&w, "shared", false);
    make_user(&w, SUP_DIE, 0);
    fail_each(&w);
    free_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_come_from_the_dwo_file),
        cmocka_unit_test(a_dwo_of_another_build_is_passed_over),
        cmocka_unit_test(what_is_missing_is_told_once),
        cmocka_unit_test(a_damaged_dwo_costs_its_functions),
        cmocka_unit_test(names_come_from_the_supplementary_file),
        cmocka_unit_test(a_missing_supplementary_file_costs_names),
        cmocka_unit_test(references_there_are_checked),
        cmocka_unit_test(circles_come_to_an_end),
        cmocka_unit_test(truncation_of_any_section_is_survived),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
