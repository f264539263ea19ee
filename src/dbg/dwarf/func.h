/* SPDX-License-Identifier: MIT */
/* func: functions of a unit, inlined calls of a function, and their names. */
#ifndef WNDL_DBG_DWARF_FUNC_H
#define WNDL_DBG_DWARF_FUNC_H

#include "dbg/dwarf/ranges.h"

/* Limits of what is followed. */
enum {
    WNDL_DW_DEPTH_LIMIT = 1024, /* nesting of inlined calls */
    WNDL_DW_CHAIN_LIMIT = 16,   /* hops from a DIE to the one with its name */
};

/* Parent of an inlined call that is directly in the function. */
enum { WNDL_DW_NO_PARENT = UINT32_MAX };

/* An inlined call. What it says is read again when it is asked for. */
struct wndl_dw_call {
    uint32_t die;    /* bytes from that of its function */
    uint32_t parent; /* index < own index, or WNDL_DW_NO_PARENT */
};

struct wndl_dw_inlined {
    uint64_t named_by; /* DIE to start from for the name */
    uint64_t start;    /* lowest address */
    uint32_t call_file;
    uint32_t call_line;
    uint32_t call_column;
};

/* What holds an address, innermost first. */
struct wndl_dw_chain {
    const struct wndl_dw_inlined *calls; /* until the next search */
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
    uint64_t start;                  /* lowest address */
    struct wndl_dw_inlines *inlines; /* NULL until it pays to have them */
    uint32_t searches;               /* for inlined calls */
};

enum wndl_dw_funcs_state {
    WNDL_DW_FUNCS_UNREAD,
    WNDL_DW_FUNCS_SKIMMED, /* subtrees were skipped that could hold more */
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
    uint16_t language; /* of the unit that names it */
};

/* The function of `unit` at `address`. */
enum wndl_status wndl_dw_find_func(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address,
    struct wndl_dw_func **func) WNDL_MUST_USE;

/*
 * Reads functions of a unit that is loaded, without changing it; with `skim`
 * not what is hidden in types and other functions.
 */
enum wndl_status wndl_dw_read_funcs(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, bool skim,
    struct wndl_dw_funcs *funcs) WNDL_MUST_USE;

/* All functions of the unit, however hidden. */
enum wndl_status wndl_dw_load_all_funcs(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit) WNDL_MUST_USE;

/*
 * The inlined calls of `func` that hold `address`: those with it in a range,
 * in calls that hold it too or have no ranges. The last such DIE is the
 * innermost.
 */
enum wndl_status wndl_dw_find_inlined(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_func *func, uint64_t address,
    struct wndl_dw_chain *chain) WNDL_MUST_USE;

/* Sets func->inlines. */
enum wndl_status wndl_dw_load_inlines(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_func *func) WNDL_MUST_USE;

/*
 * The names of a function DIE of `unit`, followed to its origins. A damaged
 * reference loses the unit it is in and leaves the names empty.
 */
enum wndl_status wndl_dw_names_of(struct wndl_dwarf *d, uint64_t die,
    struct wndl_dw_names *names) WNDL_MUST_USE;

#endif
