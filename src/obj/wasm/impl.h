/* SPDX-License-Identifier: MIT */
/*
 * impl: the parts that the files of WebAssembly share.
 *
 *   wasm.c     header and sections
 *   symbols.c  functions, and their names
 */
#ifndef WNDL_OBJ_WASM_IMPL_H
#define WNDL_OBJ_WASM_IMPL_H

#include "obj/core/object_impl.h"
#include "obj/wasm/wasm.h"

/* Contents of the sections that are read here, empty if there are none. */
struct wndl_wasm {
    struct wndl_bytes imports;
    struct wndl_bytes exports;
    struct wndl_bytes code;
    struct wndl_bytes names;    /* custom section "name" */
    struct wndl_bytes linking;  /* custom section "linking", of object files */
    struct wndl_bytes external; /* of external_debug_info, the address */
};

/* Fills an object from a module. */
enum wndl_status wndl_wasm_open(struct wndl_object *object, const char *arch,
    struct wndl_error *err) WNDL_MUST_USE;

/* Whether there is a section of names, or an object file's symbols. */
bool wndl_wasm_has_symtab(const struct wndl_object *object);

/*
 * Appends the module's functions that have a name (struct wndl_function):
 * that of the section of names, else of the symbols, else of an export.
 * NOT_FOUND without a section of code. Damage is noted, and what was before it
 * is used.
 */
enum wndl_status wndl_wasm_read_functions(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err) WNDL_MUST_USE;

/* The bytes of a vector of bytes or a name: a length, then the bytes. */
struct wndl_bytes wndl_wasm_take_name(struct wndl_cursor *c);

/* Notes damage at the cursor's place in `contents`, which is of the file. */
void wndl_wasm_note(struct wndl_object *object, const char *section,
    struct wndl_bytes contents, const struct wndl_cursor *at, const char *what);

#endif
