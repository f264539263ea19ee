/* SPDX-License-Identifier: MIT */
/*
 * operators: distinguishes blocks of C++'s operator new from those of malloc,
 * and those that operator delete frees from those that the program gives to
 * free(). The C++ library's operators call malloc and free, often by a jump, so
 * hooks of these see both alike. They differ in the code: where a block's stack
 * begins, and which function the call before a return address calls.
 *
 * x86-64 only; elsewhere nothing is known. Not known either are operators of
 * the program's own, a C++ library that is linked statically or loaded later,
 * and frees through a pointer or by a jump.
 */
#ifndef WNDL_RT_HEAP_RECORD_OPERATORS_H
#define WNDL_RT_HEAP_RECORD_OPERATORS_H

#include "os/dlfind.h"
#include "rec/heap.h"
#include "rt/core/rt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WNDL_RT_OPERATORS = 24 }; /* at most */

/* The C++ library, which has all of the program's operators. */
struct wndl_rt_operators {
    struct wndl_dlmodule library;
    const void *functions[WNDL_RT_OPERATORS]; /* each new, then each delete */
    size_t makers, count;                     /* of new, of both */
    const void *free; /* the function that modules import by that name */
};

extern WNDL_RT_HIDDEN bool wndl_rt_operators_known;

/* Copies them. Not for signal handlers. */
void wndl_rt_operators_know(const struct wndl_rt_operators *operators);

/* The taker of a block whose stack begins at this address. */
enum wndl_heap_whose wndl_rt_operators_took(uint64_t address);

/* The giver of a block, by the return address of the free. */
enum wndl_heap_whose wndl_rt_operators_freed(uint64_t address);

#endif
