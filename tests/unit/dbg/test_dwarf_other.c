/* SPDX-License-Identifier: MIT */
/* Functions in .dwo files and packages, names in a supplementary file. */
#include "testlib.h"

#include "base/status.h"
#include "dbg/dwarf/dwarf.h"
#include "dbg/dwarf/internal.h"
#include "dwarfmake.h"

#include <stdio.h>

static const uint64_t ID = 0x1122334455667788;

/* What the DWARF reader is given when it asks, and how often it did. */
struct world {
    struct dwarfmake skeleton, dwo, wrong, sup;
    struct wndl_buf index, pads[4];
    struct wndl_dwarf_files files;
    struct wndl_dwarf_sections candidates[2];
    struct wndl_dwarf_sections package, supplementary;
    unsigned candidate_count;
    unsigned asked_split, asked_package, asked_supplementary;
    char asked_for[64];
};

static enum wndl_status absent(struct wndl_error *err, const char *path)
{
    wndl_error_set_file(err, path);
    return wndl_fail(err, WNDL_NOT_FOUND, "not there");
}

static enum wndl_status give_supplementary(
    void *context, struct wndl_dwarf_sections *sections, struct wndl_error *err)
{
    struct world *w = context;
    w->asked_supplementary++;
    *sections = w->supplementary;
    return sections->info.size == 0 ? absent(err, "common") : WNDL_OK;
}

static enum wndl_status give_package(
    void *context, struct wndl_dwarf_sections *sections, struct wndl_error *err)
{
    struct world *w = context;
    w->asked_package++;
    *sections = w->package;
    return sections->info.size == 0 ? absent(err, "a.dwp") : WNDL_OK;
}

static enum wndl_status give_split(void *context,
    const struct wndl_dwarf_split *split, unsigned *next,
    struct wndl_dwarf_sections *sections, struct wndl_error *err)
{
    struct world *w = context;
    w->asked_split++;
    snprintf(w->asked_for, sizeof w->asked_for, "%s in %s",
        (const char *)split->name.data, (const char *)split->comp_dir.data);
    if (*next >= w->candidate_count)
        return absent(err, "a.dwo");
    *sections = w->candidates[(*next)++];
    return WNDL_OK;
}

/* A skeleton of `how` and its .dwo file, the one candidate. */
static void make_world(struct world *w, const struct dwarf_recipe *how)
{
    *w = (struct world){
        .files = {w, give_supplementary, give_package, give_split},
        .candidate_count = 1,
    };
    struct dwarfmake *makers[] = {&w->skeleton, &w->dwo, &w->wrong, &w->sup};
    for (size_t i = 0; i < 4; i++) {
        dwarfmake_init(makers[i], how);
        makers[i]->unit_type = 5;
        makers[i]->dwo_id = ID + (i == 2);
        wndl_buf_init(&w->pads[i], wndl_mem_libc());
    }
    wndl_buf_init(&w->index, wndl_mem_libc());
    make_sample_dwarf(&w->dwo);
    make_sample_dwarf(&w->wrong);
    make_skeleton_dwarf(&w->skeleton, "a.dwo", &w->dwo);
    w->candidates[0] = dwarfmake_sections(&w->dwo);
    w->candidates[0].path = "/src/a.dwo";
}

static void free_world(struct world *w)
{
    dwarfmake_free(&w->skeleton);
    dwarfmake_free(&w->dwo);
    dwarfmake_free(&w->wrong);
    dwarfmake_free(&w->sup);
    wndl_buf_free(&w->index);
    for (size_t i = 0; i < 4; i++)
        wndl_buf_free(&w->pads[i]);
}

static struct wndl_dwarf *open_world(struct world *w)
{
    struct wndl_dwarf_sections in = dwarfmake_sections(&w->skeleton);
    struct wndl_dwarf *d = NULL;
    in.files = &w->files;
    assert_int_equal(wndl_dwarf_open(&in, wndl_mem_libc(), &d, NULL), WNDL_OK);
    return d;
}

/* Frames as "name linkage file:line" with "; " between. */
static void describe(
    const struct wndl_dwarf_frames *frames, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < frames->count; i++) {
        const struct wndl_dwarf_frame *f = &frames->frames[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s %s %s:%u",
            i == 0 ? "" : "; ", (const char *)f->name.data,
            (const char *)f->linkage_name.data, (const char *)f->file.data,
            f->line);
        assert_true(used < size);
    }
}

static void check_at(
    struct wndl_dwarf *d, uint64_t address, const char *expected)
{
    struct wndl_dwarf_frames frames;
    char text[512];
    assert_int_equal(
        wndl_dwarf_lookup(d, (wndl_svma){address}, &frames, NULL), WNDL_OK);
    describe(&frames, text, sizeof text);
    assert_string_equal(text, expected);
}

static void check_whole(struct wndl_dwarf *d)
{
    check_at(d, 0x1000, "main  /src/a.c:10");
    check_at(d, 0x1014,
        "deep  /src/inc/b.h:8; leaf  /src/inc/b.h:5; main  /src/a.c:11");
    check_at(d, 0x1034, "leaf  /src/a.c:12; main  /src/a.c:11");
    check_at(d, 0x1100, "helper _Z6helperv /src/a.c:20");
    check_at(d, 0x1144, "method  /src/a.c:20");
    check_at(d, 0x114c, "  /src/a.c:0");
}

static void check_lines_only(struct wndl_dwarf *d)
{
    check_at(d, 0x1000, "  /src/a.c:10");
    check_at(d, 0x1014, "  /src/inc/b.h:8");
}

static struct wndl_dwarf_stats stats_of(struct wndl_dwarf *d)
{
    struct wndl_dwarf_stats stats;
    wndl_dwarf_get_stats(d, &stats);
    return stats;
}

typedef void recipe_fn(const struct dwarf_recipe *how);

/* Versions 4 and 5 in every encoding. */
static void for_each_recipe(recipe_fn *run)
{
    for (unsigned i = 0; i < 32; i++) {
        struct dwarf_recipe how = {
            .version = 4 + (i & 1),
            .address_size = (i >> 1 & 1) != 0 ? 4 : 8,
            .offset_size = (i >> 2 & 1) != 0 ? 8 : 4,
            .big_endian = (i >> 3 & 1) != 0,
            .indexed = (i >> 4 & 1) != 0,
        };
        run(&how);
    }
}

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

/* ---- packages ---- */

enum { PARTS = 4, PAD = 7 };

/* Section `i` of a package: 7 bytes of another unit, then the .dwo's. */
static struct wndl_bytes pad(struct world *w, int i, struct wndl_bytes part)
{
    wndl_buf_add(&w->pads[i], "another", PAD);
    wndl_buf_add(&w->pads[i], part.data, part.size);
    return (struct wndl_bytes){w->pads[i].data, w->pads[i].size};
}

static void put(struct world *w, uint64_t value, size_t size)
{
    dw_uint(&w->dwo, &w->index, value, size);
}

/* The index with the unit in row 2, found in the second slot it is looked
 * for in. */
static void make_index(struct world *w, const size_t sizes[PARTS])
{
    static const uint8_t columns[PARTS] = {1, 3, 6, 8};
    bool v5 = w->dwo.how.version >= 5;
    put(w, v5 ? 5 : 2, v5 ? 2 : 4);
    put(w, 0, v5 ? 2 : 0);
    put(w, PARTS, 4);
    put(w, 2, 4);
    put(w, 4, 4);
    /* From slot ID & 3 in steps of (ID >> 32 & 3) | 1: 0, then 1. */
    put(w, 0x99, 8);
    put(w, ID, 8);
    put(w, 0, 8);
    put(w, 0, 8);
    put(w, 1, 4);
    put(w, 2, 4);
    put(w, 0, 8);
    for (int i = 0; i < PARTS; i++)
        put(w, columns[i], 4);
    for (int i = 0; i < 2 * PARTS; i++)
        put(w, i < PARTS ? 0 : PAD, 4);
    for (int i = 0; i < 2 * PARTS; i++)
        put(w, i < PARTS ? PAD : sizes[i - PARTS], 4);
}

/* What was the candidate moves into a package. */
static void make_package(struct world *w)
{
    struct wndl_dwarf_sections *from = &w->candidates[0];
    struct wndl_bytes *parts[PARTS] = {
        &from->info, &from->abbrev, &from->str_offsets, &from->rnglists};
    size_t sizes[PARTS];
    for (int i = 0; i < PARTS; i++) {
        sizes[i] = parts[i]->size;
        *parts[i] = pad(w, i, *parts[i]);
    }
    make_index(w, sizes);
    w->package = *from;
    w->package.cu_index = (struct wndl_bytes){w->index.data, w->index.size};
    w->package.path = "a.dwp";
    w->candidate_count = 0;
}

static void check_package(const struct dwarf_recipe *how)
{
    struct world w;
    make_world(&w, how);
    make_package(&w);
    struct wndl_dwarf *d = open_world(&w);
    check_whole(d);
    assert_int_equal(w.asked_package, 1);
    assert_int_equal(w.asked_split, 0);
    assert_int_equal(stats_of(d).files_missing, 0);
    wndl_dwarf_close(d);
    free_world(&w);
}

static void functions_come_from_the_package(void **state)
{
    (void)state;
    for_each_recipe(check_package);
}

static void a_unit_that_is_not_packaged_has_a_file(void **state)
{
    (void)state;
    struct dwarf_recipe how = {5, 8, 4, false, false};
    struct world w;
    make_world(&w, &how);
    struct wndl_dwarf_sections whole = w.candidates[0];
    make_package(&w);
    dw_patch(&w.dwo, &w.index, 16 + 8, ID + 4, 8);
    w.candidates[0] = whole;
    w.candidate_count = 1;
    struct wndl_dwarf *d = open_world(&w);
    check_whole(d);
    assert_int_equal(w.asked_split, 1);
    assert_int_equal(stats_of(d).files_missing, 0);
    wndl_dwarf_close(d);
    free_world(&w);
}

/* A field of the index that is damaged, and what is said of it. */
static void damaged_indexes_are_told_of(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
        const char *what;
    } cases[] = {
        {0, 9, "version"}, {4, 99, "header"}, /* columns */
        {8, 999, "past its section"},         /* units */
        {12, 3, "header"},                    /* slots: no power of two */
        {12, 1 << 30, "past its section"}, {48 + 4, 99, "row outside"},
        {64 + 16 + 16, 999, "outside of it"}, /* offset of .debug_info */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dwarf_recipe how = {5, 8, 4, false, false};
        struct world w;
        make_world(&w, &how);
        make_package(&w);
        dw_patch(&w.dwo, &w.index, cases[i].at, cases[i].value, 4);
        struct wndl_dwarf *d = open_world(&w);
        check_lines_only(d);
        struct wndl_error first = stats_of(d).first_missing;
        assert_int_equal(first.status, WNDL_MALFORMED);
        assert_string_equal(first.file, "a.dwp");
        assert_string_equal(first.section, ".debug_cu_index");
        assert_non_null(strstr(first.what, cases[i].what));
        wndl_dwarf_close(d);
        free_world(&w);
    }
}

static const uint64_t FULL_ID = 0x1122334400000000;

/* An index of one column without free slots, all of one unit of 16 bytes. */
static void make_full_index(struct wndl_buf *index, uint32_t slots)
{
    const uint32_t head[] = {5, 1, 1, slots};
    for (int i = 0; i < 4; i++)
        wndl_buf_u32le(index, head[i]);
    for (uint32_t i = 0; i < slots; i++)
        wndl_buf_u64le(index, FULL_ID + i); /* in the slot where it belongs */
    for (uint32_t i = 0; i < slots; i++)
        wndl_buf_u32le(index, 1);
    wndl_buf_u32le(index, 1); /* .debug_info */
    wndl_buf_u32le(index, 0);
    wndl_buf_u32le(index, 16);
}

static void a_package_costs_no_more_than_its_size(void **state)
{
    (void)state;
    enum { SLOTS = 4096 };
    struct wndl_buf index;
    struct wndl_dwarf_sections sections;
    struct wndl_error err = {0};
    wndl_buf_init(&index, wndl_mem_libc());
    make_full_index(&index, SLOTS);
    struct wndl_dw_package package = {
        .in.info = {(const uint8_t *)"0123456789abcdef", 16},
        .in.cu_index = {index.data, index.size},
    };
    assert_int_equal(wndl_dw_read_package(&package, NULL), WNDL_OK);
    /* Steps are odd, so that a search for what is not there meets all slots. */
    assert_int_equal(
        wndl_dw_find_in_package(&package, 1, &sections, &err), WNDL_MALFORMED);
    assert_non_null(strstr(err.what, "too full"));
    unsigned given = 0;
    while (wndl_dw_find_in_package(
               &package, FULL_ID + given, &sections, &err) == WNDL_OK &&
           given < SLOTS)
        given++;
    assert_in_range(given, 2, 20);
    assert_non_null(strstr(err.what, "share"));
    wndl_buf_free(&index);
}

/* ---- supplementary files ---- */

enum { SUP_UNIT = 11, SUP_DIE = SUP_UNIT + 1 }; /* of version 4, 32-bit */

/* A partial unit with one function, whose name is `name`. With `origin` it
 * refers to itself. */
static void make_sup(struct world *w, const char *name, bool origin)
{
    static const uint16_t unit[] = {0};
    const uint16_t named[] = {0x03, 0x08, 0};
    const uint16_t circular[] = {0x31, 0x13, 0};
    struct dwarfmake *m = &w->sup;
    dw_abbrev(m, 1, 0x3c, true, unit);
    dw_abbrev(m, 2, 0x2e, false, origin ? circular : named);
    wndl_buf_byte(&m->abbrev, 0);
    dw_string(&m->str, "linked");
    size_t begun = dw_begin_unit(m, 0);
    wndl_buf_byte(&m->info, 1);
    wndl_buf_byte(&m->info, 2);
    if (origin)
        dw_uint(m, &m->info, SUP_DIE, 4);
    else
        dw_string(&m->info, name);
    wndl_buf_byte(&m->info, 0);
    dw_end(m, &m->info, begun);
    w->supplementary = dwarfmake_sections(m);
    w->supplementary.path = "common";
}

/* A function over [0x1000, 0x1010) that refers to DIE and string there. */
static void make_user(struct world *w, uint64_t die, uint64_t string)
{
    static const uint16_t unit[] = {0x11, 0x01, 0x12, 0x0b, 0};
    static const uint16_t func[] = {
        0x31, 0x1f20, 0x6e, 0x1f21, 0x11, 0x01, 0x12, 0x0b, 0};
    struct dwarfmake *m = &w->skeleton;
    m->info.size = m->abbrev.size = 0;
    m->unit_type = 0;
    dw_abbrev(m, 1, 0x11, true, unit);
    dw_abbrev(m, 2, 0x2e, false, func);
    wndl_buf_byte(&m->abbrev, 0);
    size_t begun = dw_begin_unit(m, 0);
    wndl_buf_byte(&m->info, 1);
    dw_address(m, &m->info, 0x1000);
    wndl_buf_byte(&m->info, 0x10);
    wndl_buf_byte(&m->info, 2);
    dw_offset(m, &m->info, die);
    dw_offset(m, &m->info, string);
    dw_address(m, &m->info, 0x1000);
    wndl_buf_byte(&m->info, 0x10);
    wndl_buf_byte(&m->info, 0);
    dw_end(m, &m->info, begun);
}

static const struct dwarf_recipe plain4 = {4, 8, 4, false, false};

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
        cmocka_unit_test(functions_come_from_the_package),
        cmocka_unit_test(a_unit_that_is_not_packaged_has_a_file),
        cmocka_unit_test(a_package_costs_no_more_than_its_size),
        cmocka_unit_test(damaged_indexes_are_told_of),
        cmocka_unit_test(names_come_from_the_supplementary_file),
        cmocka_unit_test(a_missing_supplementary_file_costs_names),
        cmocka_unit_test(references_there_are_checked),
        cmocka_unit_test(circles_come_to_an_end),
        cmocka_unit_test(truncation_of_any_section_is_survived),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
