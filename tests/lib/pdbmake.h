/* SPDX-License-Identifier: MIT */
/*
 * pdbmake: a small PDB file, made for a test: one module with code of several
 * kinds, names, public symbols and, if wanted, code that was moved. Streams may
 * be changed before the file is made of them.
 */
#ifndef WNDL_PDBMAKE_H
#define WNDL_PDBMAKE_H

#include "base/buf.h"

enum { PDB_BLOCK = 512, PDB_STREAMS = 14 };

/* Numbers of streams beyond those that have a meaning. */
enum {
    PDB_INFO = 1,
    PDB_TYPES,
    PDB_DBI,
    PDB_IDS,
    PDB_NAMES,
    PDB_MODULE,
    PDB_SECTIONS,
    PDB_TO,
    PDB_FROM,
    PDB_PUBLICS,
    PDB_RECORDS,
    PDB_OLD_STACKS, /* empty, and PDB_STACKS too */
    PDB_STACKS,
};

struct pdb_maker {
    struct wndl_buf streams[PDB_STREAMS];
    struct wndl_buf file;
    uint32_t contributions; /* each a byte shorter than the last */
};

/* All streams, then the file; or both. To be freed by pdb_unmake. */
void pdb_make_streams(
    struct pdb_maker *m, bool is_moved, uint32_t contributions);
void pdb_make_file(struct pdb_maker *m);
void pdb_make(struct pdb_maker *m, bool is_moved);
void pdb_unmake(struct pdb_maker *m);

/* DBI, which tells sizes of the module, once more: it is to be emptied. */
void pdb_make_dbi(struct pdb_maker *m, bool is_moved);

void pdb_u16(struct wndl_buf *b, unsigned value);
void pdb_u32(struct wndl_buf *b, uint32_t value);
void pdb_zeros(struct wndl_buf *b, size_t count);
void pdb_text(struct wndl_buf *b, const char *string);
void pdb_set_u32(struct wndl_buf *b, size_t at, size_t value);

/* A record is begun, and ended when its size is known. */
size_t pdb_begin(struct wndl_buf *b, unsigned kind);
void pdb_end(struct wndl_buf *b, size_t at);

/* Code, from the start of the section on. */
struct pdb_at {
    uint32_t offset;
    uint32_t size;
    const char *name;
};

/* Return where their end is to be told. */
size_t pdb_procedure(struct wndl_buf *b, struct pdb_at at);
size_t pdb_inline_site(
    struct wndl_buf *b, uint32_t id, const uint8_t *program, size_t size);
void pdb_end_scope(struct wndl_buf *b, size_t told_at, unsigned kind);

void pdb_public_at(struct pdb_maker *m, uint32_t offset, const char *name);

#endif
