/* SPDX-License-Identifier: MIT */
/*
 * What neither clang nor lld makes: code moved after linking, thunks of
 * incremental linking, separated code, every annotation; and files that lie.
 * What they do make is compared with LLVM's tools in tests/cli.
 */
#include "testlib.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "dbg/codeview.h"
#include "dbg/msf.h"
#include "dbg/pdb.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 512, STREAMS = 12 };

/* Numbers of streams beyond those that have a meaning. */
enum {
    INFO = 1,
    TYPES,
    DBI,
    IDS,
    NAMES,
    MODULE,
    SECTIONS,
    TO,
    FROM,
    PUBLICS,
    RECORDS
};

struct maker {
    struct wndl_buf streams[STREAMS];
    struct wndl_buf file;
    uint32_t contributions; /* each a byte shorter than the last */
};

static void u16(struct wndl_buf *b, unsigned value)
{
    wndl_buf_byte(b, (uint8_t)value);
    wndl_buf_byte(b, (uint8_t)(value >> 8));
}

static void u32(struct wndl_buf *b, uint32_t value)
{
    wndl_buf_u32le(b, value);
}

static void zeros(struct wndl_buf *b, size_t count)
{
    while (count-- > 0)
        wndl_buf_byte(b, 0);
}

static void text(struct wndl_buf *b, const char *string)
{
    wndl_buf_add(b, string, strlen(string) + 1);
}

static void align(struct wndl_buf *b)
{
    zeros(b, -b->size & 3);
}

static void set_u32(struct wndl_buf *b, size_t at, size_t value)
{
    for (size_t i = 0; i < 4; i++)
        b->data[at + i] = (uint8_t)(value >> 8 * i);
}

/* A record is begun, and ended when its size is known. */
static size_t begin(struct wndl_buf *b, unsigned kind)
{
    size_t at = b->size;
    u16(b, 0);
    u16(b, kind);
    return at;
}

static void end(struct wndl_buf *b, size_t at)
{
    align(b);
    size_t size = b->size - at - 2;
    b->data[at] = (uint8_t)size;
    b->data[at + 1] = (uint8_t)(size >> 8);
}

static void section(struct wndl_buf *b, uint32_t start, uint32_t size)
{
    zeros(b, 8);
    u32(b, size);
    u32(b, start);
    zeros(b, 20);
    u32(b, 0x60000020);
}

struct at {
    uint32_t offset;
    uint32_t size;
    const char *name;
};

/* Returns where its end is to be told. */
static size_t procedure(struct wndl_buf *b, struct at at)
{
    size_t start = begin(b, WNDL_S_GPROC32);
    zeros(b, 12);
    u32(b, at.size);
    zeros(b, 12);
    u32(b, at.offset);
    u16(b, 1);
    wndl_buf_byte(b, 0);
    text(b, at.name);
    end(b, start);
    return start + 8;
}

static void end_scope(struct wndl_buf *b, size_t told_at, unsigned kind)
{
    set_u32(b, told_at, b->size);
    end(b, begin(b, kind));
}

static size_t inline_site(
    struct wndl_buf *b, uint32_t id, const uint8_t *program, size_t size)
{
    size_t start = begin(b, WNDL_S_INLINESITE);
    zeros(b, 8);
    u32(b, id);
    wndl_buf_add(b, program, size);
    end(b, start);
    return start + 8;
}

/* "main" [0, 0x40) with two inlined calls; its cold part [0x100, 0x110); a
 * jump to it at 0x200 and an import's at 0x210. */
static void make_symbols(struct wndl_buf *b)
{
    static const uint8_t outer[] = {3, 0x10, 4, 0x20};
    static const uint8_t inner[] = {6, 4, 3, 0x1c, 4, 8};
    u32(b, 4);
    size_t main_end = procedure(b, (struct at){0, 0x40, "main"});
    size_t outer_end = inline_site(b, 0x1000, outer, sizeof outer);
    size_t inner_end = inline_site(b, 0x1001, inner, sizeof inner);
    end_scope(b, inner_end, WNDL_S_INLINESITE_END);
    end_scope(b, outer_end, WNDL_S_INLINESITE_END);
    end_scope(b, main_end, WNDL_S_END);
    size_t cold = begin(b, WNDL_S_SEPCODE);
    zeros(b, 8);
    u32(b, 0x10);
    u32(b, 0);
    u32(b, 0x100);
    u32(b, 0);
    u16(b, 1);
    u16(b, 1);
    end(b, cold);
    end_scope(b, cold + 8, WNDL_S_END);
    size_t jump = begin(b, WNDL_S_TRAMPOLINE);
    u16(b, 0);
    u16(b, 8);
    u32(b, 0x200);
    u32(b, 0);
    u16(b, 1);
    u16(b, 1);
    end(b, jump);
    size_t thunk = begin(b, WNDL_S_THUNK32);
    zeros(b, 12);
    u32(b, 0x210);
    u16(b, 1);
    u16(b, 6);
    wndl_buf_byte(b, 0);
    text(b, "import");
    end(b, thunk);
    end_scope(b, thunk + 8, WNDL_S_END);
}

/* Checksums of "a.c" and "b.h"; lines of main; where inlined code begins. */
static void make_lines(struct wndl_buf *b)
{
    u32(b, WNDL_CV_CHECKSUMS);
    u32(b, 16);
    u32(b, 1);
    u32(b, 0);
    u32(b, 5);
    u32(b, 0);
    u32(b, WNDL_CV_LINES);
    u32(b, 12 + 12 + 2 * 8 + 2 * 4);
    u32(b, 0);
    u16(b, 1);
    u16(b, 1);
    u32(b, 0x40);
    u32(b, 0);
    u32(b, 2);
    u32(b, 12 + 2 * 8 + 2 * 4);
    u32(b, 0);
    u32(b, 10);
    u32(b, 0x10);
    u32(b, 12 | 0x80000000);
    u32(b, 3);
    u32(b, 7);
    u32(b, WNDL_CV_INLINEE_LINES);
    u32(b, 4 + 2 * 12);
    u32(b, 0);
    u32(b, 0x1000);
    u32(b, 8);
    u32(b, 100);
    u32(b, 0x1001);
    u32(b, 8);
    u32(b, 200);
}

/* A header and `count` records from 0x1000 on. */
static void begin_types(struct wndl_buf *b, uint32_t count)
{
    u32(b, 20040203);
    u32(b, 56);
    u32(b, 0x1000);
    u32(b, 0x1000 + count);
    zeros(b, 40);
}

static void end_types(struct wndl_buf *b)
{
    set_u32(b, 16, b->size - 56);
}

static void make_types(struct maker *m)
{
    struct wndl_buf *types = &m->streams[TYPES];
    struct wndl_buf *ids = &m->streams[IDS];
    begin_types(types, 1);
    size_t at = begin(types, WNDL_LF_STRUCTURE);
    zeros(types, 16);
    u16(types, 0x8004);
    zeros(types, 4);
    text(types, "box");
    end(types, at);
    end_types(types);
    begin_types(ids, 3);
    at = begin(ids, WNDL_LF_MFUNC_ID);
    u32(ids, 0x1000);
    u32(ids, 0);
    text(ids, "get");
    end(ids, at);
    at = begin(ids, WNDL_LF_FUNC_ID);
    u32(ids, 0x1002);
    u32(ids, 0);
    text(ids, "deep");
    end(ids, at);
    at = begin(ids, WNDL_LF_STRING_ID);
    u32(ids, 0);
    text(ids, "ns");
    end(ids, at);
    end_types(ids);
}

static void public_at(struct maker *m, uint32_t offset, const char *name)
{
    struct wndl_buf *records = &m->streams[RECORDS];
    u32(&m->streams[PUBLICS], (uint32_t)records->size);
    size_t at = begin(records, WNDL_S_PUB32);
    u32(records, 2);
    u32(records, offset);
    u16(records, 1);
    text(records, name);
    end(records, at);
}

/* Two in order; a table of one thunk at 0x300, to main at 0x1000. */
static void make_publics(struct maker *m)
{
    struct wndl_buf *p = &m->streams[PUBLICS];
    u32(p, 0);
    u32(p, 8);
    u32(p, 1);
    u32(p, 5);
    u16(p, 1);
    u16(p, 0);
    u32(p, 0x300);
    u32(p, 0);
    public_at(m, 0, "?main@@YAHXZ");
    public_at(m, 0x380, "_label");
    u32(p, 0x1000);
}

static void make_dbi(struct maker *m, bool is_moved)
{
    struct wndl_buf *b = &m->streams[DBI];
    struct wndl_buf *module = &m->streams[MODULE];
    zeros(b, 4);
    u32(b, 19990903);
    u32(b, 3);
    u32(b, 0);
    u16(b, PUBLICS);
    u16(b, 0);
    u16(b, RECORDS);
    u16(b, 0);
    u32(b, 68);
    u32(b, 4 + 28 * m->contributions);
    zeros(b, 16);
    u32(b, 22);
    zeros(b, 6);
    u16(b, WNDL_PDB_X64);
    zeros(b, 4);
    zeros(b, 34);
    u16(b, MODULE);
    u32(b, (uint32_t)module->size);
    make_lines(module);
    u32(b, 0);
    u32(b, (uint32_t)module->size);
    set_u32(b, b->size - 4,
        module->size - (b->data[b->size - 12] + 256u * b->data[b->size - 11]));
    zeros(b, 16);
    zeros(b, 4);
    u32(b, 0xeffe0000 + 19970605);
    for (uint32_t i = 0; i < m->contributions; i++) {
        u16(b, 1);
        u16(b, 0);
        u32(b, i);
        u32(b, 0x300 - i);
        u32(b, 0x20);
        u16(b, 0);
        zeros(b, 10);
    }
    for (unsigned i = 0; i < 11; i++)
        u16(b, i == 3 && is_moved   ? TO
               : i == 4 && is_moved ? FROM
               : i == 5             ? SECTIONS
                                    : 0xffff);
}

/* rva [0x5000, 0x5020) was [0x1020, ...), and the rest stayed together. */
static void make_moves(struct maker *m)
{
    static const uint32_t pairs[][2] = {
        {0x1000, 0}, {0x4000, 0x1000}, {0x4020, 0}, {0x5000, 0x1020}};
    static const uint32_t back[][2] = {{0x1000, 0x4000}, {0x1020, 0x5000}};
    for (size_t i = 0; i < 4; i++) {
        u32(&m->streams[TO], pairs[i][0]);
        u32(&m->streams[TO], pairs[i][1]);
    }
    for (size_t i = 0; i < 2; i++) {
        u32(&m->streams[FROM], back[i][0]);
        u32(&m->streams[FROM], back[i][1]);
    }
}

static void make_info(struct maker *m)
{
    struct wndl_buf *b = &m->streams[INFO];
    static const uint32_t table[] = {1, 2, 1, 1, 0, 0, NAMES};
    u32(b, 20000404);
    u32(b, 0);
    u32(b, 1);
    for (uint8_t i = 0; i < 16; i++)
        wndl_buf_byte(b, i);
    u32(b, 7);
    text(b, "/names");
    for (size_t i = 0; i < 7; i++)
        u32(b, table[i]);
    b = &m->streams[NAMES];
    u32(b, 0xeffeeffe);
    u32(b, 1);
    u32(b, 10);
    wndl_buf_add(b, "\0a.c\0b.h\0", 9);
}

/* Blocks of each stream in reverse order, so that nothing is in a row. */
static void make_file(struct maker *m)
{
    struct wndl_buf directory;
    struct wndl_buf *f = &m->file;
    wndl_buf_init(&directory, wndl_mem_libc());
    wndl_buf_add(f,
        "Microsoft C/C++ MSF 7.00\r\n\x1a"
        "DS\0\0\0",
        32);
    zeros(f, BLOCK * 4 - 32);
    u32(&directory, STREAMS);
    for (size_t i = 0; i < STREAMS; i++)
        u32(&directory, (uint32_t)m->streams[i].size);
    for (size_t i = 0; i < STREAMS; i++) {
        const struct wndl_buf *stream = &m->streams[i];
        size_t blocks = (stream->size + BLOCK - 1) / BLOCK;
        size_t first = f->size / BLOCK;
        for (size_t k = 0; k < blocks; k++) {
            size_t part = blocks - 1 - k;
            size_t left = stream->size - part * BLOCK;
            u32(&directory, (uint32_t)(first + blocks - 1 - k));
            wndl_buf_add(
                f, stream->data + part * BLOCK, left < BLOCK ? left : BLOCK);
            zeros(f, -f->size & (BLOCK - 1));
        }
    }
    for (size_t i = 0; i * BLOCK < directory.size; i++)
        set_u32(f, 3 * BLOCK + 4 * i, f->size / BLOCK + i);
    set_u32(f, 32, BLOCK);
    set_u32(f, 44, directory.size);
    set_u32(f, 52, 3);
    wndl_buf_add(f, directory.data, directory.size);
    zeros(f, -f->size & (BLOCK - 1));
    set_u32(f, 40, f->size / BLOCK);
    wndl_buf_free(&directory);
}

static void make_streams(struct maker *m, bool is_moved, uint32_t contributions)
{
    m->contributions = contributions;
    for (size_t i = 0; i < STREAMS; i++)
        wndl_buf_init(&m->streams[i], wndl_mem_libc());
    wndl_buf_init(&m->file, wndl_mem_libc());
    make_info(m);
    make_types(m);
    make_symbols(&m->streams[MODULE]);
    section(&m->streams[SECTIONS], 0x1000, 0x1000);
    make_moves(m);
    make_publics(m);
    make_dbi(m, is_moved);
}

static void make(struct maker *m, bool is_moved)
{
    make_streams(m, is_moved, 1);
    make_file(m);
}

static void unmake(struct maker *m)
{
    for (size_t i = 0; i < STREAMS; i++)
        wndl_buf_free(&m->streams[i]);
    wndl_buf_free(&m->file);
}

static struct wndl_pdb *open_made(const struct maker *m)
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
    struct maker m;
    struct wndl_pdb_stats stats;
    make(&m, false);
    struct wndl_pdb *pdb = open_made(&m);
    check_all(pdb, expected, sizeof expected / sizeof expected[0]);
    wndl_pdb_get_stats(pdb, &stats);
    assert_int_equal(stats.damaged, 0);
    assert_int_equal(wndl_pdb_id(pdb)->age, 3);
    assert_int_equal(wndl_pdb_id(pdb)->guid[15], 15);
    wndl_pdb_close(pdb);
    unmake(&m);
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
    struct maker m;
    make(&m, true);
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
    unmake(&m);
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
    struct maker m;
    make(&m, false);
    for_each_truncation(
        (struct wndl_bytes){m.file.data, m.file.size}, open_and_use, NULL);
    unmake(&m);
}

static void any_byte_may_be_wrong(void **state)
{
    (void)state;
    struct maker m;
    make(&m, true);
    for (size_t i = 0; i < m.file.size; i++) {
        uint8_t kept = m.file.data[i];
        m.file.data[i] = (uint8_t)(kept ^ (i % 3 == 0 ? 0xff : 0x81));
        open_and_use((struct wndl_bytes){m.file.data, m.file.size}, NULL);
        m.file.data[i] = kept;
    }
    unmake(&m);
}

static void expect_refusal(const struct maker *m, enum wndl_status status)
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
    struct maker m;
    make(&m, false);
    set_u32(&m.file, 44, 0x7fffffff);
    expect_refusal(&m, WNDL_MALFORMED);
    set_u32(&m.file, 44, 4 * 200);
    set_u32(&m.file, 3 * BLOCK, 3); /* it is where it is told to be */
    set_u32(&m.file, 3 * BLOCK + 4, 3);
    expect_refusal(&m, WNDL_TRUNCATED);
    set_u32(&m.file, 52, 0x7fffffff);
    expect_refusal(&m, WNDL_TRUNCATED);
    set_u32(&m.file, 32, 3);
    expect_refusal(&m, WNDL_MALFORMED);
    m.file.data[0] = 'X';
    expect_refusal(&m, WNDL_UNSUPPORTED);
    unmake(&m);
}

static size_t count_changes(uint32_t contributions)
{
    struct maker m;
    struct wndl_arena arena;
    struct wndl_vec rvas;
    make_streams(&m, false, contributions);
    make_file(&m);
    struct wndl_pdb *pdb = open_made(&m);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&rvas, &arena, sizeof(uint64_t));
    assert_int_equal(wndl_pdb_changes(pdb, 0x1000, 0x1300, &rvas), WNDL_OK);
    size_t count = rvas.len;
    wndl_arena_free(&arena);
    wndl_pdb_close(pdb);
    unmake(&m);
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
    struct maker m;
    make_streams(&m, false, 1);
    struct wndl_buf *b = &m.streams[INFO];
    b->size = 28;
    u32(b, LONG + 7);
    for (size_t i = 0; i < LONG; i++)
        wndl_buf_byte(b, 'x');
    text(b, "/names");
    u32(b, MANY + 1);
    u32(b, MANY + 1);
    zeros(b, 8);
    zeros(b, 8 * MANY);
    u32(b, LONG);
    u32(b, NAMES);
    make_file(&m);
    struct wndl_pdb *pdb = open_made(&m);
    assert_non_null(strstr(look_up(pdb, 0x1000), "=a.c:10:"));
    wndl_pdb_close(pdb);
    unmake(&m);
}

static size_t count_nested(unsigned procedures, unsigned sites)
{
    static const uint8_t program[] = {3, 1, 4, 1};
    struct maker m;
    struct wndl_arena arena;
    struct wndl_vec rvas;
    make_streams(&m, false, 1);
    struct wndl_buf *b = &m.streams[MODULE];
    b->size = 0;
    u32(b, 4);
    for (unsigned i = 0; i < procedures; i++)
        (void)procedure(b, (struct at){i, 0x300 - i, "deep"});
    for (unsigned i = 0; i < sites; i++)
        end_scope(b, inline_site(b, 0x1000, program, sizeof program),
            WNDL_S_INLINESITE_END);
    struct wndl_buf *dbi = &m.streams[DBI];
    dbi->size = 0;
    make_dbi(&m, false);
    make_file(&m);
    struct wndl_pdb *pdb = open_made(&m);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&rvas, &arena, sizeof(uint64_t));
    assert_int_equal(wndl_pdb_changes(pdb, 0x1000, 0x1300, &rvas), WNDL_OK);
    size_t count = rvas.len;
    wndl_arena_free(&arena);
    wndl_pdb_close(pdb);
    unmake(&m);
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
    struct maker *m, uint32_t count, uint32_t size, uint32_t apart)
{
    make_streams(m, true, 1);
    m->streams[TO].size = 0;
    for (uint32_t i = 0; i < count; i++) {
        u32(&m->streams[TO], FROM_RVA + i * size);
        u32(&m->streams[TO], 0x1000 + i % 2 * apart);
    }
    make_file(m);
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
    struct maker m;
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
    unmake(&m);
    pdb = open_moved(&m, PIECES, 1, 0x100);
    assert_int_equal(damage_of_changes(pdb, PIECES, &rvas), 0);
    for (int i = 1; i < 10; i++)
        (void)damage_of_changes(pdb, PIECES, &rvas);
    assert_true(damage_of_changes(pdb, PIECES, &rvas) > 0);
    wndl_arena_free(&arena);
    wndl_pdb_close(pdb);
    unmake(&m);
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
    struct maker m;
    struct wndl_pdb_stats stats;
    size_t count = 0;
    char *name = test_calloc(1, LONG + 1);
    memset(name, 'x', LONG);
    make_streams(&m, false, 1);
    struct wndl_buf *p = &m.streams[PUBLICS];
    p->size = 28;
    uint32_t at = (uint32_t)m.streams[RECORDS].size;
    public_at(&m, 0, name);
    for (uint32_t i = 1; i < MANY; i++)
        u32(p, at);
    set_u32(p, 4, 4 * MANY);
    set_u32(p, 8, 0);
    make_file(&m);
    struct wndl_pdb *pdb = open_made(&m);
    assert_int_equal(wndl_pdb_visit_publics(pdb, count_one, &count), WNDL_OK);
    assert_int_equal(count, 1);
    wndl_pdb_get_stats(pdb, &stats);
    assert_int_equal(stats.damaged, 1);
    wndl_pdb_close(pdb);
    unmake(&m);
    test_free(name);
}

static size_t blocks_before(const struct maker *m, size_t stream)
{
    size_t count = 0;
    for (size_t i = 0; i < stream; i++)
        count += (m->streams[i].size + BLOCK - 1) / BLOCK;
    return count;
}

/* The last of its blocks is past the end of the file. */
static void a_damaged_module_is_read_once(void **state)
{
    (void)state;
    struct maker m;
    struct failing_mem mem;
    struct wndl_pdb *pdb;
    struct wndl_pdb_stats stats;
    make_streams(&m, false, 1);
    zeros(&m.streams[MODULE], BLOCK);
    make_file(&m);
    const uint8_t *at = m.file.data + 40;
    size_t end = (size_t)(at[0] | at[1] << 8) * BLOCK;
    at = m.file.data + 3 * BLOCK;
    size_t directory = (size_t)(at[0] | at[1] << 8) * BLOCK;
    size_t last =
        directory + 4 + 4 * STREAMS + 4 * (blocks_before(&m, MODULE + 1) - 1);
    set_u32(&m.file, last, end);
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
    unmake(&m);
}

static void memory_may_be_out(void **state)
{
    (void)state;
    struct maker m;
    make(&m, true);
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
    unmake(&m);
}

/* Calls the inner function by `id` instead of by its own, and tells what is
 * imported: a thing of "a.c", two of the module without a name, which exports
 * them. */
static void make_imports(struct maker *m, uint32_t id)
{
    enum { LINES_SIZE = 64 + 44, SUBSECTIONS = 8 + 7 * 4 + 8 + 4 * 4 };
    static const uint32_t imports[] = {1, 1, 5, 0, 2, 7, 9};
    static const uint32_t exports[] = {9, 0x1001, 7, 0x1000};
    static const uint8_t own[] = {1, 0x10, 0, 0};
    struct wndl_buf *b = &m->streams[MODULE];
    struct wndl_buf *dbi = &m->streams[DBI];
    unsigned changed = 0;
    for (size_t i = 0; i + 4 <= b->size; i++)
        if (memcmp(b->data + i, own, 4) == 0) {
            set_u32(b, i, id);
            changed++;
        }
    assert_int_equal(changed, 2);
    u32(b, WNDL_CV_IMPORTS);
    u32(b, sizeof imports);
    for (size_t i = 0; i < sizeof imports / sizeof *imports; i++)
        u32(b, imports[i]);
    u32(b, WNDL_CV_EXPORTS);
    u32(b, sizeof exports);
    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
        u32(b, exports[i]);
    set_u32(dbi, LINES_SIZE, dbi->data[LINES_SIZE] + (size_t)SUBSECTIONS);
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
        struct maker m;
        char want[100];
        struct wndl_pdb_stats stats;
        make_streams(&m, false, 1);
        make_imports(&m, cases[i].id);
        make_file(&m);
        struct wndl_pdb *pdb = open_made(&m);
        const char *have = look_up(pdb, 0x101c);
        snprintf(want, sizeof want, "%s=b.h:202:0@101c,box::get=b.h:100:0@1010",
            cases[i].name);
        assert_memory_equal(have, want, strlen(want));
        wndl_pdb_get_stats(pdb, &stats);
        assert_int_equal(stats.damaged, 0);
        wndl_pdb_close(pdb);
        unmake(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_code_are_found),
        cmocka_unit_test(moved_code_is_found_where_it_is_now),
        cmocka_unit_test(every_annotation_has_its_meaning),
        cmocka_unit_test(inlined_functions_may_be_of_other_modules),
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
