/* SPDX-License-Identifier: MIT */
/*
 * impl: the parts that the files of PE share.
 *
 *   pe.c       headers, sections, the PDB that goes with it
 *   symbols.c  functions, by COFF symbols or else exports
 */
#ifndef WNDL_OBJ_PE_IMPL_H
#define WNDL_OBJ_PE_IMPL_H

#include "obj/core/object_impl.h"
#include "obj/pe/pe.h"

/* An entry of the data directory; 0, 0: none. */
struct wndl_pe_part {
    uint32_t rva;
    uint32_t size;
};

struct wndl_pe {
    struct wndl_bytes symbols; /* 18 bytes each */
    struct wndl_bytes strings; /* offsets into it include its size field */
    struct wndl_pe_part exports;
    struct wndl_pe_part exceptions;
    struct wndl_pe_part debug;
};

/*
 * Fills an object from a PE file. `arch` has no effect, since there is only one
 * architecture.
 */
enum wndl_status wndl_pe_open(struct wndl_object *object, const char *arch,
    struct wndl_error *err) WNDL_MUST_USE;

/* Whether there are COFF symbols. */
bool wndl_pe_has_symtab(const struct wndl_object *object);

/* Appends the functions of a PE file (struct wndl_function). */
enum wndl_status wndl_pe_read_functions(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err) WNDL_MUST_USE;

#endif
