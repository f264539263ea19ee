/* SPDX-License-Identifier: MIT */
/*
 * pprof: profiles as Google's pprof reads them: the messages of
 * github.com/google/pprof's profile.proto, by gzip or as they are.
 */
#ifndef WNDL_IN_PPROF_H
#define WNDL_IN_PPROF_H

#include "model/graph_stack.h"

/* Whether bytes that begin so are one, or compressed. */
bool wndl_pprof_is(struct wndl_bytes file);

/*
 * Adds its samples to `g`, by an event for each of its types. Samples and
 * other messages that cannot be read are counted in `damage`, by their offset
 * in the decompressed bytes. NOMEM, LIMIT; TRUNCATED and MALFORMED for
 * damaged compressed data, and if nothing tells what its samples are.
 */
enum wndl_status wndl_pprof_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
