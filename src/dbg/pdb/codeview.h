/* SPDX-License-Identifier: MIT */
/* codeview: the records of PDB files, one at a time. It must not know files. */
#ifndef WNDL_DBG_PDB_CODEVIEW_H
#define WNDL_DBG_PDB_CODEVIEW_H

#include "base/bytes.h"

enum wndl_cv_symbol_kind {
    WNDL_S_END = 0x0006,
    WNDL_S_THUNK32 = 0x1102,
    WNDL_S_BLOCK32 = 0x1103,
    WNDL_S_WITH32 = 0x1104,
    WNDL_S_PUB32 = 0x110e,
    WNDL_S_LPROC32 = 0x110f,
    WNDL_S_GPROC32 = 0x1110,
    WNDL_S_TRAMPOLINE = 0x112c,
    WNDL_S_SEPCODE = 0x1132,
    WNDL_S_LPROC32_ID = 0x1146,
    WNDL_S_GPROC32_ID = 0x1147,
    WNDL_S_INLINESITE = 0x114d,
    WNDL_S_INLINESITE_END = 0x114e,
    WNDL_S_PROC_ID_END = 0x114f,
    WNDL_S_LPROC32_DPC = 0x1155,
    WNDL_S_LPROC32_DPC_ID = 0x1156,
    WNDL_S_INLINESITE2 = 0x115d,
};

enum wndl_cv_leaf_kind {
    WNDL_LF_CLASS = 0x1504,
    WNDL_LF_STRUCTURE = 0x1505,
    WNDL_LF_UNION = 0x1506,
    WNDL_LF_ENUM = 0x1507,
    WNDL_LF_INTERFACE = 0x1519,
    WNDL_LF_FUNC_ID = 0x1601,
    WNDL_LF_MFUNC_ID = 0x1602,
    WNDL_LF_STRING_ID = 0x1605,
};

enum wndl_cv_subsection_kind {
    WNDL_CV_LINES = 0xf2,
    WNDL_CV_CHECKSUMS = 0xf4,
    WNDL_CV_INLINEE_LINES = 0xf6,
    WNDL_CV_IMPORTS = 0xf7,
    WNDL_CV_EXPORTS = 0xf8,
};

/* A symbol or type record; `body` is the part after its kind. */
struct wndl_cv_record {
    uint16_t kind;
    uint64_t at; /* offset of the record in the cursor's bytes */
    struct wndl_bytes body;
};

/*
 * Reads the next record. False at the end, and where a record reaches past it
 * (c->failed).
 */
bool wndl_cv_next(struct wndl_cursor *c, struct wndl_cv_record *record);

/* An address: a section and an offset into it. */
struct wndl_cv_place {
    uint32_t offset;
    uint16_t section; /* from 1 on */
};

/* A record with code: procedure, thunk, separated code, trampoline. */
struct wndl_cv_code {
    uint32_t end; /* offset of the record that ends its scope; 0: none */
    uint32_t size;
    struct wndl_cv_place place;
    /* SEPCODE: the parent; TRAMPOLINE: its target */
    struct wndl_cv_place other;
    struct wndl_bytes name;
};

/* Reads such a record. False if it is none of them, or cut short. */
bool wndl_cv_read_code(
    const struct wndl_cv_record *record, struct wndl_cv_code *code);

/* Whether a record of this kind has an end record, or is one. */
bool wndl_cv_opens_scope(uint16_t kind);
bool wndl_cv_closes_scope(uint16_t kind);

/* S_PUB32. */
struct wndl_cv_public {
    bool is_code;
    struct wndl_cv_place place;
    struct wndl_bytes name;
};

/* Reads the record. False for another kind, or one that is cut short. */
bool wndl_cv_read_public(
    const struct wndl_cv_record *record, struct wndl_cv_public *symbol);

/* S_INLINESITE, S_INLINESITE2. */
struct wndl_cv_inline_site {
    uint32_t inlinee;
    struct wndl_bytes annotations;
};

/* Reads the record. False for another kind, or one that is cut short. */
bool wndl_cv_read_inline_site(
    const struct wndl_cv_record *record, struct wndl_cv_inline_site *site);

/*
 * A piece of code of an inlined call. `start` and `end` count from the
 * function's start; end == UINT32_MAX: up to the function's end.
 */
struct wndl_cv_inline_range {
    uint32_t start;
    uint32_t end;
    int32_t line; /* from the first line of the inlined function */
    /* offset in the checksums; UINT32_MAX: the function's file */
    uint32_t file;
};

/* The state of an annotation program. */
struct wndl_cv_annotations {
    struct wndl_cursor c;
    uint32_t base;
    uint32_t code; /* offset */
    int32_t line;
    uint32_t file;
    bool is_open; /* `open` has no end yet */
    bool has_end; /* `open` ends at `open_end` */
    uint32_t open_end;
    struct wndl_cv_inline_range open;
};

/* Starts at the first annotation; borrows `program`. */
void wndl_cv_annotations_start(
    struct wndl_cv_annotations *a, struct wndl_bytes program);

/* Reads the next range. False at the end, also after damage (a->c.failed). */
bool wndl_cv_annotations_next(
    struct wndl_cv_annotations *a, struct wndl_cv_inline_range *range);

/* The name in a type or id record. */
struct wndl_cv_named {
    uint32_t scope; /* of LF_FUNC_ID an id, of LF_MFUNC_ID a type; 0 none */
    struct wndl_bytes name;
};

/* Reads it. False for other kinds, or a record that is cut short. */
bool wndl_cv_read_named(
    const struct wndl_cv_record *record, struct wndl_cv_named *named);

#endif
