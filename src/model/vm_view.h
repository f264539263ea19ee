/* SPDX-License-Identifier: MIT */
/* vm_view: a VM profile with names, as writers of reports take it. */
#ifndef WNDL_MODEL_VM_VIEW_H
#define WNDL_MODEL_VM_VIEW_H

#include "model/callgraph.h"
#include "model/vm.h"

/* The graph's events, in this order. */
enum wndl_vm_event {
    WNDL_VM_IA,  /* instructions fetched */
    WNDL_VM_IF1, /* first touches by instruction fetches */
    WNDL_VM_IFC, /* clean faults */
    WNDL_VM_IFD, /* dirty faults */
    WNDL_VM_DA,  /* the same four for data */
    WNDL_VM_DF1,
    WNDL_VM_DFC,
    WNDL_VM_DFD,
    WNDL_VM_EVENTS,
};

struct wndl_vm_view {
    const struct wndl_vm *vm;
    const struct wndl_callgraph *graph;
    const struct wndl_vm_startup *startup;
    const struct wndl_vec *sites; /* struct wndl_vm_site */
    const struct wndl_vm_paths *paths;
    uint32_t memory; /* index of the size whose faults are shown */
};

#endif
