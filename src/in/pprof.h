/* SPDX-License-Identifier: MIT */
/*
 * pprof: profiles in the format of Google's pprof: the messages of
 * github.com/google/pprof's profile.proto, compressed by gzip or plain.
 * Several may be concatenated.
 */
#ifndef WNDL_IN_PPROF_H
#define WNDL_IN_PPROF_H

#include "model/graph_stack.h"

/* Whether a file that begins so is a profile, or compressed. */
bool wndl_pprof_is(struct wndl_bytes file);

/*
 * Adds its samples to `g`, with an event for each of its types. Samples and
 * other messages that cannot be read are counted in `damage`, with their offset
 * in the decompressed bytes. NOMEM, LIMIT; TRUNCATED and MALFORMED for damaged
 * compressed data, and if the types of the samples are missing.
 */
enum wndl_status wndl_pprof_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
