/* SPDX-License-Identifier: MIT */
/* vm_text: a VM profile for people to read, as cg_annotate lays one out. */
#ifndef WNDL_OUT_VM_TEXT_H
#define WNDL_OUT_VM_TEXT_H

#include "base/buf.h"
#include "model/callgraph.h"
#include "model/vm.h"

struct wndl_vm_text_layout {
    uint32_t memory; /* index of the size whose faults are shown */
    size_t max_rows; /* of each table */
};

/*
 * Appends the report to `out`. `g` holds the same profile by function and
 * line, with the events Ia, If1, Ifc, Ifd, Da, Df1, Dfc, Dfd in this order.
 * False when memory is out.
 */
bool wndl_vm_text(struct wndl_buf *out, const struct wndl_vm *vm,
    const struct wndl_callgraph *g, const struct wndl_vm_text_layout *layout);

/* "250,840" into `text`; returns it. */
char *wndl_vm_number(uint64_t value, char text[32]);

#endif
