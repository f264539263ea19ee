/* SPDX-License-Identifier: MIT */
/* text: a VM profile as text, in the layout of cg_annotate. */
#ifndef WNDL_OUT_VM_TEXT_H
#define WNDL_OUT_VM_TEXT_H

#include "base/buf.h"
#include "model/vm_view.h"

/* Appends the report to `out`; each table has at most `max_rows` rows. False
 * when memory is out. */
bool wndl_vm_text(
    struct wndl_buf *out, const struct wndl_vm_view *view, size_t max_rows);

/* "250,840" into `text`; returns it. */
char *wndl_vm_number(uint64_t value, char text[32]);

#endif
