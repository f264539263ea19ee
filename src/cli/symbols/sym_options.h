/* SPDX-License-Identifier: MIT */
/* sym_options: the options of `windlass sym`. */
#ifndef WNDL_CLI_SYMBOLS_SYM_OPTIONS_H
#define WNDL_CLI_SYMBOLS_SYM_OPTIONS_H

#include "cli/core/options.h"
#include "cli/shared/symbol_options.h"

struct wndl_sym_options {
    const char *path;
    const char *build_id;
    unsigned format; /* enum wndl_sym_format */
    bool functions;
    bool demangle;
    bool no_demangle;
    bool inlines;
    bool pretty;
    bool basenames;
    bool addresses;
    const char *section;
    bool rva;
    bool all_functions;
    bool ids;
    bool list_arches;
    bool as_addr2line; /* numbers are read as binutils' addr2line reads them */
    struct wndl_symbol_options symbols;
};

extern const struct wndl_option wndl_sym_option_table[];

/* The contradiction in the options with so many operands, or NULL. */
const char *wndl_sym_contradiction(
    const struct wndl_sym_options *o, size_t operands);

#endif
