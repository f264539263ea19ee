/* SPDX-License-Identifier: MIT */
/* jit_fixture: generated code, its rules, and a walk through it. */
#ifndef WNDL_TESTS_JIT_FIXTURE_H
#define WNDL_TESTS_JIT_FIXTURE_H

#include "testlib.h"

#include "cfibuild.h"

#include <windlass/jit.h>
#include <windlass/unwind.h>

/* Frames of a walk, pieces of code in a registry, bytes. */
enum { MAX = 64, ROOM = 8, PAGE = 4096 };

/* The unwinder and the stack of one thread. */
struct walking {
    struct wndl_unwinder *unwinder;
    struct wndl_stack_range range;
    struct wndl_frame frames[MAX];
    struct wndl_walk walk;
};

extern struct walking here;
extern uint8_t *page; /* generated code */

/* Of the calling thread; the caller frees the unwinder. */
void begin(struct walking *w);

/* A registry for `max` pieces of code, which the caller frees. */
struct wndl_jit *new_jit(size_t max);

/* The rule of code that pushes nothing. */
extern const struct wndl_jit_rule plain;

/* Adds code with that rule. */
enum wndl_status add(struct wndl_jit *jit, uint64_t start, uint64_t size);

/* Of a group of tests: `here`, and `page` with the generated code. */
int set_up(void **state);
int tear_down(void **state);

#if defined(__x86_64__)

/* long code(long (*call)(void *), void *argument) */
extern const uint8_t generated[21];

/* The rules of that code. */
extern const struct wndl_jit_rule rules[5];

typedef long generated_code(long (*call)(void *), void *argument);

/* The code as it is in `page`, with its rules. */
struct wndl_jit_code code_here(void);

/* Checks whether a walk leads through three calls of the code. */
void passes(struct wndl_jit *jit, bool expected);

/* An .eh_frame for the code, with its terminator. */
void build_frames(struct cfi_build *b);

#endif

#endif
