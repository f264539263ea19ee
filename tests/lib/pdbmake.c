/* SPDX-License-Identifier: MIT */
#include "pdbmake.h"

#include "dbg/pdb/codeview.h"
#include "dbg/pdb/pdb.h"

#include <string.h>

void pdb_u16(struct wndl_buf *b, unsigned value)
{
    wndl_buf_byte(b, (uint8_t)value);
    wndl_buf_byte(b, (uint8_t)(value >> 8));
}

void pdb_u32(struct wndl_buf *b, uint32_t value)
{
    wndl_buf_u32le(b, value);
}

void pdb_zeros(struct wndl_buf *b, size_t count)
{
    while (count-- > 0)
        wndl_buf_byte(b, 0);
}

void pdb_text(struct wndl_buf *b, const char *string)
{
    wndl_buf_add(b, string, strlen(string) + 1);
}

static void pdb_align(struct wndl_buf *b)
{
    pdb_zeros(b, -b->size & 3);
}

void pdb_set_u32(struct wndl_buf *b, size_t at, size_t value)
{
    for (size_t i = 0; i < 4; i++)
        b->data[at + i] = (uint8_t)(value >> 8 * i);
}

size_t pdb_begin(struct wndl_buf *b, unsigned kind)
{
    size_t at = b->size;
    pdb_u16(b, 0);
    pdb_u16(b, kind);
    return at;
}

void pdb_end(struct wndl_buf *b, size_t at)
{
    pdb_align(b);
    size_t size = b->size - at - 2;
    b->data[at] = (uint8_t)size;
    b->data[at + 1] = (uint8_t)(size >> 8);
}

static void pdb_section(struct wndl_buf *b, uint32_t start, uint32_t size)
{
    pdb_zeros(b, 8);
    pdb_u32(b, size);
    pdb_u32(b, start);
    pdb_zeros(b, 20);
    pdb_u32(b, 0x60000020);
}

size_t pdb_procedure(struct wndl_buf *b, struct pdb_at at)
{
    size_t start = pdb_begin(b, WNDL_S_GPROC32);
    pdb_zeros(b, 12);
    pdb_u32(b, at.size);
    pdb_zeros(b, 12);
    pdb_u32(b, at.offset);
    pdb_u16(b, 1);
    wndl_buf_byte(b, 0);
    pdb_text(b, at.name);
    pdb_end(b, start);
    return start + 8;
}

void pdb_end_scope(struct wndl_buf *b, size_t told_at, unsigned kind)
{
    pdb_set_u32(b, told_at, b->size);
    pdb_end(b, pdb_begin(b, kind));
}

size_t pdb_inline_site(
    struct wndl_buf *b, uint32_t id, const uint8_t *program, size_t size)
{
    size_t start = pdb_begin(b, WNDL_S_INLINESITE);
    pdb_zeros(b, 8);
    pdb_u32(b, id);
    wndl_buf_add(b, program, size);
    pdb_end(b, start);
    return start + 8;
}

/* "main" [0, 0x40) with two inlined calls; its cold part [0x100, 0x110); a
 * jump to it at 0x200 and an import's at 0x210. */
static void make_symbols(struct wndl_buf *b)
{
    static const uint8_t outer[] = {3, 0x10, 4, 0x20};
    static const uint8_t inner[] = {6, 4, 3, 0x1c, 4, 8};
    pdb_u32(b, 4);
    size_t main_end = pdb_procedure(b, (struct pdb_at){0, 0x40, "main"});
    size_t outer_end = pdb_inline_site(b, 0x1000, outer, sizeof outer);
    size_t inner_end = pdb_inline_site(b, 0x1001, inner, sizeof inner);
    pdb_end_scope(b, inner_end, WNDL_S_INLINESITE_END);
    pdb_end_scope(b, outer_end, WNDL_S_INLINESITE_END);
    pdb_end_scope(b, main_end, WNDL_S_END);
    size_t cold = pdb_begin(b, WNDL_S_SEPCODE);
    pdb_zeros(b, 8);
    pdb_u32(b, 0x10);
    pdb_u32(b, 0);
    pdb_u32(b, 0x100);
    pdb_u32(b, 0);
    pdb_u16(b, 1);
    pdb_u16(b, 1);
    pdb_end(b, cold);
    pdb_end_scope(b, cold + 8, WNDL_S_END);
    size_t jump = pdb_begin(b, WNDL_S_TRAMPOLINE);
    pdb_u16(b, 0);
    pdb_u16(b, 8);
    pdb_u32(b, 0x200);
    pdb_u32(b, 0);
    pdb_u16(b, 1);
    pdb_u16(b, 1);
    pdb_end(b, jump);
    size_t thunk = pdb_begin(b, WNDL_S_THUNK32);
    pdb_zeros(b, 12);
    pdb_u32(b, 0x210);
    pdb_u16(b, 1);
    pdb_u16(b, 6);
    wndl_buf_byte(b, 0);
    pdb_text(b, "import");
    pdb_end(b, thunk);
    pdb_end_scope(b, thunk + 8, WNDL_S_END);
}

/* Checksums of "a.c" and "b.h"; lines of main; where inlined code begins. */
static void make_lines(struct wndl_buf *b)
{
    pdb_u32(b, WNDL_CV_CHECKSUMS);
    pdb_u32(b, 16);
    pdb_u32(b, 1);
    pdb_u32(b, 0);
    pdb_u32(b, 5);
    pdb_u32(b, 0);
    pdb_u32(b, WNDL_CV_LINES);
    pdb_u32(b, 12 + 12 + 2 * 8 + 2 * 4);
    pdb_u32(b, 0);
    pdb_u16(b, 1);
    pdb_u16(b, 1);
    pdb_u32(b, 0x40);
    pdb_u32(b, 0);
    pdb_u32(b, 2);
    pdb_u32(b, 12 + 2 * 8 + 2 * 4);
    pdb_u32(b, 0);
    pdb_u32(b, 10);
    pdb_u32(b, 0x10);
    pdb_u32(b, 12 | 0x80000000);
    pdb_u32(b, 3);
    pdb_u32(b, 7);
    pdb_u32(b, WNDL_CV_INLINEE_LINES);
    pdb_u32(b, 4 + 2 * 12);
    pdb_u32(b, 0);
    pdb_u32(b, 0x1000);
    pdb_u32(b, 8);
    pdb_u32(b, 100);
    pdb_u32(b, 0x1001);
    pdb_u32(b, 8);
    pdb_u32(b, 200);
}

/* A header and `count` records from 0x1000 on. */
static void begin_types(struct wndl_buf *b, uint32_t count)
{
    pdb_u32(b, 20040203);
    pdb_u32(b, 56);
    pdb_u32(b, 0x1000);
    pdb_u32(b, 0x1000 + count);
    pdb_zeros(b, 40);
}

static void end_types(struct wndl_buf *b)
{
    pdb_set_u32(b, 16, b->size - 56);
}

static void make_types(struct pdb_maker *m)
{
    struct wndl_buf *types = &m->streams[PDB_TYPES];
    struct wndl_buf *ids = &m->streams[PDB_IDS];
    begin_types(types, 1);
    size_t at = pdb_begin(types, WNDL_LF_STRUCTURE);
    pdb_zeros(types, 16);
    pdb_u16(types, 0x8004);
    pdb_zeros(types, 4);
    pdb_text(types, "box");
    pdb_end(types, at);
    end_types(types);
    begin_types(ids, 3);
    at = pdb_begin(ids, WNDL_LF_MFUNC_ID);
    pdb_u32(ids, 0x1000);
    pdb_u32(ids, 0);
    pdb_text(ids, "get");
    pdb_end(ids, at);
    at = pdb_begin(ids, WNDL_LF_FUNC_ID);
    pdb_u32(ids, 0x1002);
    pdb_u32(ids, 0);
    pdb_text(ids, "deep");
    pdb_end(ids, at);
    at = pdb_begin(ids, WNDL_LF_STRING_ID);
    pdb_u32(ids, 0);
    pdb_text(ids, "ns");
    pdb_end(ids, at);
    end_types(ids);
}

void pdb_public_at(struct pdb_maker *m, uint32_t offset, const char *name)
{
    struct wndl_buf *records = &m->streams[PDB_RECORDS];
    pdb_u32(&m->streams[PDB_PUBLICS], (uint32_t)records->size);
    size_t at = pdb_begin(records, WNDL_S_PUB32);
    pdb_u32(records, 2);
    pdb_u32(records, offset);
    pdb_u16(records, 1);
    pdb_text(records, name);
    pdb_end(records, at);
}

/* Two in order; a table of one thunk at 0x300, to main at 0x1000. */
static void make_publics(struct pdb_maker *m)
{
    struct wndl_buf *p = &m->streams[PDB_PUBLICS];
    pdb_u32(p, 0);
    pdb_u32(p, 8);
    pdb_u32(p, 1);
    pdb_u32(p, 5);
    pdb_u16(p, 1);
    pdb_u16(p, 0);
    pdb_u32(p, 0x300);
    pdb_u32(p, 0);
    pdb_public_at(m, 0, "?main@@YAHXZ");
    pdb_public_at(m, 0x380, "_label");
    pdb_u32(p, 0x1000);
}

void pdb_make_dbi(struct pdb_maker *m, bool is_moved)
{
    struct wndl_buf *b = &m->streams[PDB_DBI];
    struct wndl_buf *module = &m->streams[PDB_MODULE];
    pdb_zeros(b, 4);
    pdb_u32(b, 19990903);
    pdb_u32(b, 3);
    pdb_u32(b, 0);
    pdb_u16(b, PDB_PUBLICS);
    pdb_u16(b, 0);
    pdb_u16(b, PDB_RECORDS);
    pdb_u16(b, 0);
    pdb_u32(b, 68);
    pdb_u32(b, 4 + 28 * m->contributions);
    pdb_zeros(b, 16);
    pdb_u32(b, 22);
    pdb_zeros(b, 6);
    pdb_u16(b, WNDL_PDB_X64);
    pdb_zeros(b, 4);
    pdb_zeros(b, 34);
    pdb_u16(b, PDB_MODULE);
    pdb_u32(b, (uint32_t)module->size);
    make_lines(module);
    pdb_u32(b, 0);
    pdb_u32(b, (uint32_t)module->size);
    pdb_set_u32(b, b->size - 4,
        module->size - (b->data[b->size - 12] + 256u * b->data[b->size - 11]));
    pdb_zeros(b, 16);
    pdb_zeros(b, 4);
    pdb_u32(b, 0xeffe0000 + 19970605);
    for (uint32_t i = 0; i < m->contributions; i++) {
        pdb_u16(b, 1);
        pdb_u16(b, 0);
        pdb_u32(b, i);
        pdb_u32(b, 0x300 - i);
        pdb_u32(b, 0x20);
        pdb_u16(b, 0);
        pdb_zeros(b, 10);
    }
    for (unsigned i = 0; i < 11; i++)
        pdb_u16(b, i == 3 && is_moved   ? PDB_TO
                   : i == 4 && is_moved ? PDB_FROM
                   : i == 5             ? PDB_SECTIONS
                   : i == 0             ? PDB_OLD_STACKS
                   : i == 9             ? PDB_STACKS
                                        : 0xffff);
}

/* rva [0x5000, 0x5020) was [0x1020, ...), and the rest stayed together. */
static void make_moves(struct pdb_maker *m)
{
    static const uint32_t pairs[][2] = {
        {0x1000, 0}, {0x4000, 0x1000}, {0x4020, 0}, {0x5000, 0x1020}};
    static const uint32_t back[][2] = {{0x1000, 0x4000}, {0x1020, 0x5000}};
    for (size_t i = 0; i < 4; i++) {
        pdb_u32(&m->streams[PDB_TO], pairs[i][0]);
        pdb_u32(&m->streams[PDB_TO], pairs[i][1]);
    }
    for (size_t i = 0; i < 2; i++) {
        pdb_u32(&m->streams[PDB_FROM], back[i][0]);
        pdb_u32(&m->streams[PDB_FROM], back[i][1]);
    }
}

static void make_info(struct pdb_maker *m)
{
    struct wndl_buf *b = &m->streams[PDB_INFO];
    static const uint32_t table[] = {1, 2, 1, 1, 0, 0, PDB_NAMES};
    pdb_u32(b, 20000404);
    pdb_u32(b, 0);
    pdb_u32(b, 1);
    for (uint8_t i = 0; i < 16; i++)
        wndl_buf_byte(b, i);
    pdb_u32(b, 7);
    pdb_text(b, "/names");
    for (size_t i = 0; i < 7; i++)
        pdb_u32(b, table[i]);
    b = &m->streams[PDB_NAMES];
    pdb_u32(b, 0xeffeeffe);
    pdb_u32(b, 1);
    pdb_u32(b, 10);
    wndl_buf_add(b, "\0a.c\0b.h\0", 9);
}

/* Blocks of each stream in reverse order, so that nothing is in a row. */
void pdb_make_file(struct pdb_maker *m)
{
    struct wndl_buf directory;
    struct wndl_buf *f = &m->file;
    wndl_buf_init(&directory, wndl_mem_libc());
    wndl_buf_add(f,
        "Microsoft C/C++ MSF 7.00\r\n\x1a"
        "DS\0\0\0",
        32);
    pdb_zeros(f, PDB_BLOCK * 4 - 32);
    pdb_u32(&directory, PDB_STREAMS);
    for (size_t i = 0; i < PDB_STREAMS; i++)
        pdb_u32(&directory, (uint32_t)m->streams[i].size);
    for (size_t i = 0; i < PDB_STREAMS; i++) {
        const struct wndl_buf *stream = &m->streams[i];
        size_t blocks = (stream->size + PDB_BLOCK - 1) / PDB_BLOCK;
        size_t first = f->size / PDB_BLOCK;
        for (size_t k = 0; k < blocks; k++) {
            size_t part = blocks - 1 - k;
            size_t left = stream->size - part * PDB_BLOCK;
            pdb_u32(&directory, (uint32_t)(first + blocks - 1 - k));
            wndl_buf_add(f, stream->data + part * PDB_BLOCK,
                left < PDB_BLOCK ? left : PDB_BLOCK);
            pdb_zeros(f, -f->size & (PDB_BLOCK - 1));
        }
    }
    for (size_t i = 0; i * PDB_BLOCK < directory.size; i++)
        pdb_set_u32(f, 3 * PDB_BLOCK + 4 * i, f->size / PDB_BLOCK + i);
    pdb_set_u32(f, 32, PDB_BLOCK);
    pdb_set_u32(f, 44, directory.size);
    pdb_set_u32(f, 52, 3);
    wndl_buf_add(f, directory.data, directory.size);
    pdb_zeros(f, -f->size & (PDB_BLOCK - 1));
    pdb_set_u32(f, 40, f->size / PDB_BLOCK);
    wndl_buf_free(&directory);
}

void pdb_make_streams(
    struct pdb_maker *m, bool is_moved, uint32_t contributions)
{
    m->contributions = contributions;
    for (size_t i = 0; i < PDB_STREAMS; i++)
        wndl_buf_init(&m->streams[i], wndl_mem_libc());
    wndl_buf_init(&m->file, wndl_mem_libc());
    make_info(m);
    make_types(m);
    make_symbols(&m->streams[PDB_MODULE]);
    pdb_section(&m->streams[PDB_SECTIONS], 0x1000, 0x1000);
    make_moves(m);
    make_publics(m);
    pdb_make_dbi(m, is_moved);
}

void pdb_make(struct pdb_maker *m, bool is_moved)
{
    pdb_make_streams(m, is_moved, 1);
    pdb_make_file(m);
}

void pdb_unmake(struct pdb_maker *m)
{
    for (size_t i = 0; i < PDB_STREAMS; i++)
        wndl_buf_free(&m->streams[i]);
    wndl_buf_free(&m->file);
}
