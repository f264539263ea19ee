/* SPDX-License-Identifier: MIT */
/*
 * msvc: names that Microsoft's C++ compiler, or clang for its targets, mangled.
 *
 * They are told as LLVM tells them in stacks, by what overloads differ in:
 * "ns::box<int>::get(int)", without return type, calling convention and
 * access. Types in them are whole. A string literal's symbol is not read, and
 * neither is a name that was too long for its compiler ("??@" and a hash).
 */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_MSVC_H
#define WNDL_SYMBOLIZE_DEMANGLE_MSVC_H

#include "base/buf.h"

/* Whether it begins as one does. */
bool wndl_msvc_is_mangled(struct wndl_bytes name);

/*
 * Puts what `name` means into `text`, whose bytes are lost. False when it is
 * no such name, when that or its meaning is too deep or too long, and when
 * memory is out (text->failed). What comes after a name that is complete, as
 * a mark of the compiler's does, is left out.
 */
bool wndl_msvc_demangle(struct wndl_bytes name, struct wndl_buf *text);

#endif
