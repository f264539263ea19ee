/* SPDX-License-Identifier: MIT */
/*
 * unit_names: names of languages whose mangled names have no mark of their own,
 * so that the unit has to say what they are: Haskell (GHC), OCaml, Pascal (Free
 * Pascal).
 */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_UNIT_NAMES_H
#define WNDL_SYMBOLIZE_DEMANGLE_UNIT_NAMES_H

#include "base/buf.h"

/* How names of a unit are written. */
enum wndl_name_scheme {
    WNDL_NAMES_MARKED, /* as their first characters say */
    WNDL_NAMES_HASKELL,
    WNDL_NAMES_OCAML,
    WNDL_NAMES_PASCAL,
    WNDL_NAME_SCHEMES,
};

/* The scheme of a unit in `language`, DW_LANG_*. */
enum wndl_name_scheme wndl_name_scheme_of(uint16_t language);

/*
 * Replaces the contents of `text` by `name` of that scheme, not MARKED,
 * demangled. False if it is no such name: then the contents are of no use.
 */
bool wndl_unit_name_demangle(enum wndl_name_scheme scheme,
    struct wndl_bytes name, struct wndl_buf *text);

#endif
