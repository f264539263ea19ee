/* SPDX-License-Identifier: MIT */
/*
 * dlfind: finds the loaded module that covers an address of this process, by
 * glibc's lock-free _dl_find_object (glibc >= 2.35), or else in ld.so's list
 * (os/loader_list.h). Signal-safe: no lock, no allocation, with _dl_find_object
 * no system call. It does not know the contents of .eh_frame_hdr.
 */
#ifndef WNDL_OS_DLFIND_H
#define WNDL_OS_DLFIND_H

#include "base/addr.h"
#include "base/bytes.h"

#include <stdbool.h>

/*
 * A module. Valid until it is unloaded. 32-bit Arm has EXIDX, others a header.
 */
struct wndl_dlmodule {
    uint64_t map_start, map_end; /* avma */
    wndl_bias bias;
    const char *name;            /* link_map's; "" for the main program */
    const void *link_map;        /* ld.so's record of it; NULL: not known */
    const uint8_t *eh_frame_hdr; /* PT_GNU_EH_FRAME; NULL if it has none */
    struct wndl_bytes exidx;     /* PT_ARM_EXIDX; empty if it has none */
};

/* False if no module covers `pc`. */
bool wndl_dlfind(uint64_t pc, struct wndl_dlmodule *module);

/*
 * The program headers in memory (ElfW(Phdr)), if they are where they are surely
 * mapped: on the page of the ELF header, where the kernel says (the main
 * program), or where ld.so says. Else empty.
 */
struct wndl_bytes wndl_dlmodule_headers(const struct wndl_dlmodule *module);

/*
 * The bytes from `address` to the end of the module's readable, file-backed
 * segment that contains it, by its program headers. Empty if no segment does.
 */
struct wndl_bytes wndl_dlmodule_from(
    const struct wndl_dlmodule *module, uint64_t address);

/* The same, but all of the segment. */
struct wndl_bytes wndl_dlmodule_around(
    const struct wndl_dlmodule *module, uint64_t address);

#endif
