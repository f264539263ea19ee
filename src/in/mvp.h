/* SPDX-License-Identifier: MIT */
/* mvp: results of the memory value profiler's tool (docs/formats/mvp.md). */
#ifndef WNDL_IN_MVP_H
#define WNDL_IN_MVP_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/mvp.h"

/* Whether a file begins as such results do. */
bool wndl_mvp_is(struct wndl_bytes file);

/*
 * Reads `file` into `mvp`, which is empty; keeps nothing of `file`. NOMEM;
 * MALFORMED with the line number; TRUNCATED if the end is missing.
 */
enum wndl_status wndl_mvp_read(struct wndl_mvp *mvp, struct wndl_bytes file,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
