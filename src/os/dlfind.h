/* SPDX-License-Identifier: MIT */
/*
 * dlfind: the loaded module that covers an address of this process, through
 * glibc's lock-free _dl_find_object (glibc >= 2.35). Signal-safe: no lock, no
 * allocation, no system call. Knows nothing of what is inside .eh_frame_hdr.
 */
#ifndef WNDL_OS_DLFIND_H
#define WNDL_OS_DLFIND_H

#include "base/addr.h"
#include "base/bytes.h"

#include <stdbool.h>

/* Valid until the module is unloaded. 32-bit Arm has EXIDX, others a header. */
struct wndl_dlmodule {
    uint64_t map_start, map_end; /* avma */
    wndl_bias bias;
    const char *name;            /* link_map's; "" for the main program */
    const uint8_t *eh_frame_hdr; /* PT_GNU_EH_FRAME; NULL when it has none */
    struct wndl_bytes exidx;     /* PT_ARM_EXIDX; empty when it has none */
};

/* False when no module covers `pc`. */
bool wndl_dlfind(uint64_t pc, struct wndl_dlmodule *module);

/*
 * The bytes from `address` to the end of the module's readable, file-backed
 * segment that holds it, by the program headers in memory. Empty when no
 * segment does, or when the headers are not where they surely are mapped: on
 * the page of the ELF header, or for the main program where the kernel says.
 */
struct wndl_bytes wndl_dlmodule_from(
    const struct wndl_dlmodule *module, uint64_t address);

/* The same, but all of the segment. */
struct wndl_bytes wndl_dlmodule_around(
    const struct wndl_dlmodule *module, uint64_t address);

#endif
