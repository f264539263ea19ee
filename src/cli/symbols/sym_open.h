/* SPDX-License-Identifier: MIT */
/* sym_open: the binary that `windlass sym` answers from. */
#ifndef WNDL_CLI_SYMBOLS_SYM_OPEN_H
#define WNDL_CLI_SYMBOLS_SYM_OPEN_H

#include "base/status.h"
#include "cli/shared/debug_dirs.h"
#include "cli/symbols/sym_options.h"

enum { WNDL_SYM_BUILD_ID_MAX = 64 };

/* Zeroed but for `o`; stays where it is until the symbols are closed. */
struct wndl_sym_opening {
    const struct wndl_sym_options *o;
    struct wndl_debug_dirs dirs;
    struct wndl_symbolizer_cache cache;
    struct wndl_symbolizer_options options;
    uint8_t build_id[WNDL_SYM_BUILD_ID_MAX];
    struct wndl_error err; /* of the first file that was there */
};

/* Reads --build-id; false if it is not two hexadecimal digits for each byte. */
bool wndl_sym_read_build_id(struct wndl_sym_opening *opening);

/* The binary of -e or of --build-id. NULL, with an error on stderr. */
struct wndl_symbolizer *wndl_sym_open(struct wndl_sym_opening *opening);

#endif
