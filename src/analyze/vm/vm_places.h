/* SPDX-License-Identifier: MIT */
/* vm_places: the source places of the addresses of a VM profile. */
#ifndef WNDL_ANALYZE_VM_VM_PLACES_H
#define WNDL_ANALYZE_VM_VM_PLACES_H

#include "analyze/names/profile_names.h"
#include "model/callgraph.h"
#include "model/vm.h"

/* The places of one address; inlined ones come last. */
struct wndl_vm_place {
    uint64_t ip;
    uint32_t first; /* index into `places` */
    uint32_t count; /* at least 1 */
};

struct wndl_vm_places {
    struct wndl_vec addresses; /* struct wndl_vm_place, by ip, distinct */
    struct wndl_vec places;    /* uint32_t, of the graph */
};

/* An empty one, with memory of `g`. */
void wndl_vm_places_init(
    struct wndl_vm_places *places, struct wndl_callgraph *g);

/* Adds an address, before wndl_vm_places_name(). False when memory is out. */
bool wndl_vm_places_add(struct wndl_vm_places *places, uint64_t ip);

/*
 * Looks up the addresses that were added in `codes` (struct wndl_vm_code), one
 * binary open at a time, and adds places to `g`; the results live as long as
 * `g`. An address without a name is in the function "???" of its file. NOMEM.
 */
enum wndl_status wndl_vm_places_name(struct wndl_vm_places *places,
    struct wndl_callgraph *g, const struct wndl_vec *codes,
    const struct wndl_symbol_sources *sources) WNDL_MUST_USE;

/* The same for every address of `vm`, from an empty one on. */
enum wndl_status wndl_vm_find_places(struct wndl_vm_places *places,
    struct wndl_callgraph *g, const struct wndl_vm *vm,
    const struct wndl_symbol_sources *sources) WNDL_MUST_USE;

/* The places of `ip`, which must be one of the addresses. */
const struct wndl_vm_place *wndl_vm_place_at(
    const struct wndl_vm_places *places, uint64_t ip);

/* Its innermost place. */
uint32_t wndl_vm_place_innermost(
    const struct wndl_vm_places *places, uint64_t ip);

#endif
