/* SPDX-License-Identifier: MIT */
/*
 * What i386 code does to the stack: records of both kinds made by hand, as no
 * linker at hand makes the older, and files that lie. What lld does make is
 * compared with LLVM's tool in tests/cli/dump_syms.
 */
#include "pdbmake.h"
#include "testlib.h"

#include "dbg/pdb/pdb.h"

#include <stdio.h>

enum { NO_PROGRAM = 0, PLAIN = 10, LONG = 20, NO_TEXT = 2000, PAST = 9999 };

static void add_strings(struct wndl_buf *names)
{
    names->size = 12 + PLAIN;
    pdb_text(names, "$eip ^ =");
    while (names->size < 12 + LONG)
        wndl_buf_byte(names, 0);
    while (names->size < 12 + NO_TEXT - 1)
        wndl_buf_byte(names, 'x');
    wndl_buf_byte(names, 0);
    pdb_text(names, "a\nSTACK");
    wndl_buf_byte(names, 'y'); /* without an end */
}

static void add_record(
    struct wndl_buf *b, uint32_t start, uint32_t size, uint32_t program)
{
    pdb_u32(b, start);
    pdb_u32(b, size);
    pdb_u32(b, 0x18);
    pdb_u32(b, 8);
    pdb_u32(b, 0x30);
    pdb_u32(b, program);
    pdb_u16(b, 3);
    pdb_u16(b, 0xc);
    pdb_u32(b, 4);
}

static void add_old_record(
    struct wndl_buf *b, uint32_t start, uint32_t locals, unsigned bits)
{
    pdb_u32(b, start);
    pdb_u32(b, 0x10);
    pdb_u32(b, locals);
    pdb_u16(b, 2);
    pdb_u16(b, bits);
}

/* The newer ones come behind a number of 4 bytes. */
static void make_stacks(struct pdb_maker *m, bool is_moved)
{
    struct wndl_buf *b = &m->streams[PDB_STACKS];
    pdb_make_streams(m, is_moved, 1);
    add_strings(&m->streams[PDB_NAMES]);
    pdb_u32(b, 0);
    add_record(b, 0x1000, 0x40, PLAIN);
    add_record(b, 0x1004, 0x3c, NO_PROGRAM);
    b = &m->streams[PDB_OLD_STACKS];
    add_old_record(b, 0x1010, 5, 0x05 | 2 << 8);
    add_old_record(b, 0x1100, 0, 0xff | 7 << 8 | 1 << 12 | 1 << 11);
    add_old_record(b, 0x1018, 1, 3 << 14);
}

struct said {
    char text[2000];
    size_t size, count;
};

static enum wndl_status say(void *context, const struct wndl_pdb_stack *s)
{
    struct said *said = context;
    if (said->count++ < 20)
        said->size += (size_t)snprintf(said->text + said->size,
            sizeof said->text - said->size,
            "%u %llx+%x prologue %u params %u saved %u locals %u most %u%s "
            "\"%.*s\"\n",
            s->type, (unsigned long long)s->rva, s->size, s->prologue,
            s->parameters, s->saved, s->locals, s->stack_most,
            s->allocates_bp ? " bp" : "", (int)s->program.size,
            (const char *)s->program.data);
    return WNDL_OK;
}

static const char *visit(
    struct wndl_bytes file, struct said *said, struct wndl_pdb_stats *stats)
{
    struct wndl_pdb *pdb;
    const struct wndl_pdb_source source = {.file = file, .path = "a.pdb"};
    *said = (struct said){.size = 0};
    *stats = (struct wndl_pdb_stats){0};
    if (wndl_pdb_open(&source, wndl_mem_libc(), &pdb, NULL) != WNDL_OK)
        return said->text;
    assert_int_equal(wndl_pdb_visit_stacks(pdb, say, said), WNDL_OK);
    wndl_pdb_get_stats(pdb, stats);
    wndl_pdb_close(pdb);
    return said->text;
}

static const char *visit_made(
    struct pdb_maker *m, struct said *said, struct wndl_pdb_stats *stats)
{
    pdb_make_file(m);
    return visit((struct wndl_bytes){m->file.data, m->file.size}, said, stats);
}

static void both_kinds_are_told(void **state)
{
    struct pdb_maker m;
    struct said said;
    struct wndl_pdb_stats stats;
    (void)state;
    make_stacks(&m, false);
    assert_string_equal(visit_made(&m, &said, &stats),
        "4 1000+40 prologue 3 params 8 saved 12 locals 24 most 48 "
        "\"$eip ^ =\"\n"
        "4 1004+3c prologue 3 params 8 saved 12 locals 24 most 48 \"\"\n"
        "0 1010+10 prologue 5 params 8 saved 8 locals 20 most 0 \"\"\n"
        "0 1100+10 prologue 255 params 8 saved 28 locals 0 most 0 bp \"\"\n"
        "3 1018+10 prologue 0 params 8 saved 0 locals 4 most 0 \"\"\n");
    assert_int_equal(stats.damaged, 0);
    pdb_unmake(&m);
}

/* 0x1000 and on are at 0x4000 now, 0x1020 and on at 0x5000. */
static void moved_code_is_told_in_pieces(void **state)
{
    struct pdb_maker m;
    struct said said;
    struct wndl_pdb_stats stats;
    (void)state;
    make_stacks(&m, true);
    m.streams[PDB_OLD_STACKS].size = 0;
    assert_string_equal(visit_made(&m, &said, &stats),
        "4 4000+20 prologue 3 params 8 saved 12 locals 24 most 48 "
        "\"$eip ^ =\"\n"
        "4 5000+20 prologue 3 params 8 saved 12 locals 24 most 48 "
        "\"$eip ^ =\"\n"
        "4 4004+1c prologue 3 params 8 saved 12 locals 24 most 48 \"\"\n"
        "4 5000+20 prologue 3 params 8 saved 12 locals 24 most 48 \"\"\n");
    assert_int_equal(stats.damaged, 0);
    pdb_unmake(&m);
}

static void records_that_lie_are_lost(void **state)
{
    struct pdb_maker m;
    struct said said;
    struct wndl_pdb_stats stats;
    (void)state;
    make_stacks(&m, false);
    struct wndl_buf *b = &m.streams[PDB_STACKS];
    b->size = 0;
    add_record(b, 0x1000, 0x40, LONG);
    add_record(b, 0x1000, 0x40, NO_TEXT);
    add_record(b, 0x1000, 0x40, NO_TEXT + 8);
    add_record(b, 0x1000, 0x40, PAST);
    add_record(b, 0x1000, 0, PLAIN);
    add_record(b, 0x1000, 0xffffffff, NO_PROGRAM);
    pdb_zeros(b, 17);
    b = &m.streams[PDB_OLD_STACKS];
    b->size = 0;
    add_old_record(b, 0x1000, 0x40000000, 0);
    add_old_record(b, 0xffffffff, 0, 0);
    assert_string_equal(visit_made(&m, &said, &stats),
        "4 1000+ffffffff prologue 3 params 8 saved 12 locals 24 most 48 "
        "\"\"\n");
    assert_int_equal(stats.damaged, 6);
    assert_int_equal(stats.first_damage.offset, 6 * 32 + 17);
    assert_string_equal(stats.first_damage.section, "frame data");
    pdb_unmake(&m);
}

/* Any number of records may be of code that was moved in any number of pieces:
 * what is told of them is bounded by the bytes of the file. */
static void pieces_are_bounded(void **state)
{
    enum { MANY = 2000 };
    struct pdb_maker m;
    struct said said;
    struct wndl_pdb_stats stats;
    (void)state;
    make_stacks(&m, true);
    m.streams[PDB_FROM].size = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        pdb_u32(&m.streams[PDB_FROM], 0x1000 + i);
        pdb_u32(&m.streams[PDB_FROM], 0x9000 - 2 * i);
        add_record(&m.streams[PDB_STACKS], 0x1000, MANY, PLAIN);
    }
    (void)visit_made(&m, &said, &stats);
    assert_in_range(said.count, m.file.size / 40, m.file.size / 8);
    assert_true(stats.damaged > 0);
    assert_int_equal(stats.first_damage.status, WNDL_LIMIT);
    pdb_unmake(&m);
}

static void visit_cut(struct wndl_bytes file, void *context)
{
    struct said said;
    struct wndl_pdb_stats stats;
    (void)context;
    (void)visit(file, &said, &stats);
    assert_true(said.count <= 12);
}

static void truncation_is_no_harm(void **state)
{
    struct pdb_maker m;
    (void)state;
    make_stacks(&m, true);
    pdb_make_file(&m);
    for_each_truncation(
        (struct wndl_bytes){m.file.data, m.file.size}, visit_cut, NULL);
    pdb_unmake(&m);
}

static void memory_may_be_out(void **state)
{
    struct pdb_maker m;
    (void)state;
    make_stacks(&m, true);
    pdb_make_file(&m);
    const struct wndl_pdb_source source = {
        .file = {m.file.data, m.file.size}, .path = "a.pdb"};
    size_t refusals = 0;
    for (long budget = 0; budget < 60; budget++) {
        struct failing_mem f;
        struct wndl_pdb *pdb;
        struct said said = {.size = 0};
        failing_mem_init(&f, budget);
        if (wndl_pdb_open(&source, &f.mem, &pdb, NULL) == WNDL_OK) {
            const enum wndl_status status =
                wndl_pdb_visit_stacks(pdb, say, &said);
            assert_true(status == WNDL_OK || status == WNDL_NOMEM);
            refusals += status == WNDL_NOMEM;
            wndl_pdb_close(pdb);
        }
        assert_int_equal(f.live, 0);
    }
    assert_true(refusals != 0);
    pdb_unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_kinds_are_told),
        cmocka_unit_test(moved_code_is_told_in_pieces),
        cmocka_unit_test(records_that_lie_are_lost),
        cmocka_unit_test(pieces_are_bounded),
        cmocka_unit_test(truncation_is_no_harm),
        cmocka_unit_test(memory_may_be_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
