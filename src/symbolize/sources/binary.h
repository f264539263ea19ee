/* SPDX-License-Identifier: MIT */
/*
 * binary: the parts that the files of a binary as a source of names share.
 *
 *   binary_answer     one address
 *   binary_functions  all functions
 *   binary_changes    where answers change
 *   binary            opening, and the source itself
 */
#ifndef WNDL_SYMBOLIZE_SOURCES_BINARY_H
#define WNDL_SYMBOLIZE_SOURCES_BINARY_H

#include "symbolize/core/symbolizer_impl.h"

/* The function symbol at `addr`. NOT_FOUND, also after damage; NOMEM. */
enum wndl_status wndl_binary_symbol(struct wndl_symbolizer *s, wndl_svma addr,
    struct wndl_symbol *symbol) WNDL_MUST_USE;

/* Whether a symbol's name is better than DWARF's. */
bool wndl_binary_symbol_is_sure(const struct wndl_symbol *symbol);

/* The functions of struct wndl_name_source. */
enum wndl_status wndl_binary_resolve(struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva,
    struct wndl_symbols *answer) WNDL_MUST_USE;
enum wndl_status wndl_binary_list(struct wndl_listing *l) WNDL_MUST_USE;
enum wndl_status wndl_binary_list_symbols(struct wndl_listing *l) WNDL_MUST_USE;
enum wndl_status wndl_binary_changes(struct wndl_symbolizer *s,
    struct wndl_dwarf_range range, struct wndl_vec *places) WNDL_MUST_USE;

#endif
