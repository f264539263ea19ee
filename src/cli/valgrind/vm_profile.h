/* SPDX-License-Identifier: MIT */
/* vm_profile: results of the VM profiler, read and named. */
#ifndef WNDL_CLI_VALGRIND_VM_PROFILE_H
#define WNDL_CLI_VALGRIND_VM_PROFILE_H

#include "base/bytes.h"
#include "cli/shared/symbol_options.h"
#include "model/vm_view.h"

struct wndl_vm_profile {
    struct wndl_vm vm;
    struct wndl_callgraph graph;
    struct wndl_vm_startup startup;
    struct wndl_vec sites; /* struct wndl_vm_site */
    struct wndl_vm_paths paths;
    uint32_t memory; /* index of the size that the graph's faults are of */
};

/*
 * Reads `bytes` of the file `path` and names its code. `memory` is a size in
 * bytes, 0 for the smallest. False, after an error message, where the file is
 * damaged or has no such size; else it ends with wndl_vm_profile_close().
 */
bool wndl_vm_profile_open(struct wndl_vm_profile *profile,
    struct wndl_bytes bytes, const char *path, uint64_t memory,
    const struct wndl_symbol_options *symbols);
void wndl_vm_profile_close(struct wndl_vm_profile *profile);

/* The view for writers; lives as long as `profile`. */
struct wndl_vm_view wndl_vm_profile_view(const struct wndl_vm_profile *profile);

#endif
