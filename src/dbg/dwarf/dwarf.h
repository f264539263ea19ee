/* SPDX-License-Identifier: MIT */
/*
 * dwarf: from an address to the functions, inlined frames, files and lines that
 * DWARF 2 to 5 give for it.
 *
 * It is lazy by unit: .debug_aranges gives the unit of an address; only where
 * it does not are all headers and root DIEs read. A unit's function tree and
 * line program are decoded once, at the first lookup of one of its addresses.
 * Damage in a unit loses that unit and is counted, and the first damage is
 * described; a damaged line program loses only the unit's lines, and is counted
 * too. Other files to which DWARF refers (.dwo files, their package, a
 * supplementary file) are requested when they are needed; without its .dwo file
 * a skeleton unit still gives lines. Code at address 0, 1, -1 or -2 counts as
 * dropped by the linker, unless `starts_at_zero` is set. It must not know where
 * files are, ELF, or demangling.
 *
 * One thread at a time.
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
 * Called after many bytes of the sections were read that are not likely to be
 * needed again soon. The memory of the sections may be released if its bytes
 * come back at the next read.
 */
struct wndl_dwarf_memory {
    void *context;
    void (*give_up)(void *context);
};

/*
 * The sections, borrowed for the life of the wndl_dwarf; absent ones are empty.
 * In a .dwo file or package their names end in ".dwo".
 */
struct wndl_dwarf_sections {
    struct wndl_bytes info, abbrev, line, line_str, str, str_offsets;
    struct wndl_bytes addr, ranges, rnglists, aranges;
    struct wndl_bytes types;         /* .debug_types of version 4 */
    struct wndl_bytes cu_index;      /* of a package */
    struct wndl_dwarf_memory memory; /* give_up may be NULL */
    bool big_endian;
    bool starts_at_zero; /* for an object file: code may be at 0 and 1 */
    const char *path;    /* for messages; may be NULL */
    const struct wndl_dwarf_files *files; /* borrowed; NULL: none */
};

/* A skeleton unit's reference to its .dwo file. */
struct wndl_dwarf_split {
    struct wndl_bytes name;     /* DW_AT_dwo_name */
    struct wndl_bytes comp_dir; /* may be empty */
    uint64_t id;
};

/*
 * The functions that open other files; each file is requested at most once. OK,
 * NOT_FOUND when there is none, NOMEM, or the file's own error; any but OK
 * fills `err`. The sections are borrowed like the first file's. `next` counts
 * the candidates for a .dwo file from 0: a call gives the first one from *next
 * on, and sets *next to the one to try if that is of another build.
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
    uint16_t language;        /* DW_LANG_* of the unit with its name, or 0 */
    wndl_svma function_start; /* lowest address of the (inlined) function */
};

/* Innermost first; only the last one has inlined == false. */
struct wndl_dwarf_frames {
    const struct wndl_dwarf_frame *frames; /* valid until the next lookup */
    size_t count;
};

struct wndl_dwarf_stats {
    uint32_t units;         /* headers read so far */
    uint32_t units_damaged; /* lost: malformed or truncated */
    uint32_t units_skipped; /* of a version or kind that is not supported */
    struct wndl_error first_damage; /* status WNDL_OK when none */
    uint32_t files_missing;         /* needed, but missing or unusable */
    struct wndl_error first_missing;
};

/*
 * Opens the reader. MALFORMED only when no unit header can be read; NOT_FOUND
 * when .debug_info is empty; NOMEM. On success *out ends with wndl_dwarf_close.
 */
enum wndl_status wndl_dwarf_open(const struct wndl_dwarf_sections *sections,
    struct wndl_mem *mem, struct wndl_dwarf **out,
    struct wndl_error *err) WNDL_MUST_USE;

/* Closes it and all files that it opened. */
void wndl_dwarf_close(struct wndl_dwarf *dwarf);

/*
 * The frames of `addr`; for a return address the caller subtracts one.
 * NOT_FOUND when no unit covers it; NOMEM. The answer can be OK with one frame
 * that has a line but no name (a line table without a function, as from
 * assembly).
 */
enum wndl_status wndl_dwarf_lookup(struct wndl_dwarf *dwarf, wndl_svma addr,
    struct wndl_dwarf_frames *frames, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same for an address that may not be code: the ranges of a unit in
 * .debug_aranges are taken as complete, which saves reading all root DIEs.
 */
enum wndl_status wndl_dwarf_lookup_unlikely(struct wndl_dwarf *dwarf,
    wndl_svma addr, struct wndl_dwarf_frames *frames,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The number of the likely unit of `addr`; UINT32_MAX when .debug_aranges has
 * none. Consecutive lookups in one unit are cheaper.
 */
uint32_t wndl_dwarf_likely_unit(struct wndl_dwarf *dwarf, wndl_svma addr);

/* At most `threads` threads, each for at least `bytes_each` of .debug_info. */
struct wndl_dwarf_workers {
    unsigned threads;
    uint64_t bytes_each;
};

/*
 * Reads the units of addresses that will be looked up, in that order, in
 * several threads, which start and end within the call. Returns for how many of
 * the addresses it has read, never 0; after that many lookups the caller may
 * call it for the rest. Lookups give the same answers without it, only later;
 * so it reports no failure.
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

/* Reads all unit headers and counts them. OK or NOMEM. */
enum wndl_status wndl_dwarf_unit_count(
    struct wndl_dwarf *dwarf, size_t *count) WNDL_MUST_USE;

/*
 * Calls `visit` with each function of unit `index`. Its argument is valid
 * during the call, the names in it as long as the wndl_dwarf. Stops at the
 * first status other than OK, and returns it. Else OK, also for a lost unit, or
 * NOMEM.
 */
enum wndl_status wndl_dwarf_visit_functions(struct wndl_dwarf *dwarf,
    size_t index,
    enum wndl_status (*visit)(
        void *context, const struct wndl_dwarf_function *function),
    void *context) WNDL_MUST_USE;

/*
 * Adds to `places` (uint64_t, svma) each address in `range` where the answer
 * may differ from that for the byte before. Unordered, with duplicates, and
 * with addresses where it does not differ. OK or NOMEM.
 */
enum wndl_status wndl_dwarf_changes(struct wndl_dwarf *dwarf,
    struct wndl_dwarf_range range, struct wndl_vec *places) WNDL_MUST_USE;

/* Counts and failures so far, over all files. */
void wndl_dwarf_get_stats(
    const struct wndl_dwarf *dwarf, struct wndl_dwarf_stats *stats);

#endif
