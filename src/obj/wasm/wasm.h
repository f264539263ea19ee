/* SPDX-License-Identifier: MIT */
/*
 * wasm: the peculiarities of WebAssembly modules. Addresses of code are offsets
 * in the contents of the code section, as DWARF for WebAssembly has them. That
 * section is the only segment, and is named ".text".
 */
#ifndef WNDL_OBJ_WASM_WASM_H
#define WNDL_OBJ_WASM_WASM_H

#include "obj/core/object.h"

/* Whether it is a module, or something else with the same first bytes. */
bool wndl_wasm_is(struct wndl_bytes bytes);

/* Whether an object is a WebAssembly module. */
bool wndl_object_is_wasm(const struct wndl_object *object);

/*
 * The address at which debug information is, from the custom section
 * external_debug_info; empty if there is none. Lives as long as the object.
 */
struct wndl_bytes wndl_wasm_external(const struct wndl_object *object);

/*
 * Whether two modules have the same code, byte by byte. False if one of them is
 * no module, or has no code.
 */
bool wndl_wasm_same_code(
    const struct wndl_object *a, const struct wndl_object *b);

#endif
