/* SPDX-License-Identifier: MIT */
#include "dwarf_world.h"

#include "base/status.h"

#include <stdio.h>

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

void make_world(struct world *w, const struct dwarf_recipe *how)
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

void free_world(struct world *w)
{
    dwarfmake_free(&w->skeleton);
    dwarfmake_free(&w->dwo);
    dwarfmake_free(&w->wrong);
    dwarfmake_free(&w->sup);
    wndl_buf_free(&w->index);
    for (size_t i = 0; i < 4; i++)
        wndl_buf_free(&w->pads[i]);
}

struct wndl_dwarf *open_world(struct world *w)
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

void check_at(struct wndl_dwarf *d, uint64_t address, const char *expected)
{
    struct wndl_dwarf_frames frames;
    char text[512];
    assert_int_equal(
        wndl_dwarf_lookup(d, (wndl_svma){address}, &frames, NULL), WNDL_OK);
    describe(&frames, text, sizeof text);
    assert_string_equal(text, expected);
}

void check_whole(struct wndl_dwarf *d)
{
    check_at(d, 0x1000, "main  /src/a.c:10");
    check_at(d, 0x1014,
        "deep  /src/inc/b.h:8; leaf  /src/inc/b.h:5; main  /src/a.c:11");
    check_at(d, 0x1034, "leaf  /src/a.c:12; main  /src/a.c:11");
    check_at(d, 0x1100, "helper _Z6helperv /src/a.c:20");
    check_at(d, 0x1144, "method  /src/a.c:20");
    check_at(d, 0x114c, "  /src/a.c:0");
}

void check_lines_only(struct wndl_dwarf *d)
{
    check_at(d, 0x1000, "  /src/a.c:10");
    check_at(d, 0x1014, "  /src/inc/b.h:8");
}

struct wndl_dwarf_stats stats_of(struct wndl_dwarf *d)
{
    struct wndl_dwarf_stats stats;
    wndl_dwarf_get_stats(d, &stats);
    return stats;
}

void for_each_recipe(recipe_fn *run)
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

void make_package(struct world *w)
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

/* ---- supplementary files ---- */

const struct dwarf_recipe plain4 = {4, 8, 4, false, false};

void make_sup(struct world *w, const char *name, bool origin)
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

void make_user(struct world *w, uint64_t die, uint64_t string)
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
