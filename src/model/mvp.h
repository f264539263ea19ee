/* SPDX-License-Identifier: MIT */
/*
 * mvp: what a run under the memory value profiler counted: the bits of loaded
 * values that never changed, and the memory that they were read from.
 */
#ifndef WNDL_MODEL_MVP_H
#define WNDL_MODEL_MVP_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* The instruction at `ip` loads `size` bytes. Loads of a stack do not count. */
struct wndl_mvp_site {
    uint64_t ip;
    uint32_t index; /* among the loads of the instruction */
    uint32_t size;
    bool is_wide; /* a vector, or what has no value: the last three are 0 */
    uint64_t loads;
    uint64_t sectors; /* distinct pieces of 128 bytes */
    uint64_t pages;   /* distinct pieces of 4 KB */
    uint64_t first;   /* value */
    uint64_t varying; /* bits that were not the same in all values */
    uint64_t signs;   /* if the sign varied: bits that always equal it */
};

struct wndl_mvp {
    struct wndl_arena arena;
    const char *command;
    uint64_t pid;
    bool is_running;       /* the counts are of a part of the run */
    struct wndl_vec code;  /* struct wndl_vm_code */
    struct wndl_vec sites; /* struct wndl_mvp_site */
};

/* An empty one, which stays where it is; ends with wndl_mvp_free. */
void wndl_mvp_init(struct wndl_mvp *mvp, struct wndl_mem *mem);
void wndl_mvp_free(struct wndl_mvp *mvp);

/*
 * Bits of the value that a load of the site could do without: those that never
 * varied, and those that only repeat a sign that varies.
 */
uint32_t wndl_mvp_constant_bits(const struct wndl_mvp_site *site);

/* The score: constant bits of each sector. UINT64_MAX if it would be more. */
uint64_t wndl_mvp_wasted(const struct wndl_mvp_site *site);

/* A site and where it is. */
struct wndl_mvp_row {
    const struct wndl_mvp_site *site;
    uint32_t place; /* of the graph: the innermost one */
};

/* Sums over all sites that are not wide, and over those that are. */
struct wndl_mvp_totals {
    uint64_t loads, sites;
    uint64_t wide_loads, wide_sites;
};

#endif
