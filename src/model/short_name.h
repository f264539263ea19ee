/* SPDX-License-Identifier: MIT */
/*
 * short_name: demangled names as a person would write them. It must not know
 * where a name is shown.
 */
#ifndef WNDL_MODEL_SHORT_NAME_H
#define WNDL_MODEL_SHORT_NAME_H

#include "base/buf.h"

/*
 * Appends `name` in the words of its source: std::string for
 * std::__cxx11::basic_string<char, ...>, no inline namespaces of the standard
 * library, no template arguments of it that are the default. What is still
 * longer than `limit` bytes loses the contents of template argument lists,
 * then of parameter lists, the innermost and longest first, until it fits or
 * has only short ones left: "ns::Class<...>::function(...) const".
 *
 * The result is never longer than `name` and has the qualified name of the
 * function whole. A name whose brackets make no sense is left as it is.
 */
void wndl_short_name(
    struct wndl_bytes name, size_t limit, struct wndl_buf *out);

#endif
