/* SPDX-License-Identifier: MIT */
/*
 * pe_impl: what pe*.c share.
 *
 *   pe.c          headers, sections, the PDB that goes with it
 *   pe_symbols.c  functions, by COFF symbols or else exports
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
    struct wndl_bytes strings; /* offsets in it count its size field */
    struct wndl_pe_part exports;
    struct wndl_pe_part exceptions;
    struct wndl_pe_part debug;
};

/* Fills what an object has of a PE file. */
enum wndl_status wndl_pe_open(
    struct wndl_object *object, struct wndl_error *err) WNDL_MUST_USE;

/* Appends the functions of a PE file (struct wndl_function). */
enum wndl_status wndl_pe_read_functions(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err) WNDL_MUST_USE;

#endif
