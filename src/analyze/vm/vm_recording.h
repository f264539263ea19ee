/* SPDX-License-Identifier: MIT */
/* vm_recording: the stacks of a VM profile as a recording. */
#ifndef WNDL_ANALYZE_VM_VM_RECORDING_H
#define WNDL_ANALYZE_VM_VM_RECORDING_H

#include "base/status.h"
#include "model/vm.h"

/*
 * Writes a recording of `vm` to `fd`, which stays open. One instruction counts
 * as one nanosecond of CPU time. NOMEM, IO.
 */
enum wndl_status wndl_vm_record(
    const struct wndl_vm *vm, int fd, struct wndl_error *err) WNDL_MUST_USE;

#endif
