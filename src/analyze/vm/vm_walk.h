/* SPDX-License-Identifier: MIT */
/*
 * vm_walk: where the call paths of a VM profile end. Valgrind's walks go on
 * past the outermost function, to what is no frame.
 */
#ifndef WNDL_ANALYZE_VM_VM_WALK_H
#define WNDL_ANALYZE_VM_VM_WALK_H

#include "analyze/names/extents.h"
#include "analyze/vm/vm_code_map.h"
#include "base/map.h"

#include <windlass/unwind.h>

struct wndl_vm_walks {
    struct wndl_arena arena;
    const struct wndl_vm *vm;
    struct wndl_vm_code_map map;
    struct wndl_vm_file *files; /* by index of the code */
    struct wndl_map outermost;  /* avma -> 1: has a caller, 2: has none */
    bool failed;                /* memory is out: answers are not right */
};

/* Ends with wndl_vm_walks_free(). False when memory is out. */
bool wndl_vm_walks_init(
    struct wndl_vm_walks *w, const struct wndl_vm *vm, struct wndl_mem *mem);
void wndl_vm_walks_free(struct wndl_vm_walks *w);

/*
 * The number of frames of the path `ips` that are frames, at least 1. `end` is
 * COMPLETE, TRUNCATED for a path that is `cut`, or NO_RULE where Valgrind found
 * no caller, or a wrong one.
 */
uint32_t wndl_vm_walk_count(struct wndl_vm_walks *w, const uint64_t *ips,
    uint32_t count, bool cut, enum wndl_walk_end *end);

#endif
