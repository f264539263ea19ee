/* SPDX-License-Identifier: MIT */
/* func: functions of a unit, inlined calls of a function, and their names. */
#ifndef WNDL_DBG_DWARF_FUNC_H
#define WNDL_DBG_DWARF_FUNC_H

#include "dbg/dwarf/ranges.h"

/* Limits of nesting and of references. */
enum {
    WNDL_DW_DEPTH_LIMIT = 1024, /* nesting of inlined calls */
    WNDL_DW_CHAIN_LIMIT = 16,   /* steps from a DIE to the one with its name */
};

/* The parent of an inlined call that is directly in the function. */
enum { WNDL_DW_NO_PARENT = UINT32_MAX };

/* An inlined call. Its attributes are read again when they are needed. */
struct wndl_dw_call {
    uint32_t die;    /* offset from the DIE of its function */
    uint32_t parent; /* index < own index, or WNDL_DW_NO_PARENT */
};

struct wndl_dw_inlined {
    uint64_t named_by; /* DIE to start from for the name */
    uint64_t start;    /* lowest address */
    uint32_t call_file;
    uint32_t call_line;
    uint32_t call_column;
};

/* The inlined calls at an address, innermost first. */
struct wndl_dw_chain {
    const struct wndl_dw_inlined *calls; /* valid until the next search */
    size_t count;
};

/* The inlined calls of one function, in the order of their DIEs. */
struct wndl_dw_inlines {
    const struct wndl_dw_call *list;
    const struct wndl_dw_range *ranges; /* id: index into list, ascending */
    size_t range_count;
    struct wndl_dw_cover cover; /* of the same ids */
};

struct wndl_dw_func {
    uint64_t die;
    uint64_t start; /* lowest address */
    /* NULL until enough searches make them worthwhile */
    struct wndl_dw_inlines *inlines;
    uint32_t searches; /* searches for inlined calls so far */
};

enum wndl_dw_funcs_state {
    WNDL_DW_FUNCS_UNREAD,
    WNDL_DW_FUNCS_SKIMMED, /* subtrees that may have more were skipped */
    WNDL_DW_FUNCS_ALL,
};

struct wndl_dw_funcs {
    struct wndl_vec list;       /* struct wndl_dw_func */
    struct wndl_dw_cover cover; /* id: index into list */
    uint8_t state;              /* enum wndl_dw_funcs_state */
};

struct wndl_dw_names {
    struct wndl_bytes name;
    struct wndl_bytes linkage_name;
    uint16_t language; /* of the unit with the name */
};

/* The function of `unit` at `address`. */
enum wndl_status wndl_dw_find_func(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address,
    struct wndl_dw_func **func) WNDL_MUST_USE;

/*
 * Reads the functions of a loaded unit, without changing the unit; `skim`
 * leaves out those inside types and other functions.
 */
enum wndl_status wndl_dw_read_funcs(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, bool skim,
    struct wndl_dw_funcs *funcs) WNDL_MUST_USE;

/* Reads all functions of the unit, at any depth. */
enum wndl_status wndl_dw_load_all_funcs(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit) WNDL_MUST_USE;

/*
 * The inlined calls of `func` at `address`: those with it in a range, inside
 * calls that have it too or have no ranges. The last such DIE is the innermost.
 */
enum wndl_status wndl_dw_find_inlined(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_func *func, uint64_t address,
    struct wndl_dw_chain *chain) WNDL_MUST_USE;

/* Sets func->inlines. */
enum wndl_status wndl_dw_load_inlines(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_func *func) WNDL_MUST_USE;

/*
 * The names of a function DIE of `unit`, from it or its origins. A damaged
 * reference loses the unit that it is in and leaves the names empty.
 */
enum wndl_status wndl_dw_names_of(struct wndl_dwarf *d, uint64_t die,
    struct wndl_dw_names *names) WNDL_MUST_USE;

#endif
