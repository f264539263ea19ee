/* SPDX-License-Identifier: MIT */
/*
 * demangle: names as people write them; each distinct name is demangled once.
 * C++ (Itanium and Microsoft's), Rust (legacy and v0) and D; and, where the
 * unit says its language, Haskell, OCaml and Pascal.
 */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_DEMANGLE_H
#define WNDL_SYMBOLIZE_DEMANGLE_DEMANGLE_H

#include "base/intern.h"
#include "symbolize/demangle/unit_names.h"

/* `results` have a const char * for each id of `names`. */
struct wndl_demangler {
    struct wndl_intern names;
    struct wndl_vec results[WNDL_NAME_SCHEMES];
    struct wndl_arena *arena;
};

/*
 * Makes it empty. Everything lives as long as the arena. False when memory is
 * out. One thread.
 */
bool wndl_demangler_init(
    struct wndl_demangler *demangler, struct wndl_arena *arena);

/*
 * `name` demangled; or the name itself when it is not mangled, too long, or
 * would become too long. A symbol version ("f@@V1") is dropped. A clone made by
 * the compiler keeps its mark: "f(int) [clone .cold]" in C++ and Rust; in C,
 * where the names are distinct anyway, "f.cold" as it is. Lives as long as the
 * arena. NULL when memory is out.
 */
const char *wndl_demangle(
    struct wndl_demangler *demangler, struct wndl_bytes name);

/* The same of a name in a unit of `language`, DW_LANG_*; 0: not known. */
const char *wndl_demangle_in(struct wndl_demangler *demangler,
    struct wndl_bytes name, uint16_t language);

#endif
