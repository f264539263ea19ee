/* SPDX-License-Identifier: MIT */
/* vm_sites: faults by the line of the program that allocated the block. */
#ifndef WNDL_ANALYZE_VM_VM_SITES_H
#define WNDL_ANALYZE_VM_VM_SITES_H

#include "analyze/vm/vm_places.h"

/*
 * Appends the sites of `vm` with faults in the memory of index `memory` to
 * `sites` (struct wndl_vm_site), most faults first; texts live as long as `g`.
 * A site is the innermost frame that is not an allocation function. NOMEM.
 */
enum wndl_status wndl_vm_sites_find(struct wndl_vec *sites,
    const struct wndl_vm_places *places, struct wndl_callgraph *g,
    const struct wndl_vm *vm, uint32_t memory) WNDL_MUST_USE;

/* A call stack that allocates, innermost first. */
struct wndl_vm_stack_ips {
    const uint64_t *ips;
    uint32_t count;
};

/* The code of a site, and its place. */
struct wndl_vm_site_at {
    uint32_t place;
    uint64_t ip;
};

/* The site of an allocation, or the one `up` frames outside it; the outermost
 * place if there are not so many. */
struct wndl_vm_site_at wndl_vm_site_place(const struct wndl_vm_places *places,
    const struct wndl_callgraph *g, struct wndl_vm_stack_ips stack,
    uint32_t up);

/* The id of "function (file:line)" for a place. False when memory is out. */
bool wndl_vm_site_text(struct wndl_callgraph *g, uint32_t place, uint32_t *id);

#endif
