/* SPDX-License-Identifier: MIT */
/*
 * core_memory: the memory of the process of a core file: as the core has it,
 * and as the binaries have it where the core left it out.
 */
#ifndef WNDL_SNAPSHOT_CORE_MEMORY_H
#define WNDL_SNAPSHOT_CORE_MEMORY_H

#include "snapshot/core_file.h"

/* A mapping of a binary. Invariant: start < end. */
struct wndl_core_backing {
    uint64_t start, end;     /* avma */
    struct wndl_bytes bytes; /* of the file, from there on to its end */
};

struct wndl_core_memory {
    const struct wndl_core_file *core;
    struct wndl_vec backings; /* struct wndl_core_backing, by start */
    uint64_t missing; /* the first byte that the last failed read lacked */
};

/* Borrows the core; mappings are added to `backings`, which is in the arena. */
void wndl_core_memory_init(struct wndl_core_memory *memory,
    struct wndl_arena *arena, const struct wndl_core_file *core);

/*
 * Copies `size` bytes at avma `address` to `to`. False: not all of them are
 * known. `memory` is a struct wndl_core_memory, as walks want it.
 */
bool wndl_core_memory_read(
    void *memory, uint64_t address, void *to, size_t size);

#endif
