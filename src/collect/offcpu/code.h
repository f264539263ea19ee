/* SPDX-License-Identifier: MIT */
/*
 * code: the modules of a process and their call frame information, from its
 * memory map.
 */
#ifndef WNDL_COLLECT_OFFCPU_CODE_H
#define WNDL_COLLECT_OFFCPU_CODE_H

#include "collect/code/binaries.h"

#include <windlass/unwind.h>

struct wndl_offcpu_code {
    struct wndl_arena arena;
    struct wndl_remote_module *modules; /* by start */
    struct wndl_binary **binaries;      /* of each module */
    size_t count;
    uint64_t changed; /* number of changes of the modules so far */
    /* ns: the earliest time of the next read of the map */
    uint64_t again, pause;
    uint32_t made;    /* tables that had been made when they were renewed */
    bool is_stale;    /* the map must be read before the next use */
    uint16_t machine; /* EM_*, 0: not known */
};

/* Makes it empty; the map is read at the first wndl_offcpu_code_refresh. */
void wndl_offcpu_code_init(struct wndl_offcpu_code *code, pid_t pid);
void wndl_offcpu_code_free(struct wndl_offcpu_code *code);

/*
 * Reads the map, if it is stale or an address was found in no module; then less
 * and less often if that does not help. `now` is CLOCK_MONOTONIC ns. True if
 * the modules have changed.
 */
bool wndl_offcpu_code_refresh(struct wndl_offcpu_code *code,
    struct wndl_binaries *binaries, pid_t pid, uint64_t now);

/*
 * Adds the code of a mapping, as the kernel reports a new one: the process may
 * be gone before its map can be read.
 */
void wndl_offcpu_code_add(struct wndl_offcpu_code *code,
    struct wndl_binaries *binaries, pid_t pid,
    const struct wndl_mapping *mapping);

/* Takes over the modules of another process, whose child this one is. */
void wndl_offcpu_code_copy(
    struct wndl_offcpu_code *code, const struct wndl_offcpu_code *from);

/*
 * Gives the modules the tables that their binaries have got since. `made` is
 * the number of tables that the cache of binaries has made by now.
 */
void wndl_offcpu_code_renew(struct wndl_offcpu_code *code, uint32_t made);

/*
 * Orders rules for the code at `address`, if it has none (wndl_binaries_want).
 */
bool wndl_offcpu_code_want(const struct wndl_offcpu_code *code,
    struct wndl_binaries *binaries, uint64_t address);

/* The index of the module that covers `address`; `count` if none does. */
size_t wndl_offcpu_code_find(
    const struct wndl_offcpu_code *code, uint64_t address);

#endif
