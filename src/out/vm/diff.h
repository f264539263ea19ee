/* SPDX-License-Identifier: MIT */
/* diff: two VM profiles side by side, for people to read. */
#ifndef WNDL_OUT_VM_DIFF_H
#define WNDL_OUT_VM_DIFF_H

#include "base/buf.h"
#include "model/vm_view.h"

/*
 * Appends totals and the functions whose faults changed most, at most
 * `max_rows`. Functions are the same if their names are. False when memory is
 * out.
 */
bool wndl_vm_diff(struct wndl_buf *out, const struct wndl_vm_view *earlier,
    const struct wndl_vm_view *later, size_t max_rows);

#endif
