/* SPDX-License-Identifier: MIT */
/*
 * symbolizer: the part of windlass/symbolize.h that is for this repository
 * only.
 */
#ifndef WNDL_SYMBOLIZE_SYMBOLIZER_H
#define WNDL_SYMBOLIZE_SYMBOLIZER_H

#include "base/mem.h"
#include "base/vec.h"

#include <windlass/symbolize.h>

struct wndl_pdb;

/* wndl_symbolizer_open on a heap of the caller's, which must outlive it. */
enum wndl_status wndl_symbolizer_open_with(struct wndl_mem *mem,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer **out, struct wndl_error *err) WNDL_MUST_USE;

/* wndl_symbolizer_open_reader in the same way. */
enum wndl_status wndl_symbolizer_open_reader_with(struct wndl_mem *mem,
    const struct wndl_symbolizer_reader *reader,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Sets `rvas` (uint64_t) to where in `range` answers may be others than for
 * the byte before, its start the first, then ever farther from it. OK or NOMEM.
 */
enum wndl_status wndl_symbolizer_changes(struct wndl_symbolizer *s,
    const struct wndl_symbol_range *range, struct wndl_vec *rvas) WNDL_MUST_USE;

/*
 * Adds to `ranges` (struct wndl_symbol_range) the tables of stubs, which no
 * function is in. False when memory is out.
 */
bool wndl_symbolizer_add_stubs(
    const struct wndl_symbolizer *s, struct wndl_vec *ranges);

/* The PDB file that it reads, or NULL; its own, as long as it lives. */
struct wndl_pdb *wndl_symbolizer_pdb(const struct wndl_symbolizer *s);

#endif
