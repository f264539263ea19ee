/* SPDX-License-Identifier: MIT */
/*
 * modules: the list of the program's modules, in the memory that is shared with
 * the collector.
 */
#ifndef WNDL_RT_WALK_MODULES_H
#define WNDL_RT_WALK_MODULES_H

#include "base/bytes.h"
#include "os/dlfind.h"

#include <stdbool.h>
#include <stdint.h>

enum { WNDL_RT_MODULE_PATH = 1024 };

/*
 * Makes sure that the module of a code address is listed. `*epoch` becomes the
 * first epoch of its row; it is left alone if there is no module.
 */
bool wndl_rt_module_note(uint64_t address, uint32_t *epoch);

/* The GNU build-id, in the module's memory; empty: it has none. */
struct wndl_bytes wndl_rt_module_build_id(const struct wndl_dlmodule *module);

/*
 * The path of the file that its first page is mapped from, without links; under
 * an emulator, the path outside of it. False when it is not known. Signal-safe.
 */
bool wndl_rt_module_path(
    const struct wndl_dlmodule *module, char path[WNDL_RT_MODULE_PATH]);

/* Whether Go's linker made it. */
bool wndl_rt_module_is_go(const struct wndl_dlmodule *module);

/* Looks for listed modules that are gone. */
void wndl_rt_modules_recheck(void);

#endif
