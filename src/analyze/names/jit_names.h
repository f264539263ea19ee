/* SPDX-License-Identifier: MIT */
/*
 * jit_names: names for the addresses of one process from the bytes of the
 * files that its runtime wrote about the code it generated. It must not know
 * where the files are, nor which of them to believe.
 */
#ifndef WNDL_ANALYZE_NAMES_JIT_NAMES_H
#define WNDL_ANALYZE_NAMES_JIT_NAMES_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/symbolized.h"

/* A frame in no image; the byte that ran. */
struct wndl_jit_address {
    uint64_t address; /* avma */
    uint32_t process;
    uint32_t frame;
};

/*
 * What has a name keeps it: the best file is to be read first. Invariant:
 * the first address from `i` on that has no name is i if next[i] == i, else
 * the first from next[i] on; next[count] == count.
 */
struct wndl_jit_names {
    struct wndl_symbolized *s;
    const struct wndl_jit_address *addresses; /* sorted by address */
    uint32_t *next;
    uint32_t count;
    uint32_t named;   /* how many have a name */
    uint32_t module;  /* that their functions are in */
    uint64_t damaged; /* lines or records that were passed over */
};

/* From a perf map. False when memory is out. */
bool wndl_jit_names_from_map(
    struct wndl_jit_names *names, struct wndl_bytes file);

/* From a jitdump, if it is one and of process `pid`. */
enum wndl_status wndl_jit_names_from_dump(struct wndl_jit_names *names,
    struct wndl_bytes file, uint32_t pid, struct wndl_error *err) WNDL_MUST_USE;

/*
 * "JS:*f /a/x.js:12:3" says of a function that it starts at line 12 of
 * /a/x.js. False when `name` does not end in such a place.
 */
bool wndl_jit_place(
    struct wndl_bytes name, struct wndl_bytes *file, uint32_t *line);

#endif
