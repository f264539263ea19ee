/* SPDX-License-Identifier: MIT */
/*
 * sym_query: the queries of `windlass sym`: addresses and names of functions,
 * as texts.
 */
#ifndef WNDL_CLI_SYMBOLS_SYM_QUERY_H
#define WNDL_CLI_SYMBOLS_SYM_QUERY_H

#include "base/vec.h"

#include <windlass/symbolize.h>

/* One address to answer. `text` is borrowed, and not NUL-terminated. */
struct wndl_sym_query {
    const char *text;
    size_t size;
    uint64_t address; /* as asked: linked, or an rva; 0 if there is none */
    uint64_t rva;
    bool has_address; /* the text is a number or the name of a function */
};

struct wndl_sym_reader {
    struct wndl_symbolizer *symbols;
    uint64_t image_base;  /* the base of addresses: 0 for rvas */
    uint64_t mask;        /* the bits of an address */
    uint64_t link_base;   /* the binary's image base */
    bool as_addr2line;    /* wndl_sym_read_query reads as addr2line does */
    struct wndl_vec list; /* struct wndl_sym_query */
};

/*
 * Appends the query in `text`: hexadecimal digits with or without 0x, and
 * after a blank anything, as nm prints it; else the name of a function, with
 * +0xHEX or +DECIMAL after it or without. A name that several functions have
 * asks for each of them. With `as_addr2line`, any text is one address, as
 * binutils' addr2line reads it: 0 where it finds none. False when memory is
 * out.
 */
bool wndl_sym_read_query(
    struct wndl_sym_reader *reader, const char *text, size_t size);

#endif
