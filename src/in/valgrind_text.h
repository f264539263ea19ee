/* SPDX-License-Identifier: MIT */
/*
 * valgrind_text: stacks as Valgrind's tools print them,
 *
 *   ==4711==    at 0x4C2FB55: malloc (vg_replace_malloc.c:299)
 *   ==4711==    by 0x10866D: main (in /tmp/app)
 *
 * with or without the part before "at". All other lines only separate stacks.
 */
#ifndef WNDL_IN_VALGRIND_TEXT_H
#define WNDL_IN_VALGRIND_TEXT_H

#include "model/graph_stack.h"

/* Whether a line of text is a frame of a stack. */
bool wndl_valgrind_text_is(struct wndl_bytes line);

/*
 * Adds the stacks to `g`, with the event "Stacks", one for each. Valgrind does
 * not mark truncated stacks. So stacks with the largest number of frames that
 * do not begin in a function in which programs and threads start are put below
 * "[truncated]". A "by" without an "at" before it is counted in `damage`.
 * NOMEM, LIMIT.
 */
enum wndl_status wndl_valgrind_text_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
