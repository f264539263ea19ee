/* SPDX-License-Identifier: MIT */
/*
 * set: which of this process's modules have an unwind table. Whoever can
 * find tables says how; each module is asked for once, at the first walk that
 * comes to it. Signal-safe as the loader is; nobody waits for another.
 */
#ifndef WNDL_UNWIND_TABLE_SET_H
#define WNDL_UNWIND_TABLE_SET_H

#include "os/dlfind.h"
#include "unwind/table/table.h"

/*
 * The table of a module, or NULL. Called in walks; more than one at a time may
 * ask for the same. The table stays for as long as the process.
 */
typedef const struct wndl_table *wndl_table_loader(
    const struct wndl_dlmodule *module);

/* At the start of the process, before any walk. */
void wndl_table_set_init(wndl_table_loader *load);

/* Modules have been unloaded: ask anew. Any thread; async-signal-safe. */
void wndl_table_set_forget(void);

/* Of the module; NULL: none. */
const struct wndl_table *wndl_table_set_find(
    const struct wndl_dlmodule *module);

/* What a walk steps by at `pc`; kind EMPTY when no table knows. */
struct wndl_rule wndl_table_set_rule(uint64_t pc);

#endif
