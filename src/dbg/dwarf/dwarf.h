/* SPDX-License-Identifier: MIT */
/*
 * dwarf: from an address to the functions, inlined frames, files and lines
 * that DWARF 2 to 5 give for it.
 *
 * Lazy by unit: .debug_aranges tells the unit of an address, and only where it
 * does not are all headers and root DIEs read; a unit's function tree and line
 * program are decoded when an address of it is first looked up, once. Damage
 * in a unit loses that unit, is counted, and the first one is described; a
 * damaged line program costs its unit the lines alone, and counts too. Other
 * files that DWARF refers to (.dwo files, their package, a supplementary file)
 * are asked for when first needed; without a .dwo file its skeleton unit still
 * gives lines. Code at address 0, 1, -1 or -2 is taken for what a linker
 * dropped, unless 0 is said to be a place. What it must not know: where files
 * are, ELF, demangling.
 *
 * One wndl_dwarf is for one thread at a time.
 */
#ifndef WNDL_DBG_DWARF_DWARF_H
#define WNDL_DBG_DWARF_DWARF_H

#include "base/addr.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/vec.h"

struct wndl_dwarf;

/*
 * Called when much of the sections was read that is not likely to be needed
 * again soon. Memory that holds them may be given up if their bytes come back
 * when they are read.
 */
struct wndl_dwarf_memory {
    void *context;
    void (*give_up)(void *context);
};

/*
 * The sections, borrowed for the life of the wndl_dwarf; absent ones empty.
 * In a .dwo file or package they have ".dwo" at the end of their names.
 */
struct wndl_dwarf_sections {
    struct wndl_bytes info, abbrev, line, line_str, str, str_offsets;
    struct wndl_bytes addr, ranges, rnglists, aranges;
    struct wndl_bytes cu_index;      /* of a package */
    struct wndl_dwarf_memory memory; /* give_up may be NULL */
    bool big_endian;
    bool starts_at_zero; /* code at 0 and 1 is code: an object file's */
    const char *path;    /* for messages; may be NULL */
    const struct wndl_dwarf_files *files; /* borrowed; NULL: none */
};

/* What a skeleton unit says of its .dwo file. */
struct wndl_dwarf_split {
    struct wndl_bytes name;     /* DW_AT_dwo_name */
    struct wndl_bytes comp_dir; /* may be empty */
    uint64_t id;
};

/*
 * How to get at other files, each asked for at most once: OK, NOT_FOUND when
 * there is none, NOMEM, or what is wrong with it; any but OK fills `err`. The
 * sections are borrowed like the first file's. `next` counts the candidates
 * for a .dwo file from 0: each call gives the first from *next on, and leaves
 * in *next the one to go on with if that was of another build.
 */
struct wndl_dwarf_files {
    void *context;
    enum wndl_status (*supplementary)(void *context,
        struct wndl_dwarf_sections *sections, struct wndl_error *err);
    enum wndl_status (*package)(void *context,
        struct wndl_dwarf_sections *sections, struct wndl_error *err);
    enum wndl_status (*split)(void *context,
        const struct wndl_dwarf_split *split, unsigned *next,
        struct wndl_dwarf_sections *sections, struct wndl_error *err);
};

/*
 * One frame of an answer. Strings live as long as the wndl_dwarf; they are
 * NUL-terminated; an unknown one is empty. `line` and `column` are 0 when
 * not known. In the innermost frame they come from the line table; in an
 * outer frame they are the call site of the frame inside it (DW_AT_call_*).
 */
struct wndl_dwarf_frame {
    struct wndl_bytes name;         /* DW_AT_name, as the source spells it */
    struct wndl_bytes linkage_name; /* mangled, empty in C */
    struct wndl_bytes file; /* joined: compilation dir, include dir, name */
    uint32_t line;
    uint32_t column;
    bool inlined;
    uint16_t language;        /* DW_LANG_* of the unit that names it, or 0 */
    wndl_svma function_start; /* lowest address of the (inlined) function */
};

/* Innermost first; only the last one has inlined == false. */
struct wndl_dwarf_frames {
    const struct wndl_dwarf_frame *frames; /* until the next lookup */
    size_t count;
};

struct wndl_dwarf_stats {
    uint32_t units;                 /* headers seen so far */
    uint32_t units_damaged;         /* lost: malformed or truncated */
    uint32_t units_skipped;         /* a version or kind we do not read */
    struct wndl_error first_damage; /* status WNDL_OK when none */
    uint32_t files_missing;         /* needed, but not there or of no use */
    struct wndl_error first_missing;
};

/*
 * MALFORMED only when not a single unit header can be read; NOT_FOUND when
 * .debug_info is empty. On success *out is freed by wndl_dwarf_close.
 */
enum wndl_status wndl_dwarf_open(const struct wndl_dwarf_sections *sections,
    struct wndl_mem *mem, struct wndl_dwarf **out,
    struct wndl_error *err) WNDL_MUST_USE;

void wndl_dwarf_close(struct wndl_dwarf *dwarf);

/*
 * The frames of `addr` (a return address is passed minus one by the caller).
 * NOT_FOUND when no unit covers it. OK with one frame that has a line but no
 * name is possible (line table without a function, e.g. assembly).
 */
enum wndl_status wndl_dwarf_lookup(struct wndl_dwarf *dwarf, wndl_svma addr,
    struct wndl_dwarf_frames *frames, struct wndl_error *err) WNDL_MUST_USE;

/* The same when nothing else says that there is code: what .debug_aranges tells
 * of a unit is believed to be all, which saves reading all root DIEs. */
enum wndl_status wndl_dwarf_lookup_unlikely(struct wndl_dwarf *dwarf,
    wndl_svma addr, struct wndl_dwarf_frames *frames,
    struct wndl_error *err) WNDL_MUST_USE;

/* Lookups of addresses that are likely in one unit cost less one after the
 * other. UINT32_MAX when .debug_aranges knows none. */
uint32_t wndl_dwarf_likely_unit(struct wndl_dwarf *dwarf, wndl_svma addr);

/* `threads` at the most, each for at least `bytes_each` of .debug_info. */
struct wndl_dwarf_workers {
    unsigned threads;
    uint64_t bytes_each;
};

/*
 * Reads the units of addresses that are about to be looked up, in that order,
 * by several threads, which are made and joined within the call. Returns of
 * how many of the addresses, not 0: after so many lookups it may be called
 * again for the rest. Lookups say the same without it, but later; so failure
 * is not told.
 */
size_t wndl_dwarf_read_ahead(struct wndl_dwarf *dwarf, const wndl_svma *addrs,
    size_t count, const struct wndl_dwarf_workers *workers);

/* Bytes [start, end) of code. */
struct wndl_dwarf_range {
    wndl_svma start;
    wndl_svma end;
};

/* A function that is not inlined. Names as in struct wndl_dwarf_frame. */
struct wndl_dwarf_function {
    struct wndl_bytes name;
    struct wndl_bytes linkage_name;
    const struct wndl_dwarf_range *ranges; /* ascending, at least one */
    size_t range_count;
    uint16_t language;
};

/* Makes all units known. OK or NOMEM. */
enum wndl_status wndl_dwarf_unit_count(
    struct wndl_dwarf *dwarf, size_t *count) WNDL_MUST_USE;

/*
 * Calls `visit` with each function of unit `index`; what it is given is valid
 * for the call, names as long as the wndl_dwarf. Ends when that returns other
 * than OK, and returns it. Else OK, also for a unit that is lost, or NOMEM.
 */
enum wndl_status wndl_dwarf_visit_functions(struct wndl_dwarf *dwarf,
    size_t index,
    enum wndl_status (*visit)(
        void *context, const struct wndl_dwarf_function *function),
    void *context) WNDL_MUST_USE;

/*
 * Adds to `places` (uint64_t, svma) where in `range` lookups may answer
 * otherwise than for the byte before; in no order, more than once, and also
 * where they do not. OK or NOMEM.
 */
enum wndl_status wndl_dwarf_changes(struct wndl_dwarf *dwarf,
    struct wndl_dwarf_range range, struct wndl_vec *places) WNDL_MUST_USE;

void wndl_dwarf_get_stats(
    const struct wndl_dwarf *dwarf, struct wndl_dwarf_stats *stats);

#endif
