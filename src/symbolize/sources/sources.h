/* SPDX-License-Identifier: MIT */
/* sources: the sources of names that there are. */
#ifndef WNDL_SYMBOLIZE_SOURCES_SOURCES_H
#define WNDL_SYMBOLIZE_SOURCES_SOURCES_H

#include "symbolize/core/symbolizer_impl.h"

/* A Breakpad symbol file in the place of a binary. */
extern const struct wndl_name_source wndl_source_breakpad;

/* A PDB file in the place of a binary; also, before a binary, the one that
 * goes with it. */
extern const struct wndl_name_source wndl_source_pdb;

/* A binary. */
extern const struct wndl_name_source wndl_source_binary;

/* A PDB file in the place of a binary. */
enum wndl_status wndl_symbolizer_begin_pdb(struct wndl_symbolizer *s,
    struct wndl_bytes bytes, const char *path,
    const struct wndl_symbolizer_options *options,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * One for the image at `path`, which is not there, as `err` tells: STEM.pdb, or
 * the only STEM.pdb/ID/STEM.pdb, beside it and in the debug folders. Without
 * one, `err` is as it was, or tells of the first that was no good; its status
 * is returned.
 */
enum wndl_status wndl_symbolizer_open_pdb_alone(struct wndl_symbolizer *s,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_error *err) WNDL_MUST_USE;

/* Looks for the one that goes with a PE image. OK or NOMEM. */
enum wndl_status wndl_symbolizer_find_pdb(struct wndl_symbolizer *s,
    const struct wndl_symbolizer_options *options) WNDL_MUST_USE;

#endif
