/* SPDX-License-Identifier: MIT */
/*
 * code: the modules of a process and their call frame
 * information, as its memory map tells.
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
    uint64_t changed;      /* how often the modules were others */
    uint64_t again, pause; /* when the map may be read next; ns */
    bool is_stale;         /* the map is read when it is needed next */
    uint16_t machine;      /* EM_*, 0: not known */
};

void wndl_offcpu_code_init(struct wndl_offcpu_code *code, pid_t pid);
void wndl_offcpu_code_free(struct wndl_offcpu_code *code);

/*
 * Reads the map, since it is stale, or code was met that is in no module; then
 * less and less often if that does not help. True if the modules are others
 * than before.
 */
bool wndl_offcpu_code_refresh(struct wndl_offcpu_code *code,
    struct wndl_binaries *binaries, pid_t pid, uint64_t now);

/* The place in the list of the module that covers `address`, or `count`. */
size_t wndl_offcpu_code_find(
    const struct wndl_offcpu_code *code, uint64_t address);

#endif
