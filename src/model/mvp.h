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

/* A call stack that allocated blocks of the heap, [smallest, largest] bytes. */
struct wndl_mvp_heap {
    uint64_t number; /* the others name it by this */
    uint64_t blocks, bytes;
    uint64_t smallest, largest;
    uint64_t element;    /* of arrays, as calloc was told; 0: not known */
    const uint64_t *ips; /* innermost first; those of callers are the last byte
                          * of the call */
    uint32_t ip_count;
};

enum wndl_mvp_use_kind {
    WNDL_MVP_READ,  /* of a value */
    WNDL_MVP_SKIM,  /* of what has no value: vectors, the kernel */
    WNDL_MVP_WRITE, /* also the kernel's, calloc's and realloc's */
    WNDL_MVP_USES,
};

/* The few values of a use that are kept, at most. */
enum { WNDL_MVP_VALUES = 8 };

/*
 * What one instruction did with the blocks of one `heap`: it used `size` bytes
 * at the offsets low, low + step, ..., high. A step of 0: at `low` alone.
 */
struct wndl_mvp_use {
    enum wndl_mvp_use_kind kind;
    uint64_t heap;
    uint64_t ip; /* 0: the kernel, calloc and realloc */
    uint32_t index, size;
    uint64_t count;
    uint64_t low, high, step;
    uint64_t first, varying, signs; /* as of struct wndl_mvp_site */
    bool is_pointer;        /* all values were addresses of memory, or 0 */
    const uint64_t *values; /* all distinct ones, if there are 2 to 8 */
    uint32_t value_count;   /* else 0 */
};

/* In all `blocks` of `heap`, the 4 bytes at both offsets were the same. */
struct wndl_mvp_equal {
    uint64_t heap, blocks, offset, same;
};

/* In all `blocks` of `heap`, the pointer at `offset` led to the start of one
 * of `child`, born and freed with it. */
struct wndl_mvp_pair {
    uint64_t heap, offset, child, blocks;
};

/* Loads from what is in no block. */
struct wndl_mvp_mapping {
    uint64_t loads;
    const char *name;
};

struct wndl_mvp {
    struct wndl_arena arena;
    const char *command;
    uint64_t pid;
    bool is_running;          /* the counts are of a part of the run */
    struct wndl_vec code;     /* struct wndl_vm_code */
    struct wndl_vec sites;    /* struct wndl_mvp_site */
    struct wndl_vec heaps;    /* struct wndl_mvp_heap, by ascending number */
    struct wndl_vec uses;     /* struct wndl_mvp_use */
    struct wndl_vec equals;   /* struct wndl_mvp_equal */
    struct wndl_vec pairs;    /* struct wndl_mvp_pair */
    struct wndl_vec mappings; /* struct wndl_mvp_mapping */
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
