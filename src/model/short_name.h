/* SPDX-License-Identifier: MIT */
/*
 * short_name: demangled names as a person would write them. It must not know
 * where a name is shown.
 */
#ifndef WNDL_MODEL_SHORT_NAME_H
#define WNDL_MODEL_SHORT_NAME_H

#include "base/buf.h"

/*
 * Appends `name` as its source would write it: std::string for
 * std::__cxx11::basic_string<char, ...>, without the standard library's inline
 * namespaces and its default template arguments. A name that is still longer
 * than `limit` bytes loses the contents of template argument lists, then of
 * parameter lists, the innermost and longest first, until it fits or only short
 * ones remain: "ns::Class<...>::function(...) const".
 *
 * The result is never longer than `name` and contains the function's whole
 * qualified name. A name with unbalanced brackets is unchanged.
 */
void wndl_short_name(
    struct wndl_bytes name, size_t limit, struct wndl_buf *out);

#endif
