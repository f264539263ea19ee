/* SPDX-License-Identifier: MIT */
/*
 * dwarf: from an address to the functions, inlined frames, files and lines
 * that DWARF 4 and 5 give for it.
 *
 * Lazy by unit: opening finds the unit headers and their address ranges; a
 * unit's function tree and line program are decoded when an address of it is
 * first looked up, once. Damage in a unit loses that unit, is counted, and
 * the first one is described; a damaged line program costs its unit the lines
 * alone, and counts too. The skeleton unit of a .dwo file is skipped as far as
 * functions go, but gives lines. Code at address 0, -1 or -2 is taken for
 * what a linker dropped. What it must not know: files, ELF, demangling.
 *
 * One wndl_dwarf is for one thread at a time.
 */
#ifndef WNDL_DBG_DWARF_H
#define WNDL_DBG_DWARF_H

#include "base/addr.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"

struct wndl_dwarf;

/* The sections, borrowed for the life of the wndl_dwarf; absent ones empty. */
struct wndl_dwarf_sections {
    struct wndl_bytes info, abbrev, line, line_str, str, str_offsets;
    struct wndl_bytes addr, ranges, rnglists, aranges;
    bool big_endian;
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
    wndl_svma function_start; /* lowest address of the (inlined) function */
};

/* Innermost first; only the last one has inlined == false. */
struct wndl_dwarf_frames {
    const struct wndl_dwarf_frame *frames; /* until the next lookup */
    size_t count;
};

struct wndl_dwarf_stats {
    uint32_t units;                 /* headers seen */
    uint32_t units_damaged;         /* lost: malformed or truncated */
    uint32_t units_skipped;         /* a version or kind we do not read */
    struct wndl_error first_damage; /* status WNDL_OK when none */
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

void wndl_dwarf_get_stats(
    const struct wndl_dwarf *dwarf, struct wndl_dwarf_stats *stats);

#endif
