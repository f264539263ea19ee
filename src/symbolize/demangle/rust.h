/* SPDX-License-Identifier: MIT */
/*
 * rust: reads names of Rust, the old ones ("_ZN3foo3bar17h0123456789abcdefE")
 * and those of version 0 ("_RNvCs1234_3foo3bar").
 */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_RUST_H
#define WNDL_SYMBOLIZE_DEMANGLE_RUST_H

#include "base/buf.h"

/*
 * Replaces the contents of `text` by `name` demangled, without hashes and
 * without the types of constants. Marks of clones stay, as "[clone .cold]".
 * False if it is no such name, or nested too deeply, or would be longer than
 * `most` bytes: then the contents are of no use. One thread.
 */
bool wndl_rust_demangle(
    struct wndl_bytes name, size_t most, struct wndl_buf *text);

#endif
