/* SPDX-License-Identifier: MIT */
/*
 * What neither clang nor lld makes: code moved after linking, thunks of
 * incremental linking, separated code, every annotation; and files that lie.
 * What they do make is compared with LLVM's tools in tests/oracle.
 */
#include "pdbmake.h"
#include "testlib.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "dbg/pdb/codeview.h"
#include "dbg/pdb/msf.h"
#include "dbg/pdb/pdb.h"

#include <stdio.h>
#include <stdlib.h>

static struct wndl_pdb *open_made(const struct pdb_maker *m)
{
    struct wndl_pdb *pdb;
    struct wndl_error err = {0};
    char said[600];
    const struct wndl_pdb_source source = {
        .file = {m->file.data, m->file.size}, .path = "a.pdb"};
    if (wndl_pdb_open(&source, wndl_mem_libc(), &pdb, &err) != WNDL_OK)
        fail_msg("%s", wndl_error_text(&err, said, sizeof said));
    return pdb;
}

/* "innermost=FILE:LINE:COLUMN@START,...", "" for nothing. */
static const char *look_up(struct wndl_pdb *pdb, uint64_t rva)
{
    static char said[1000];
    struct wndl_pdb_frames frames;
    size_t size = 0;
    said[0] = '\0';
    if (wndl_pdb_lookup(pdb, rva, &frames) != WNDL_OK)
        return said;
    for (size_t i = 0; i < frames.count; i++) {
        const struct wndl_pdb_frame *f = &frames.frames[i];
        bool is_plain = f->name.size != 0;
        assert_int_equal(f->inlined, i + 1 < frames.count);
        size += (size_t)snprintf(said + size, sizeof said - size,
            "%s%s%s=%s:%u:%u@%llx", i == 0 ? "" : ",",
            (const char *)(is_plain ? f->name.data : f->linkage_name.data),
            f->is_thunk ? "@ilt" : "", (const char *)f->file.data, f->line,
            f->column, (unsigned long long)f->start);
    }
    return said;
}

struct expected {
    uint64_t rva;
    const char *frames;
};

static void check_all(
    struct wndl_pdb *pdb, const struct expected *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_string_equal(look_up(pdb, expected[i].rva), expected[i].frames);
}

static void all_kinds_of_code_are_found(void **state)
{
    (void)state;
    static const struct expected expected[] = {
        {0xfff, ""},
        {0x1000, "main=a.c:10:3@1000"},
        {0x100f, "main=a.c:10:3@1000"},
        {0x1010, "box::get=b.h:100:0@1010,main=a.c:12:7@1000"},
        {0x101b, "box::get=b.h:100:0@1010,main=a.c:12:7@1000"},
        {0x101c, "ns::deep=b.h:202:0@101c,box::get=b.h:100:0@1010,"
                 "main=a.c:12:7@1000"},
        {0x1023, "ns::deep=b.h:202:0@101c,box::get=b.h:100:0@1010,"
                 "main=a.c:12:7@1000"},
        {0x1024, "box::get=b.h:100:0@1010,main=a.c:12:7@1000"},
        {0x1030, "main=a.c:12:7@1000"},
        {0x1100, "main=:0:0@1000"},
        {0x110f, "main=:0:0@1000"},
        {0x1200, "main@ilt=:0:0@1200"},
        {0x1207, "main@ilt=:0:0@1200"},
        {0x1210, "import=:0:0@1210"},
        {0x1304, "?main@@YAHXZ@ilt=:0:0@1300"},
        {0x1380, "_label=:0:0@1380"},
        {0x2000, ""},
        {UINT64_MAX, ""},
    };
    struct pdb_maker m;
    struct wndl_pdb_stats stats;
    pdb_make(&m, false);
    struct wndl_pdb *pdb = open_made(&m);
    check_all(pdb, expected, sizeof expected / sizeof expected[0]);
    wndl_pdb_get_stats(pdb, &stats);
    assert_int_equal(stats.damaged, 0);
    assert_int_equal(wndl_pdb_id(pdb)->age, 3);
    assert_int_equal(wndl_pdb_id(pdb)->guid[15], 15);
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
}

static void moved_code_is_found_where_it_is_now(void **state)
{
    (void)state;
    static const struct expected expected[] = {
        {0x1000, ""},
        {0x4000, "main=a.c:10:3@4000"},
        {0x4010, "box::get=b.h:100:0@4010,main=a.c:12:7@4000"},
        {0x401f, "ns::deep=b.h:202:0@401c,box::get=b.h:100:0@4010,"
                 "main=a.c:12:7@4000"},
        {0x4020, ""},
        {0x5000, "ns::deep=b.h:202:0@401c,box::get=b.h:100:0@4010,"
                 "main=a.c:12:7@4000"},
        {0x5010, "main=a.c:12:7@4000"},
    };
    static const uint64_t changes[] = {0x5000, 0x5004, 0x5010, 0x5020};
    struct wndl_arena arena;
    struct wndl_vec rvas;
    struct pdb_maker m;
    pdb_make(&m, true);
    struct wndl_pdb *pdb = open_made(&m);
    check_all(pdb, expected, sizeof expected / sizeof expected[0]);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&rvas, &arena, sizeof(uint64_t));
    assert_int_equal(wndl_pdb_changes(pdb, 0x4020, 0x5030, &rvas), WNDL_OK);
    for (size_t i = 0; i < 4; i++) {
        size_t found = 0;
        for (size_t k = 0; k < rvas.len; k++)
            found += *(uint64_t *)wndl_vec_at(&rvas, k) == changes[i];
        assert_true(found != 0);
    }
    wndl_arena_free(&arena);
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
}

/* As an inline site, with how often it is called before its annotations. */
static size_t counted_site(
    struct wndl_buf *b, uint32_t id, const uint8_t *program, size_t size)
{
    size_t start = pdb_begin(b, WNDL_S_INLINESITE2);
    pdb_zeros(b, 8);
    pdb_u32(b, id);
    pdb_u32(b, 7);
    wndl_buf_add(b, program, size);
    pdb_end(b, start);
    return start + 8;
}

static void inlined_calls_may_be_counted(void **state)
{
    (void)state;
    static const struct expected expected[] = {
        {0x100f, "main=a.c:10:3@1000"},
        {0x1010, "box::get=b.h:100:0@1010,main=a.c:12:7@1000"},
        {0x101c, "ns::deep=b.h:202:0@101c,box::get=b.h:100:0@1010,"
                 "main=a.c:12:7@1000"},
        {0x1024, "box::get=b.h:100:0@1010,main=a.c:12:7@1000"},
        {0x1030, "main=a.c:12:7@1000"},
    };
    static const uint8_t outer[] = {3, 0x10, 4, 0x20};
    static const uint8_t inner[] = {6, 4, 3, 0x1c, 4, 8};
    struct pdb_maker m;
    pdb_make_streams(&m, false, 1);
    struct wndl_buf *b = &m.streams[PDB_MODULE];
    b->size = m.streams[PDB_DBI].size = 0;
    pdb_u32(b, 4);
    size_t main_end = pdb_procedure(b, (struct pdb_at){0, 0x40, "main"});
    size_t outer_end = counted_site(b, 0x1000, outer, sizeof outer);
    size_t inner_end = counted_site(b, 0x1001, inner, sizeof inner);
    pdb_end_scope(b, inner_end, WNDL_S_INLINESITE_END);
    pdb_end_scope(b, outer_end, WNDL_S_INLINESITE_END);
    pdb_end_scope(b, main_end, WNDL_S_END);
    pdb_make_dbi(&m, false);
    pdb_make_file(&m);
    struct wndl_pdb *pdb = open_made(&m);
    check_all(pdb, expected, sizeof expected / sizeof expected[0]);
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
}

/* "START-END:LINE/FILE ..." */
static const char *run(const uint8_t *program, size_t size)
{
    static char said[400];
    struct wndl_cv_annotations a;
    struct wndl_cv_inline_range range;
    size_t at = 0;
    said[0] = '\0';
    wndl_cv_annotations_start(&a, (struct wndl_bytes){program, size});
    while (wndl_cv_annotations_next(&a, &range))
        at += (size_t)snprintf(said + at, sizeof said - at, "%x-%x:%d/%d ",
            range.start, range.end, range.line, (int)range.file);
    if (a.c.failed)
        snprintf(said + at, sizeof said - at, "damaged");
    return said;
}

#define RUN(...)                                                               \
    run((const uint8_t[]){__VA_ARGS__}, sizeof(uint8_t[]){__VA_ARGS__})

static void every_annotation_has_its_meaning(void **state)
{
    (void)state;
    assert_string_equal(RUN(0), "");
    assert_string_equal(RUN(3, 4), "4-ffffffff:0/-1 ");
    assert_string_equal(RUN(3, 4, 4, 8), "4-c:0/-1 ");
    assert_string_equal(RUN(3, 4, 4, 8, 3, 2, 4, 1), "4-c:0/-1 e-f:0/-1 ");
    assert_string_equal(RUN(2, 0x10, 1, 4, 4, 1), "14-15:0/-1 ");
    assert_string_equal(
        RUN(6, 5, 3, 4, 5, 24, 11, 0x21, 4, 2), "4-5:-2/-1 5-7:-1/24 ");
    assert_string_equal(RUN(12, 4, 2, 12, 1, 8), "2-6:0/-1 a-b:0/-1 ");
    assert_string_equal(RUN(3, 1, 12, 4, 2, 0), "1-3:0/-1 3-7:0/-1 ");
    assert_string_equal(
        RUN(7, 1, 8, 1, 9, 1, 10, 1, 13, 1, 3, 0x81, 0, 4, 0xc0, 1, 0, 0),
        "100-10100:0/-1 ");
    assert_string_equal(RUN(3, 4, 4, 8, 0, 3, 4, 4, 8), "4-c:0/-1 ");
    assert_string_equal(RUN(14, 1), "damaged");
    assert_string_equal(RUN(3, 0xe0), "damaged");
    assert_string_equal(RUN(3), "damaged");
}

static void open_and_use(struct wndl_bytes file, void *context)
{
    struct wndl_pdb *pdb;
    struct wndl_error err = {0};
    const struct wndl_pdb_source source = {.file = file, .path = "cut.pdb"};
    (void)context;
    if (wndl_pdb_open(&source, wndl_mem_libc(), &pdb, &err) != WNDL_OK) {
        assert_string_equal(err.file, "cut.pdb");
        assert_true(err.what[0] != '\0');
        return;
    }
    for (uint64_t rva = 0xff8; rva < 0x1400; rva += 4)
        (void)look_up(pdb, rva);
    wndl_pdb_close(pdb);
}

static void truncation_is_no_harm(void **state)
{
    (void)state;
    struct pdb_maker m;
    pdb_make(&m, false);
    for_each_truncation(
        (struct wndl_bytes){m.file.data, m.file.size}, open_and_use, NULL);
    pdb_unmake(&m);
}

static void any_byte_may_be_wrong(void **state)
{
    (void)state;
    struct pdb_maker m;
    pdb_make(&m, true);
    for (size_t i = 0; i < m.file.size; i++) {
        uint8_t kept = m.file.data[i];
        m.file.data[i] = (uint8_t)(kept ^ (i % 3 == 0 ? 0xff : 0x81));
        open_and_use((struct wndl_bytes){m.file.data, m.file.size}, NULL);
        m.file.data[i] = kept;
    }
    pdb_unmake(&m);
}

static void expect_refusal(const struct pdb_maker *m, enum wndl_status status)
{
    struct wndl_pdb *pdb;
    struct wndl_error err = {0};
    const struct wndl_pdb_source source = {
        .file = {m->file.data, m->file.size}, .path = "a.pdb"};
    assert_int_equal(
        wndl_pdb_open(&source, wndl_mem_libc(), &pdb, &err), status);
    assert_string_equal(err.file, "a.pdb");
}

static void directories_that_lie_are_refused(void **state)
{
    (void)state;
    struct pdb_maker m;
    pdb_make(&m, false);
    pdb_set_u32(&m.file, 44, 0x7fffffff);
    expect_refusal(&m, WNDL_MALFORMED);
    pdb_set_u32(&m.file, 44, 4 * 200);
    pdb_set_u32(&m.file, 3 * PDB_BLOCK, 3); /* it is where it is told to be */
    pdb_set_u32(&m.file, 3 * PDB_BLOCK + 4, 3);
    expect_refusal(&m, WNDL_TRUNCATED);
    pdb_set_u32(&m.file, 52, 0x7fffffff);
    expect_refusal(&m, WNDL_TRUNCATED);
    pdb_set_u32(&m.file, 32, 3);
    expect_refusal(&m, WNDL_MALFORMED);
    m.file.data[0] = 'X';
    expect_refusal(&m, WNDL_UNSUPPORTED);
    pdb_unmake(&m);
}

static size_t count_changes(uint32_t contributions)
{
    struct pdb_maker m;
    struct wndl_arena arena;
    struct wndl_vec rvas;
    pdb_make_streams(&m, false, contributions);
    pdb_make_file(&m);
    struct wndl_pdb *pdb = open_made(&m);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&rvas, &arena, sizeof(uint64_t));
    assert_int_equal(wndl_pdb_changes(pdb, 0x1000, 0x1300, &rvas), WNDL_OK);
    size_t count = rvas.len;
    wndl_arena_free(&arena);
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
    return count;
}

/* Each adds where it begins, and not all that its module has once more. */
static void contributions_may_overlap(void **state)
{
    (void)state;
    size_t one = count_changes(1);
    assert_true(one > 10);
    assert_int_equal(count_changes(100), one + 99);
}

/* Any number of entries of the table may be of one string that is as long: 3
 * MiB read half a million times would take minutes. */
static void names_of_streams_may_be_long(void **state)
{
    (void)state;
    enum { LONG = 3 << 20, MANY = 1 << 19 };
    struct pdb_maker m;
    pdb_make_streams(&m, false, 1);
    struct wndl_buf *b = &m.streams[PDB_INFO];
    b->size = 28;
    pdb_u32(b, LONG + 7);
    for (size_t i = 0; i < LONG; i++)
        wndl_buf_byte(b, 'x');
    pdb_text(b, "/names");
    pdb_u32(b, MANY + 1);
    pdb_u32(b, MANY + 1);
    pdb_zeros(b, 8);
    pdb_zeros(b, 8 * MANY);
    pdb_u32(b, LONG);
    pdb_u32(b, PDB_NAMES);
    pdb_make_file(&m);
    struct wndl_pdb *pdb = open_made(&m);
    assert_non_null(strstr(look_up(pdb, 0x1000), "=a.c:10:"));
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
}

static size_t count_nested(unsigned procedures, unsigned sites)
{
    static const uint8_t program[] = {3, 1, 4, 1};
    struct pdb_maker m;
    struct wndl_arena arena;
    struct wndl_vec rvas;
    pdb_make_streams(&m, false, 1);
    struct wndl_buf *b = &m.streams[PDB_MODULE];
    b->size = 0;
    pdb_u32(b, 4);
    for (unsigned i = 0; i < procedures; i++)
        (void)pdb_procedure(b, (struct pdb_at){i, 0x300 - i, "deep"});
    for (unsigned i = 0; i < sites; i++)
        pdb_end_scope(b, pdb_inline_site(b, 0x1000, program, sizeof program),
            WNDL_S_INLINESITE_END);
    struct wndl_buf *dbi = &m.streams[PDB_DBI];
    dbi->size = 0;
    pdb_make_dbi(&m, false);
    pdb_make_file(&m);
    struct wndl_pdb *pdb = open_made(&m);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&rvas, &arena, sizeof(uint64_t));
    assert_int_equal(wndl_pdb_changes(pdb, 0x1000, 0x1300, &rvas), WNDL_OK);
    size_t count = rvas.len;
    wndl_arena_free(&arena);
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
    return count;
}

/* Inlined calls are of the innermost code alone, however deep that is. */
static void calls_in_nested_code_are_told_once(void **state)
{
    (void)state;
    size_t one = count_nested(1, 1000);
    size_t many = count_nested(100, 1000);
    assert_in_range(one, 2000, 2100);
    assert_in_range(many, 2000, 2500);
}

enum { FROM_RVA = 0x10000 };

/* `count` pieces of `size` bytes, whose code is in two places in turn. */
static struct wndl_pdb *open_moved(
    struct pdb_maker *m, uint32_t count, uint32_t size, uint32_t apart)
{
    pdb_make_streams(m, true, 1);
    m->streams[PDB_TO].size = 0;
    for (uint32_t i = 0; i < count; i++) {
        pdb_u32(&m->streams[PDB_TO], FROM_RVA + i * size);
        pdb_u32(&m->streams[PDB_TO], 0x1000 + i % 2 * apart);
    }
    pdb_make_file(m);
    return open_made(m);
}

/* How much damage there is after changes in `size` bytes were asked for. */
static uint32_t damage_of_changes(
    struct wndl_pdb *pdb, uint32_t size, struct wndl_vec *rvas)
{
    struct wndl_pdb_stats stats;
    assert_int_equal(
        wndl_pdb_changes(pdb, FROM_RVA, FROM_RVA + size, rvas), WNDL_OK);
    wndl_pdb_get_stats(pdb, &stats);
    return stats.damaged;
}

/* Of code that is said to be in all of them, what changes is told for no more
 * places than the file has bytes. Of a function in pieces, all that is in it is
 * looked at for each: not for any number of them. */
static void code_may_be_moved_to_many_places(void **state)
{
    (void)state;
    enum { MANY = 5000, EACH = 0x300, PIECES = 30000 };
    struct pdb_maker m;
    struct wndl_arena arena;
    struct wndl_vec rvas;
    struct wndl_pdb *pdb = open_moved(&m, MANY, EACH, 0);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&rvas, &arena, sizeof(uint64_t));
    assert_int_equal(damage_of_changes(pdb, EACH, &rvas), 0);
    assert_true(rvas.len > 10);
    assert_int_equal(damage_of_changes(pdb, MANY * EACH, &rvas), 1);
    assert_true(rvas.len <= 2 * m.file.size);
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
    pdb = open_moved(&m, PIECES, 1, 0x100);
    assert_int_equal(damage_of_changes(pdb, PIECES, &rvas), 0);
    for (int i = 1; i < 10; i++)
        (void)damage_of_changes(pdb, PIECES, &rvas);
    assert_true(damage_of_changes(pdb, PIECES, &rvas) > 0);
    wndl_arena_free(&arena);
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
}

static enum wndl_status count_one(
    void *context, const struct wndl_pdb_function *function)
{
    size_t *count = context;
    *count += function->linkage_name.size != 0;
    return WNDL_OK;
}

/* One of a long name, many times: their names are no more than there are. */
static void public_symbols_may_share_a_record(void **state)
{
    (void)state;
    enum { MANY = 1000, LONG = 50000 };
    struct pdb_maker m;
    struct wndl_pdb_stats stats;
    size_t count = 0;
    char *name = test_calloc(1, LONG + 1);
    memset(name, 'x', LONG);
    pdb_make_streams(&m, false, 1);
    struct wndl_buf *p = &m.streams[PDB_PUBLICS];
    p->size = 28;
    uint32_t at = (uint32_t)m.streams[PDB_RECORDS].size;
    pdb_public_at(&m, 0, name);
    for (uint32_t i = 1; i < MANY; i++)
        pdb_u32(p, at);
    pdb_set_u32(p, 4, 4 * MANY);
    pdb_set_u32(p, 8, 0);
    pdb_make_file(&m);
    struct wndl_pdb *pdb = open_made(&m);
    assert_int_equal(wndl_pdb_visit_publics(pdb, count_one, &count), WNDL_OK);
    assert_int_equal(count, 1);
    wndl_pdb_get_stats(pdb, &stats);
    assert_int_equal(stats.damaged, 1);
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
    test_free(name);
}

static size_t blocks_before(const struct pdb_maker *m, size_t stream)
{
    size_t count = 0;
    for (size_t i = 0; i < stream; i++)
        count += (m->streams[i].size + PDB_BLOCK - 1) / PDB_BLOCK;
    return count;
}

/* The last of its blocks is past the end of the file. */
static void a_damaged_module_is_read_once(void **state)
{
    (void)state;
    struct pdb_maker m;
    struct failing_mem mem;
    struct wndl_pdb *pdb;
    struct wndl_pdb_stats stats;
    pdb_make_streams(&m, false, 1);
    pdb_zeros(&m.streams[PDB_MODULE], PDB_BLOCK);
    pdb_make_file(&m);
    const uint8_t *at = m.file.data + 40;
    size_t end = (size_t)(at[0] | at[1] << 8) * PDB_BLOCK;
    at = m.file.data + 3 * PDB_BLOCK;
    size_t directory = (size_t)(at[0] | at[1] << 8) * PDB_BLOCK;
    size_t last = directory + 4 + 4 * PDB_STREAMS +
                  4 * (blocks_before(&m, PDB_MODULE + 1) - 1);
    pdb_set_u32(&m.file, last, end);
    const struct wndl_pdb_source source = {
        .file = {m.file.data, m.file.size}, .path = "a.pdb"};
    failing_mem_init(&mem, 10000);
    assert_int_equal(wndl_pdb_open(&source, &mem.mem, &pdb, NULL), WNDL_OK);
    assert_string_equal(look_up(pdb, 0x1000), "?main@@YAHXZ=:0:0@1000");
    wndl_pdb_get_stats(pdb, &stats);
    assert_int_equal(stats.damaged, 1);
    long left = mem.budget;
    for (size_t i = 0; i < 100; i++)
        (void)look_up(pdb, 0x1000);
    assert_int_equal(mem.budget, left);
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
}

static void memory_may_be_out(void **state)
{
    (void)state;
    struct pdb_maker m;
    pdb_make(&m, true);
    const struct wndl_pdb_source source = {
        .file = {m.file.data, m.file.size}, .path = "a.pdb"};
    for (long budget = 0; budget < 60; budget++) {
        struct failing_mem f;
        struct wndl_pdb *pdb;
        failing_mem_init(&f, budget);
        if (wndl_pdb_open(&source, &f.mem, &pdb, NULL) == WNDL_OK) {
            (void)look_up(pdb, 0x4010);
            (void)look_up(pdb, 0x4100);
            wndl_pdb_close(pdb);
        }
        assert_int_equal(f.live, 0);
    }
    pdb_unmake(&m);
}

/* Calls the inner function by `id` instead of by its own, and lists what is
 * imported: a thing of "a.c", two of the module whose name is at `from` in the
 * strings, which exports them. */
static void make_imports(struct pdb_maker *m, uint32_t id, uint32_t from)
{
    enum { LINES_SIZE = 64 + 44, SUBSECTIONS = 8 + 7 * 4 + 8 + 4 * 4 };
    const uint32_t imports[] = {1, 1, 5, from, 2, 7, 9};
    static const uint32_t exports[] = {9, 0x1001, 7, 0x1000};
    static const uint8_t own[] = {1, 0x10, 0, 0};
    struct wndl_buf *b = &m->streams[PDB_MODULE];
    struct wndl_buf *dbi = &m->streams[PDB_DBI];
    unsigned changed = 0;
    for (size_t i = 0; i + 4 <= b->size; i++)
        if (memcmp(b->data + i, own, 4) == 0) {
            pdb_set_u32(b, i, id);
            changed++;
        }
    assert_int_equal(changed, 2);
    pdb_u32(b, WNDL_CV_IMPORTS);
    pdb_u32(b, sizeof imports);
    for (size_t i = 0; i < sizeof imports / sizeof *imports; i++)
        pdb_u32(b, imports[i]);
    pdb_u32(b, WNDL_CV_EXPORTS);
    pdb_u32(b, sizeof exports);
    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
        pdb_u32(b, exports[i]);
    pdb_set_u32(dbi, LINES_SIZE, dbi->data[LINES_SIZE] + (size_t)SUBSECTIONS);
}

static void inlined_functions_may_be_of_other_modules(void **state)
{
    static const struct {
        uint32_t id;
        const char *name;
    } cases[] = {
        {0x80100001, "ns::deep"},
        {0x80100000, "box::get"},
        {0x80100002, ""}, /* no third thing */
        {0x80000000, ""}, /* no such module */
        {0x80200000, ""}, /* no third module */
        {0xffffffff, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdb_maker m;
        char want[100];
        struct wndl_pdb_stats stats;
        pdb_make_streams(&m, false, 1);
        make_imports(&m, cases[i].id, 0);
        pdb_make_file(&m);
        struct wndl_pdb *pdb = open_made(&m);
        const char *have = look_up(pdb, 0x101c);
        snprintf(want, sizeof want, "%s=b.h:202:0@101c,box::get=b.h:100:0@1010",
            cases[i].name);
        assert_memory_equal(have, want, strlen(want));
        wndl_pdb_get_stats(pdb, &stats);
        assert_int_equal(stats.damaged, 0);
        wndl_pdb_close(pdb);
        pdb_unmake(&m);
    }
}

/* The only module is "C". Microsoft's linker imports from "c". */
static void imports_name_modules_in_any_case(void **state)
{
    enum { NAME = 128, LOWER = 3, OTHER = 7 };
    static const struct {
        uint32_t from;
        const char *inner;
    } cases[] = {{LOWER, "ns::deep="}, {OTHER, "=b.h"}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct pdb_maker m;
        pdb_make_streams(&m, false, 1);
        make_imports(&m, 0x80100001, cases[i].from);
        m.streams[PDB_DBI].data[NAME] = 'C';
        pdb_make_file(&m);
        struct wndl_pdb *pdb = open_made(&m);
        const char *have = look_up(pdb, 0x101c);
        assert_memory_equal(have, cases[i].inner, strlen(cases[i].inner));
        wndl_pdb_close(pdb);
        pdb_unmake(&m);
    }
}

/* A label of an assembler at the start of a function. */
static void of_two_publics_the_one_marked_as_code_wins(void **state)
{
    (void)state;
    struct pdb_maker m;
    pdb_make_streams(&m, false, 1);
    struct wndl_buf *p = &m.streams[PDB_PUBLICS];
    struct wndl_buf *records = &m.streams[PDB_RECORDS];
    p->size -= 4; /* the table of thunks */
    pdb_set_u32(p, 8, 0);
    pdb_public_at(&m, 0x3a0, "function");
    size_t at = records->size;
    pdb_public_at(&m, 0x3a0, "label");
    pdb_set_u32(records, at + 4, 0);
    pdb_set_u32(p, 4, 4 * 4);
    pdb_make_file(&m);
    struct wndl_pdb *pdb = open_made(&m);
    assert_string_equal(look_up(pdb, 0x13a4), "function=:0:0@13a0");
    wndl_pdb_close(pdb);
    pdb_unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_code_are_found),
        cmocka_unit_test(moved_code_is_found_where_it_is_now),
        cmocka_unit_test(every_annotation_has_its_meaning),
        cmocka_unit_test(inlined_calls_may_be_counted),
        cmocka_unit_test(inlined_functions_may_be_of_other_modules),
        cmocka_unit_test(imports_name_modules_in_any_case),
        cmocka_unit_test(of_two_publics_the_one_marked_as_code_wins),
        cmocka_unit_test(truncation_is_no_harm),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(directories_that_lie_are_refused),
        cmocka_unit_test(contributions_may_overlap),
        cmocka_unit_test(calls_in_nested_code_are_told_once),
        cmocka_unit_test(code_may_be_moved_to_many_places),
        cmocka_unit_test(public_symbols_may_share_a_record),
        cmocka_unit_test(names_of_streams_may_be_long),
        cmocka_unit_test(a_damaged_module_is_read_once),
        cmocka_unit_test(memory_may_be_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
