/* SPDX-License-Identifier: MIT */
/*
 * context: the whole state of a DWARF reader, its budget, and the report of
 * damage.
 */
#ifndef WNDL_DBG_DWARF_CONTEXT_H
#define WNDL_DBG_DWARF_CONTEXT_H

#include "base/workers.h"
#include "dbg/dwarf/dwarf.h"
#include "dbg/dwarf/other.h"
#include "dbg/dwarf/unit.h"

/*
 * The bytes that reading one place counts as: Linux maps some 64 KiB around it,
 * and the next such place is usually near.
 */
enum { WNDL_DW_PAGE_COST = 2 * 1024 };

/* The bytes of sections that are read before their pages are released. */
enum { WNDL_DW_RELEASE_AFTER = 64 * 1024 * 1024 };

/*
 * The remaining budget for decoding data that many units can refer to: a file
 * whose units all point at one big list must not cost its square. Real files
 * stay far below.
 */
struct wndl_dw_budget {
    uint64_t abbrev_bytes;
    /* of abbreviations, in searches for those of root DIEs */
    uint64_t root_bytes;
    uint64_t range_entries;
    uint64_t line_bytes;
};

struct wndl_dwarf {
    struct wndl_dwarf_sections in;
    struct wndl_mem *mem;
    struct wndl_arena own_arena;
    struct wndl_arena *arena; /* its own, or that of the first file */
    /* struct wndl_dw_unit *, by offset: the known ones */
    struct wndl_vec units;
    uint32_t units_made;
    bool has_all_units;
    struct wndl_dwarf_stats stats;
    struct wndl_error detail;            /* of the last damage */
    const struct wndl_dw_unit *skeleton; /* for which a .dwo file is opened */
    /* list of readers that are closed with this one */
    struct wndl_dwarf *others;
    struct wndl_dwarf *next_other;
    struct wndl_dwarf *supplementary;
    /*
     * wndl_dw_open, as a pointer: strings may be in another file, but the files
     * that read strings are below the one that opens files.
     */
    enum wndl_status (*open)(const struct wndl_dwarf_sections *sections,
        struct wndl_mem *mem, const struct wndl_dw_referrer *referrer,
        struct wndl_dwarf **out, struct wndl_error *err);
    struct wndl_shared_mem helpers_mem;
    struct wndl_vec helpers;        /* struct wndl_dwarf *, among d->others */
    struct wndl_dw_package package; /* all zero when there is none */
    bool supplementary_is_tried;
    bool package_is_tried;
    struct wndl_dw_budget budget;
    uint64_t touched;        /* bytes of sections since pages were released */
    uint64_t release_after;  /* bytes */
    struct wndl_map abbrevs; /* offset and encoding -> wndl_dw_abbrevs * */
    /* key of the table that the last root DIE used */
    uint64_t last_root_abbrevs;
    struct wndl_map lines;      /* offset -> wndl_dw_lines * */
    struct wndl_map name_of;    /* DIE -> index into names */
    struct wndl_vec names;      /* struct wndl_dw_names */
    struct wndl_map path_of;    /* number << 32 | file -> index into paths */
    struct wndl_vec paths;      /* struct wndl_bytes */
    struct wndl_dw_cover hints; /* of .debug_aranges; id: index into hinted */
    struct wndl_vec hinted;     /* uint64_t: offsets of units */
    struct wndl_vec unit_ranges;
    struct wndl_dw_cover unit_cover; /* id: unit */
    bool has_hints;
    bool has_unit_cover;
    /* all units, not only those that .debug_aranges lacks */
    bool has_shared_code; /* units claim the same, by `unit_ranges` */
    bool covers_all_units;
    bool has_unranged; /* some unit is_unranged */
    /*
     * Scratch lists: things are collected here until their number is known and
     * they are copied to memory of their own. They are kept to reuse their
     * memory.
     */
    struct wndl_dw_abbrevs new_abbrevs;
    struct wndl_vec new_funcs;     /* struct wndl_dw_func */
    struct wndl_vec new_marks;     /* struct wndl_dw_mark */
    struct wndl_vec new_sequences; /* struct wndl_dw_sequence */
    struct wndl_vec segments;      /* struct wndl_dw_range */
    struct wndl_vec ranges; /* struct wndl_dw_range, of one unit or function */
    struct wndl_vec heap;   /* for cover.c */
    struct wndl_vec calls;  /* struct wndl_dw_call, of one function */
    struct wndl_vec chain;  /* struct wndl_dw_inlined */
    struct wndl_vec frames; /* struct wndl_dwarf_frame: the last answer */
    struct wndl_dw_specials specials; /* of the last line program */
};

/* Describes damage in d->detail and returns `status`. */
enum wndl_status wndl_dw_damage(struct wndl_dwarf *d, const char *section,
    uint64_t offset, const char *what) WNDL_MUST_USE;

/* Counts `unit` as damaged, by d->detail. */
void wndl_dw_count_damage(struct wndl_dwarf *d, struct wndl_dw_unit *unit);

/* Turns damage into a lost unit and NOT_FOUND; other statuses pass through. */
enum wndl_status wndl_dw_lose_if_damaged(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, enum wndl_status status) WNDL_MUST_USE;

/*
 * Counts `bytes` of sections as read (WNDL_DW_PAGE_COST for a single place),
 * and releases the sections' pages after enough of them.
 */
void wndl_dw_release_pages_after(struct wndl_dwarf *d, uint64_t bytes);

/*
 * Copies the elements of `from` to memory of their own. False when memory is
 * out.
 */
bool wndl_dw_copy_vec(const struct wndl_vec *from, struct wndl_vec *to);

/* The unit at `index` in d->units. */
static inline struct wndl_dw_unit *wndl_dw_unit_at(
    const struct wndl_dwarf *d, size_t index)
{
    return *(struct wndl_dw_unit **)wndl_vec_at(&d->units, index);
}

/*
 * Whether `address` is what a linker writes for code that it dropped: 0 (GNU
 * ld, gold), -1, and in .debug_ranges 1 (GNU ld) and -2 (lld). In an image,
 * code that really is at 0 is lost.
 */
static inline bool wndl_dw_is_tombstone(
    const struct wndl_dwarf *d, unsigned address_size, uint64_t address)
{
    return (address <= 1 && !d->in.starts_at_zero) ||
           address >= wndl_dw_max_address(address_size) - 1;
}

#endif
