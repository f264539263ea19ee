/* SPDX-License-Identifier: MIT */
/*
 * pcln: the table of functions, files, lines and inlined calls that every Go
 * program has for its own stack traces (.gopclntab), stripped or not. Tables of
 * Go 1.2 and later; inlined calls from Go 1.18 on. Programs whose code is in
 * several sections (runtime.text.1, of 32-bit Arm and PowerPC) have only the
 * functions of the first one right.
 *
 * Functions, files and values are read when they are asked for; a damaged
 * record loses its own answer, and the first damage is kept. One thread at a
 * time.
 */
#ifndef WNDL_DBG_GO_PCLN_H
#define WNDL_DBG_GO_PCLN_H

#include "base/addr.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/vec.h"

/*
 * The table, borrowed as long as the reader. `text` is the address of
 * runtime.text, from which functions count since Go 1.18. `inlined` are the
 * bytes from go:func.* on; empty: inlined calls are not known.
 */
struct wndl_pcln_source {
    struct wndl_bytes table;
    wndl_svma text;
    struct wndl_bytes inlined;
    bool big_endian;
    const char *path; /* for messages; may be NULL */
};

/*
 * The places in runtime.moduledata, which begins with the address of the table,
 * in words of `word_size` bytes. `names` is the word with the address of the
 * names, which are `names_offset` bytes into the table. All but the size are 0
 * before Go 1.18.
 */
struct wndl_pcln_module {
    unsigned word_size;
    unsigned names, text, inlined;
    uint64_t names_offset;
};

/* Innermost first; only the last one is not inlined. Strings end with a NUL. */
struct wndl_pcln_frame {
    struct wndl_bytes name;
    struct wndl_bytes file; /* empty: not known */
    uint32_t line;          /* 0: not known */
    bool inlined;
    wndl_svma function_start; /* of an inlined call: its first code */
};

struct wndl_pcln_frames {
    const struct wndl_pcln_frame *frames; /* valid until the next lookup */
    size_t count;
};

/* A function without padding after it. The name ends with a NUL. */
struct wndl_pcln_function {
    struct wndl_bytes name;
    wndl_svma start;
    wndl_svma end;
};

struct wndl_pcln;

/* The layout of the module data that leads to a table. False: no table. */
bool wndl_pcln_module(struct wndl_bytes table, bool big_endian,
    struct wndl_pcln_module *module) WNDL_MUST_USE;

/*
 * Opens the reader; *out ends with wndl_pcln_close. UNSUPPORTED for a table of
 * another version, TRUNCATED, MALFORMED, NOMEM.
 */
enum wndl_status wndl_pcln_open(const struct wndl_pcln_source *source,
    struct wndl_mem *mem, struct wndl_pcln **out,
    struct wndl_error *err) WNDL_MUST_USE;

void wndl_pcln_close(struct wndl_pcln *pcln);

/*
 * The frames of `addr`; for a return address the caller subtracts one.
 * NOT_FOUND where no function is, as in the padding after one; NOMEM.
 */
enum wndl_status wndl_pcln_lookup(struct wndl_pcln *pcln, wndl_svma addr,
    struct wndl_pcln_frames *frames) WNDL_MUST_USE;

/* The number of functions, those with damaged records included. */
size_t wndl_pcln_count(const struct wndl_pcln *pcln);

/* Function `index`, below the count. False if its record is damaged. */
bool wndl_pcln_function(struct wndl_pcln *pcln, size_t index,
    struct wndl_pcln_function *function) WNDL_MUST_USE;

/*
 * Adds to `places` (uint64_t, svma) each address in [start, end) where answers
 * may differ from those for the byte before. OK or NOMEM.
 */
enum wndl_status wndl_pcln_changes(struct wndl_pcln *pcln, wndl_svma start,
    wndl_svma end, struct wndl_vec *places) WNDL_MUST_USE;

/* The first damage so far; NULL if there is none. Lives as long as `pcln`. */
const struct wndl_error *wndl_pcln_damage(const struct wndl_pcln *pcln);

#endif
