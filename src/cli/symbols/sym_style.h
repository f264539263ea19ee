/* SPDX-License-Identifier: MIT */
/* sym_style: how `windlass sym` writes its answers. */
#ifndef WNDL_CLI_SYMBOLS_SYM_STYLE_H
#define WNDL_CLI_SYMBOLS_SYM_STYLE_H

#include "base/buf.h"
#include "cli/symbols/sym_query.h"

enum wndl_sym_format {
    WNDL_SYM_GNU,  /* as binutils' addr2line writes */
    WNDL_SYM_LLVM, /* as llvm-symbolizer writes */
    WNDL_SYM_JSON, /* docs/formats/sym-json.md */
};

struct wndl_sym_style {
    enum wndl_sym_format format;
    bool functions; /* names of functions; only the GNU style may lack them */
    bool demangled;
    bool inlines;   /* all frames; only the GNU style may lack them */
    bool addresses; /* before each answer */
    bool pretty;    /* a line per frame */
    bool basenames;
    unsigned digits;     /* of an address of the binary */
    uint64_t image_base; /* added to an rva before it is written */
    uint64_t link_base;  /* the binary's image base */
};

void wndl_sym_write_answer(struct wndl_buf *out,
    const struct wndl_sym_style *style, const struct wndl_sym_query *query,
    const struct wndl_symbols *answer);

void wndl_sym_write_function(struct wndl_buf *out,
    const struct wndl_sym_style *style,
    const struct wndl_symbol_function *function);

#endif
