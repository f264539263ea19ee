/* SPDX-License-Identifier: MIT */
/*
 * jit_names: names for the addresses of one process, from the files that its
 * runtime wrote about generated code. It must not know where the files are, nor
 * which of them to believe.
 */
#ifndef WNDL_ANALYZE_NAMES_JIT_NAMES_H
#define WNDL_ANALYZE_NAMES_JIT_NAMES_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/symbolized.h"

/* A frame in no image, with the address of the byte that ran. */
struct wndl_jit_address {
    uint64_t address; /* avma */
    uint32_t process;
    uint32_t frame;
};

/*
 * A frame keeps its first name, so the best file is read first. Invariant: the
 * first address without a name from `i` on is i if next[i] == i, else the first
 * one from next[i] on; next[count] == count.
 */
struct wndl_jit_names {
    struct wndl_symbolized *s;
    const struct wndl_jit_address *addresses; /* sorted by address */
    uint32_t *next;
    uint32_t count;
    uint32_t named;   /* number of addresses with a name */
    uint32_t module;  /* the module of the functions */
    uint64_t damaged; /* lines or records that were skipped */
};

/* Names addresses from a perf map. False when memory is out. */
bool wndl_jit_names_from_map(
    struct wndl_jit_names *names, struct wndl_bytes file);

/*
 * Names them from a jitdump, if it is one and of process `pid`. MALFORMED,
 * UNSUPPORTED, TRUNCATED, NOMEM.
 */
enum wndl_status wndl_jit_names_from_dump(struct wndl_jit_names *names,
    struct wndl_bytes file, uint32_t pid, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Splits a name such as "JS:*f /a/x.js:12:3": the function starts at line 12 of
 * /a/x.js. False when `name` does not end in such a place.
 */
bool wndl_jit_place(
    struct wndl_bytes name, struct wndl_bytes *file, uint32_t *line);

#endif
