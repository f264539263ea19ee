/* SPDX-License-Identifier: MIT */
/*
 * demangle: names as people write them, each distinct one worked out once.
 * C++ (Itanium and Microsoft's), Rust (legacy and v0) and D.
 */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_DEMANGLE_H
#define WNDL_SYMBOLIZE_DEMANGLE_DEMANGLE_H

#include "base/intern.h"

/* results holds one const char * for each id of names. */
struct wndl_demangler {
    struct wndl_intern names;
    struct wndl_vec results;
    struct wndl_arena *arena;
};

/* False when memory is out. Everything lives as long as the arena. */
bool wndl_demangler_init(
    struct wndl_demangler *demangler, struct wndl_arena *arena);

/*
 * `name` demangled, or the name itself when it is not mangled, too long, or
 * would become too long. A symbol version ("f@@V1") is left out. A clone
 * made by the compiler keeps its mark: "f(int) [clone .cold]" in C++; in C,
 * where there is nothing to tell apart, "f.cold" as it is. NULL when memory
 * is out.
 */
const char *wndl_demangle(
    struct wndl_demangler *demangler, struct wndl_bytes name);

#endif
