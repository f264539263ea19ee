/* SPDX-License-Identifier: MIT */
/* vm: results of the VM profiler's tool (docs/formats/vmprof.md). */
#ifndef WNDL_IN_VM_H
#define WNDL_IN_VM_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/vm.h"

/* Whether a file begins as such results do. */
bool wndl_vm_is(struct wndl_bytes file);

/*
 * Reads `file` into `vm`, which is empty; keeps nothing of `file`. NOMEM;
 * MALFORMED with the line number; TRUNCATED if the end is missing.
 */
enum wndl_status wndl_vm_read(struct wndl_vm *vm, struct wndl_bytes file,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
