/* SPDX-License-Identifier: MIT */
/*
 * pprof_text: profiles in the text that came before pprof's format. gperftools
 * writes heaps in it, and Go everything that it is asked for with `debug=1`:
 *
 *   heap profile: 2: 96 [5: 240] @ heap/1048576
 *   1: 48 [2: 96] @ 0x4a1b2c 0x4a0f10
 *   #	0x4a1b2b	main.f+0x1b	/src/main.go:12
 *
 * Go's frames have names; gperftools has a table of mappings at the end.
 */
#ifndef WNDL_IN_PPROF_TEXT_H
#define WNDL_IN_PPROF_TEXT_H

#include "model/graph_stack.h"

/* Whether a line of text begins such a profile. */
bool wndl_pprof_text_is(struct wndl_bytes line);

/*
 * Adds its stacks to `g`, with pprof's events: inuse_objects, inuse_space,
 * alloc_objects and alloc_space of heaps, as the file has them; goroutine or
 * threadcreate; contentions and delay. Other lines are counted in `damage`.
 * NOMEM, LIMIT.
 */
enum wndl_status wndl_pprof_text_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
