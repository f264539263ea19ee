/* SPDX-License-Identifier: MIT */
/*
 * internal: the parts that the files of the PDB reader share. From the bottom:
 *
 *   msf         streams
 *   codeview    records
 *   context     damage, and names that last
 *   map         addresses: sections, and code that was moved after linking
 *   open        the file's tables: modules, sections, contributions
 *   module      a module's functions and lines
 *   body        a function: inlined calls, lines
 *   name        names of files, types, ids and public symbols
 *   stack       the stack use of code
 *   pdb         one address
 *   list        all functions; all addresses of one
 *
 * Internal addresses are "linked": offsets from the image base in the linker's
 * order of the code. If a tool has moved code since, tables (OMAP) lead from
 * there to rvas and back.
 */
#ifndef WNDL_DBG_PDB_INTERNAL_H
#define WNDL_DBG_PDB_INTERNAL_H

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "dbg/pdb/codeview.h"
#include "dbg/pdb/msf.h"
#include "dbg/pdb/pdb.h"

enum {
    WNDL_PDB_NO_MODULE = -1,
    WNDL_PDB_NOWHERE = -1, /* not an address */
};

/* A section of the image, in linked addresses. */
struct wndl_pdb_section {
    uint32_t start;
    uint32_t size;
    bool is_code;
};

/* Code of a module. */
struct wndl_pdb_contribution {
    uint32_t start;
    uint32_t end;
    uint32_t module;
};

/* A procedure, thunk or the like: its addresses and its record. */
struct wndl_pdb_code {
    uint32_t start;
    uint32_t end;
    uint32_t at;
};

/* The lines of [start, end), and the place of their subsection. */
struct wndl_pdb_lines {
    uint32_t start;
    uint32_t end;
    uint32_t at;
    uint32_t size;
};

/* The start of an inlined function in its file. */
struct wndl_pdb_inlinee {
    uint32_t id;
    uint32_t file; /* offset in the checksums */
    uint32_t line;
};

/* An id of this module to which others refer, by this module's own number. */
struct wndl_pdb_export {
    uint32_t number;
    uint32_t id;
};

/*
 * A module. `bytes` are those of the stream: first symbols, then lines from
 * `lines_at` on; empty until they are needed. If is_listed, the lists are
 * sorted by address or id; equals are in the order of the file.
 */
struct wndl_pdb_module {
    uint32_t stream;
    uint32_t symbols_size;
    uint32_t lines_at;
    uint32_t lines_size;
    uint32_t checksums_at;
    uint32_t checksums_size;
    struct wndl_msf_piece piece;
    struct wndl_vec code;     /* struct wndl_pdb_code */
    struct wndl_vec lines;    /* struct wndl_pdb_lines */
    struct wndl_vec inlinees; /* struct wndl_pdb_inlinee */
    struct wndl_vec exports;  /* struct wndl_pdb_export */
    uint64_t name_hash;
    uint64_t folded_hash; /* of the name in lower case */
    uint32_t imports_at;
    uint32_t imports_size;
    uint64_t stretch; /* the last stretch whose changes were listed */
    bool is_listed;
    bool is_deep; /* nested records were listed too */
    bool is_damaged;
};

/* An inlined call; `parent` is an index, or -1 in the function itself. */
struct wndl_pdb_site {
    int32_t parent;
    uint32_t depth;
    uint32_t inlinee;
    uint32_t start; /* lowest linked address */
};

struct wndl_pdb_range {
    uint32_t start;
    uint32_t end;
    uint32_t depth;
    uint32_t site;
    uint32_t line;
    uint32_t file;
};

struct wndl_pdb_line {
    uint32_t start;
    uint32_t line;
    uint32_t file;
    uint32_t column;
};

/*
 * The contents of the function and of the lines of the last lookup: ranges
 * sorted by depth and start, lines by start.
 */
struct wndl_pdb_body {
    uint32_t code_module;
    uint32_t code_at;   /* offset of its record; UINT32_MAX: none */
    uint64_t code_size; /* bytes of the records in it */
    uint32_t lines_module;
    uint32_t lines_at;
    struct wndl_vec sites;  /* struct wndl_pdb_site */
    struct wndl_vec ranges; /* struct wndl_pdb_range */
    struct wndl_vec lines;  /* struct wndl_pdb_line */
    struct wndl_vec scopes; /* int32_t: site of each open scope */
};

/* Types or ids: a stream of records from `first` on. */
struct wndl_pdb_types {
    struct wndl_msf_stream stream;
    uint32_t first; /* number of the first record */
    uint32_t count;
    uint32_t header_size;
    uint32_t records_size;
    struct wndl_msf_piece places; /* numbers and offsets, of some records */
    /* if there are no places: uint32_t, offset of each MARK-th */
    struct wndl_vec marks;
    struct wndl_map names; /* number -> id in `names` + 1 */
    bool is_marked;
};

/*
 * A table of moved code: the code at `from`, up to the next entry, is at `to`.
 */
struct wndl_pdb_moved {
    struct wndl_msf_piece piece;
    size_t count; /* 0: no code was moved */
};

/* Public symbols, by address. */
struct wndl_pdb_publics {
    struct wndl_msf_stream records;
    struct wndl_msf_piece order; /* offsets of records, of 4 bytes */
    size_t count;
    struct wndl_msf_piece thunks; /* the target of each: an rva of 4 bytes */
    uint32_t thunks_start;
    uint32_t thunk_size;
    size_t thunk_count;
};

struct wndl_pdb {
    struct wndl_pdb_source in;
    struct wndl_mem *mem;
    struct wndl_arena arena;
    struct wndl_pdb_stats stats;
    struct wndl_msf msf;
    struct wndl_pdb_id id;
    uint16_t machine;
    struct wndl_vec sections;      /* struct wndl_pdb_section */
    struct wndl_vec contributions; /* struct wndl_pdb_contribution */
    struct wndl_vec modules;       /* struct wndl_pdb_module */
    struct wndl_pdb_moved to_linked;
    struct wndl_pdb_moved from_linked;
    struct wndl_pdb_publics publics;
    struct wndl_pdb_types types;
    struct wndl_pdb_types ids;
    struct wndl_msf_stream strings;
    struct wndl_msf_stream fpo, frame_data;
    struct wndl_intern names;
    struct wndl_map files;    /* offset of a name -> id in `names` + 1 */
    struct wndl_map imported; /* module and id -> id in `names` + 1 */
    /* name_hash, else folded_hash -> module + 1, once is_named */
    struct wndl_map named;
    bool is_named;
    uint64_t stretches; /* number of stretches with listed changes */
    uint64_t copied;    /* bytes of modules that are copies */
    uint64_t searched;  /* bytes that were searched for changes */
    uint64_t touched;   /* other bytes read since memory was released */
    struct wndl_pdb_body body;
    struct wndl_buf scratch; /* records that are not contiguous in the file */
    struct wndl_buf text;
    struct wndl_vec frames; /* struct wndl_pdb_frame */
};

/* context */

/* Counts damage at `offset` of `section`. */
void wndl_pdb_damage(struct wndl_pdb *pdb, enum wndl_status status,
    const char *section, uint64_t offset, const char *what);

/* The longest name; longer ones are cut off. */
enum { WNDL_PDB_LONGEST_NAME = 64 << 10 };

/*
 * Makes a copy of a name that lives as long as `pdb`. False when memory is out.
 */
bool wndl_pdb_intern(
    struct wndl_pdb *pdb, struct wndl_bytes text, struct wndl_bytes *kept);

/* open: reads all tables but the modules. */
enum wndl_status wndl_pdb_read_tables(
    struct wndl_pdb *pdb, struct wndl_error *err) WNDL_MUST_USE;

/* map */

/* The linked address of a place, or NOWHERE. */
uint32_t wndl_pdb_address(
    const struct wndl_pdb *pdb, struct wndl_cv_place place);

/* The end of the section that holds `address`; 0 when none does. */
uint32_t wndl_pdb_section_end(const struct wndl_pdb *pdb, uint32_t address);

/* Convert an rva to a linked address, and back; NOWHERE if there is none. */
uint32_t wndl_pdb_to_linked(const struct wndl_pdb *pdb, uint64_t rva);
uint32_t wndl_pdb_from_linked(const struct wndl_pdb *pdb, uint32_t address);

/* A piece of code that was moved as one; it begins at `start`. */
struct wndl_pdb_stretch {
    uint64_t start;
    uint64_t end;
    uint32_t other; /* address of `start` on the other side, or NOWHERE */
};

/* The stretch around an rva, or a linked address, cut at `end`. */
struct wndl_pdb_stretch wndl_pdb_stretch_at(
    const struct wndl_pdb *pdb, uint64_t rva, uint64_t end);
struct wndl_pdb_stretch wndl_pdb_stretch_from(
    const struct wndl_pdb *pdb, uint64_t address, uint64_t end);

/*
 * The index of the last element whose address is at or before `address`, or -1.
 * The elements of the list begin with their (uint32_t) address.
 */
ptrdiff_t wndl_pdb_last_before(const struct wndl_vec *list, uint32_t address);

/* The contribution that holds `address`, or NULL. */
const struct wndl_pdb_contribution *wndl_pdb_contribution_at(
    const struct wndl_pdb *pdb, uint32_t address);

/* module */

/*
 * Lists the module's contents, once, and loads its bytes, even when they are
 * damaged. NOMEM.
 */
enum wndl_status wndl_pdb_need_module(
    struct wndl_pdb *pdb, uint32_t number) WNDL_MUST_USE;

/* A cursor on the symbols from `at` on; the bytes of a subsection of lines. */
struct wndl_cursor wndl_pdb_symbols(
    const struct wndl_pdb_module *module, uint32_t at);
struct wndl_bytes wndl_pdb_subsection(
    const struct wndl_pdb_module *module, uint32_t at, uint32_t size);

/* The code record at `at`. */
bool wndl_pdb_code_at(const struct wndl_pdb_module *module, uint32_t at,
    struct wndl_cv_code *code, uint16_t *kind);

/*
 * The entry that covers `address`: the first of those that start last; or NULL.
 */
const struct wndl_pdb_code *wndl_pdb_find_code(
    const struct wndl_pdb_module *module, uint32_t address);
const struct wndl_pdb_lines *wndl_pdb_find_lines(
    const struct wndl_pdb_module *module, uint32_t address);

/* The same after nested records have been listed too. NOT_FOUND, NOMEM. */
enum wndl_status wndl_pdb_find_any_code(struct wndl_pdb *pdb, uint32_t number,
    uint32_t address, const struct wndl_pdb_code **code) WNDL_MUST_USE;

/* The inlinee with that id; NULL if the module has none. */
const struct wndl_pdb_inlinee *wndl_pdb_find_inlinee(
    const struct wndl_pdb_module *module, uint32_t id);

/* body: both fill pdb->body. OK or NOMEM. */
enum wndl_status wndl_pdb_need_sites(struct wndl_pdb *pdb, uint32_t number,
    const struct wndl_pdb_code *code) WNDL_MUST_USE;
enum wndl_status wndl_pdb_need_lines(struct wndl_pdb *pdb, uint32_t number,
    const struct wndl_pdb_lines *lines) WNDL_MUST_USE;

/*
 * name: these give names that live as long as `pdb`; false when memory is out.
 */
bool wndl_pdb_file_name(struct wndl_pdb *pdb,
    const struct wndl_pdb_module *module, uint32_t checksum,
    struct wndl_bytes *name);
/*
 * The name of an id of the module. It may be in another module: that is listed
 * too, and the bytes of this one may be gone when memory is out.
 */
bool wndl_pdb_inlinee_name(struct wndl_pdb *pdb, uint32_t number, uint32_t id,
    struct wndl_bytes *name);

/* The hash of a module's name in lower case. */
uint64_t wndl_pdb_folded_hash(struct wndl_bytes name);

/* The public symbol of code at or last before `address`, in its section.
 * False when there is none. */
bool wndl_pdb_find_public(struct wndl_pdb *pdb, uint32_t address,
    uint32_t *start, struct wndl_bytes *name);

/* The public symbol at index `i` of the order, if it is of code. */
bool wndl_pdb_public_at(struct wndl_pdb *pdb, size_t i,
    struct wndl_cv_public *symbol, uint32_t *address);

/*
 * pdb: the names of a piece of code; they live as long as `pdb`. OK or NOMEM.
 */
struct wndl_pdb_names {
    struct wndl_bytes name;
    struct wndl_bytes linkage_name;
    bool is_thunk;
    uint32_t start;
};

/*
 * Fills `names` for the code of module `number`; names that are not known are
 * empty.
 */
enum wndl_status wndl_pdb_name_code(struct wndl_pdb *pdb, uint32_t number,
    const struct wndl_pdb_code *code,
    struct wndl_pdb_names *names) WNDL_MUST_USE;

#endif
