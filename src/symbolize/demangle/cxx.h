/* SPDX-License-Identifier: MIT */
/*
 * cxx: reads names of the Itanium C++ ABI, with all that compilers of today
 * write: constraints, explicit object parameters, template parameters of all
 * kinds, modules, blocks, inheriting constructors, _BitInt.
 */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_CXX_H
#define WNDL_SYMBOLIZE_DEMANGLE_CXX_H

#include "base/buf.h"

/*
 * Replaces the contents of `text` by `name` demangled. False if it is no such
 * name, or nested too deeply, or would be longer than `most` bytes: then the
 * contents are of no use. One thread.
 */
bool wndl_cxx_demangle(
    struct wndl_bytes name, size_t most, struct wndl_buf *text);

#endif
