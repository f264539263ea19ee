/* SPDX-License-Identifier: MIT */
/* vm_code_map: which file's code is at an address of a VM profile. */
#ifndef WNDL_ANALYZE_VM_VM_CODE_MAP_H
#define WNDL_ANALYZE_VM_VM_CODE_MAP_H

#include "model/vm.h"

/* Addresses [start, end) of the code of index `code` in the profile. */
struct wndl_vm_piece {
    uint64_t start, end;
    uint32_t code;
};

struct wndl_vm_code_map {
    struct wndl_vec pieces; /* struct wndl_vm_piece, ascending, disjoint */
};

/*
 * Fills `map` for `codes` (struct wndl_vm_code) with memory of `arena`. Code
 * that was mapped later stands for all that ran at its addresses. False when
 * memory is out.
 */
bool wndl_vm_code_map_fill(struct wndl_vm_code_map *map,
    struct wndl_arena *arena, const struct wndl_vec *codes);

/* The piece around `ip`; NULL: no file's code is there. */
const struct wndl_vm_piece *wndl_vm_code_map_find(
    const struct wndl_vm_code_map *map, uint64_t ip);

#endif
