/* SPDX-License-Identifier: MIT */
/*
 * modules: the list of the program's modules, in the memory shared with the
 * collector.
 */
#ifndef WNDL_RT_WALK_MODULES_H
#define WNDL_RT_WALK_MODULES_H

#include "base/bytes.h"
#include "os/dlfind.h"

#include <stdbool.h>
#include <stdint.h>

enum { WNDL_RT_MODULE_PATH = 1024 };

/*
 * Makes sure that the module of a code address is listed. *owner receives the
 * number of its row plus one, and is left alone if there is no module.
 */
bool wndl_rt_module_note(uint64_t address, uint32_t *owner);

/* The GNU build-id, in the module's memory; empty if it has none. */
struct wndl_bytes wndl_rt_module_build_id(const struct wndl_dlmodule *module);

/*
 * The path of the file that its first page is mapped from, without links; under
 * an emulator, the path outside of it. False if it is not known. Signal-safe.
 */
bool wndl_rt_module_path(
    const struct wndl_dlmodule *module, char path[WNDL_RT_MODULE_PATH]);

/* Whether Go's linker made the module. */
bool wndl_rt_module_is_go(const struct wndl_dlmodule *module);

/* Searches for listed modules that were unloaded. */
void wndl_rt_modules_recheck(void);

#endif
