/* SPDX-License-Identifier: MIT */
/* json: a VM profile as JSON (docs/formats/vmprof-json.md). */
#ifndef WNDL_OUT_VM_JSON_H
#define WNDL_OUT_VM_JSON_H

#include "base/buf.h"
#include "model/vm_view.h"

/* Appends all of it, one object. False when memory is out. */
bool wndl_vm_json(struct wndl_buf *out, const struct wndl_vm_view *view);

#endif
