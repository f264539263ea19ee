/* SPDX-License-Identifier: MIT */
/*
 * internal: the parts that the files of this room share.
 *
 *   pcln.c    the header, and functions
 *   value.c   values by address: file, line, inlined call
 *   lookup.c  frames, and where they change
 *
 * The layouts are those of Go's own readers: package debug/gosym, and
 * runtime/symtab.go, symtabinl.go.
 */
#ifndef WNDL_DBG_GO_INTERNAL_H
#define WNDL_DBG_GO_INTERNAL_H

#include "base/arena.h"
#include "dbg/go/pcln.h"

enum wndl_pcln_version {
    WNDL_PCLN_1_2,
    WNDL_PCLN_1_16,
    WNDL_PCLN_1_18,
    WNDL_PCLN_1_20,
};

/* All parts are slices of the table. */
struct wndl_pcln {
    struct wndl_pcln_source in;
    struct wndl_mem *mem;
    struct wndl_arena arena;
    enum wndl_pcln_version version;
    unsigned word_size; /* 4 or 8 */
    unsigned quantum;   /* the least size of an instruction, in bytes */
    uint64_t count;     /* of functions */
    struct wndl_bytes names;
    struct wndl_bytes units; /* before Go 1.16: the offsets of files */
    struct wndl_bytes files;
    struct wndl_bytes values;
    /* the table of functions, and after it or in between their records */
    struct wndl_bytes functions;
    struct wndl_bytes records;
    struct wndl_vec frames; /* struct wndl_pcln_frame: the last answer */
    /*
     * The steps through values that are left: of a lookup, and of all lists
     * together. Functions that all point at one large table would cost its
     * square.
     */
    uint64_t steps;
    uint64_t list_steps;
    struct wndl_error damage;
};

/* A record; offsets are 0, or `inlined` is empty, if it has no such thing. */
struct wndl_pcln_record {
    uint64_t start; /* svma */
    uint64_t end;   /* the start of the next function */
    uint32_t name;
    uint32_t files;
    uint32_t lines;
    uint32_t calls;            /* values: which inlined call is it */
    uint32_t unit;             /* its first file in `units` */
    struct wndl_bytes inlined; /* inlined calls */
};

/* Keeps the first damage. Returns false. */
bool wndl_pcln_lose(struct wndl_pcln *pcln, uint64_t offset, const char *what);

/* pcln */

/* The number of functions that start at or before `addr`. */
uint64_t wndl_pcln_up_to(const struct wndl_pcln *pcln, uint64_t addr);

/* Record `index`, below the count. False: damaged. */
bool wndl_pcln_record(
    struct wndl_pcln *pcln, uint64_t index, struct wndl_pcln_record *record);

/* value */

/* The addresses [start, end) for which a table has `value`. */
struct wndl_pcln_run {
    uint64_t start;
    uint64_t end;
    int32_t value;
};

/* A position in a table of values. */
struct wndl_pcln_walk {
    struct wndl_cursor cursor;
    struct wndl_pcln_run run;
    unsigned quantum;
    uint64_t *steps; /* those left */
};

/* Begins before the first run of the table at `offset` of a function. */
struct wndl_pcln_walk wndl_pcln_walk(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, uint32_t offset);

/* Fills walk->run with the next run. False at the end, or without steps. */
bool wndl_pcln_step(struct wndl_pcln_walk *walk);

/* The run that has `addr`. False where there is none. */
bool wndl_pcln_run_at(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, uint32_t offset, uint64_t addr,
    struct wndl_pcln_run *run);

#endif
