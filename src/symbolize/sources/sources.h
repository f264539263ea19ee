/* SPDX-License-Identifier: MIT */
/* sources: all sources of names. */
#ifndef WNDL_SYMBOLIZE_SOURCES_SOURCES_H
#define WNDL_SYMBOLIZE_SOURCES_SOURCES_H

#include "symbolize/core/symbolizer_impl.h"

/* A Breakpad symbol file instead of a binary. */
extern const struct wndl_name_source wndl_source_breakpad;

/*
 * A PDB file instead of a binary; or, before a binary, the one that belongs to
 * it.
 */
extern const struct wndl_name_source wndl_source_pdb;

/* A binary. */
extern const struct wndl_name_source wndl_source_binary;

/* Begins with a PDB file instead of a binary. */
enum wndl_status wndl_symbolizer_begin_pdb(struct wndl_symbolizer *s,
    struct wndl_bytes bytes, const char *path,
    const struct wndl_symbolizer_options *options,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Opens a PDB file for the image at `path`, which is missing, as `err` says:
 * STEM.pdb, or the only STEM.pdb/ID/STEM.pdb, beside the path and in the debug
 * folders. If there is none, `err` stays, or has the first file that was not
 * usable; its status is returned.
 */
enum wndl_status wndl_symbolizer_open_pdb_alone(struct wndl_symbolizer *s,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_error *err) WNDL_MUST_USE;

/* Finds the PDB file of a PE image. OK or NOMEM. */
enum wndl_status wndl_symbolizer_find_pdb(struct wndl_symbolizer *s,
    const struct wndl_symbolizer_options *options) WNDL_MUST_USE;

#endif
