/* SPDX-License-Identifier: MIT */
/*
 * symbolizer: the part of windlass/symbolize.h that is private to this
 * repository.
 */
#ifndef WNDL_SYMBOLIZE_SYMBOLIZER_H
#define WNDL_SYMBOLIZE_SYMBOLIZER_H

#include "base/addr.h"
#include "base/mem.h"
#include "base/vec.h"

#include <windlass/symbolize.h>

struct wndl_dwarf;
struct wndl_pdb;

/*
 * wndl_symbolizer_open with the caller's `mem`, which must outlive the
 * symbolizer.
 */
enum wndl_status wndl_symbolizer_open_with(struct wndl_mem *mem,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer **out, struct wndl_error *err) WNDL_MUST_USE;

/* wndl_symbolizer_open_reader with the caller's `mem`. */
enum wndl_status wndl_symbolizer_open_reader_with(struct wndl_mem *mem,
    const struct wndl_symbolizer_reader *reader,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Sets `rvas` (uint64_t) to the places in `range` where an answer may differ
 * from that for the byte before; the first is the start of `range`. In
 * ascending order. OK or NOMEM.
 */
enum wndl_status wndl_symbolizer_changes(struct wndl_symbolizer *s,
    const struct wndl_symbol_range *range, struct wndl_vec *rvas) WNDL_MUST_USE;

/*
 * Adds the tables of stubs, which are in no function, to `ranges` (struct
 * wndl_symbol_range). False when memory is out.
 */
bool wndl_symbolizer_add_stubs(
    const struct wndl_symbolizer *s, struct wndl_vec *ranges);

/* The PDB file that it reads, or NULL. Owned by the symbolizer. */
struct wndl_pdb *wndl_symbolizer_pdb(const struct wndl_symbolizer *s);

/*
 * Opens what was deferred, and sets *dwarf to the DWARF that it reads, with
 * addresses as they were linked; NULL: there is none. Owned by the symbolizer,
 * which must not be used while another thread uses *dwarf. OK or NOMEM.
 */
enum wndl_status wndl_symbolizer_dwarf(
    struct wndl_symbolizer *s, struct wndl_dwarf **dwarf) WNDL_MUST_USE;

/* The address in that DWARF of an offset from the image base. */
wndl_svma wndl_symbolizer_linked(const struct wndl_symbolizer *s, uint64_t rva);

#endif
