/* SPDX-License-Identifier: MIT */
/*
 * heap_alloc_fn_names: the table of the functions that only allocate, from libc
 * to Node. Each list ends with NULL. tests/oracle/alloc_fns_vs_libraries.py
 * compares it with the symbol tables of the libraries.
 */
#ifndef WNDL_ANALYZE_HEAP_ALLOC_FN_NAMES_H
#define WNDL_ANALYZE_HEAP_ALLOC_FN_NAMES_H

/* Whole names, without the types of parameters. */
extern const char *const wndl_alloc_fn_names[];

/* Methods of Mozilla's policies of allocation, and of Node's, and with what the
 * names of their classes begin. */
extern const char *const wndl_alloc_fn_methods[];
extern const char *const wndl_alloc_fn_owners[];

/* With what the names of whole families begin. */
extern const char *const wndl_alloc_fn_families[];

/* The ends of what cgo makes for each package of Go. */
extern const char *const wndl_alloc_fn_endings[];

#endif
