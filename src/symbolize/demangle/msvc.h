/* SPDX-License-Identifier: MIT */
/*
 * msvc: names that Microsoft's C++ compiler, or clang for its targets, mangled.
 *
 * They are written as LLVM writes them in stacks, with the parts in which
 * overloads differ: "ns::box<int>::get(int)", without return type, calling
 * convention and access. Types in them are whole. A string literal's symbol is
 * not read, and neither is a name that was too long for its compiler ("??@" and
 * a hash).
 */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_MSVC_H
#define WNDL_SYMBOLIZE_DEMANGLE_MSVC_H

#include "base/buf.h"

/* Whether `name` begins as such a name does. */
bool wndl_msvc_is_mangled(struct wndl_bytes name);

/*
 * Replaces `text` with the meaning of `name`. False when it is no such name,
 * when it or its meaning is too deep or too long, and when memory is out
 * (text->failed). Text after a complete name, such as a compiler's mark, is
 * dropped.
 */
bool wndl_msvc_demangle(struct wndl_bytes name, struct wndl_buf *text);

#endif
