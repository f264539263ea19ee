/* SPDX-License-Identifier: MIT */
/* mvp_json: a memory value profile as JSON (docs/formats/mvp-json.md). */
#ifndef WNDL_OUT_VM_MVP_JSON_H
#define WNDL_OUT_VM_MVP_JSON_H

#include "base/buf.h"
#include "model/mvp_view.h"

/* Appends the whole of it to `out`. False when memory is out. */
bool wndl_mvp_json(struct wndl_buf *out, const struct wndl_mvp_view *view);

#endif
