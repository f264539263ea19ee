/* SPDX-License-Identifier: MIT */
/*
 * set: the unwind tables of this process's modules. A loader finds them; it is
 * asked once for each module, at the first walk that reaches it. Signal-safe as
 * the loader is; nobody waits for another.
 */
#ifndef WNDL_UNWIND_TABLE_SET_H
#define WNDL_UNWIND_TABLE_SET_H

#include "os/dlfind.h"
#include "unwind/table/table.h"

/*
 * Finds the table of a module, or NULL. It is called in walks, and for the same
 * module perhaps by several at the same time. The table stays as long as the
 * process.
 */
typedef const struct wndl_table *wndl_table_loader(
    const struct wndl_dlmodule *module);

/* Sets the loader, at the start of the process, before any walk. */
void wndl_table_set_init(wndl_table_loader *load);

/* Asks anew, because modules were unloaded. Any thread; async-signal-safe. */
void wndl_table_set_forget(void);

/* The table of the module; NULL: none. */
const struct wndl_table *wndl_table_set_find(
    const struct wndl_dlmodule *module);

/* The rule for a step at `pc`; its kind is EMPTY if no table has one. */
struct wndl_rule wndl_table_set_rule(uint64_t pc);

#endif
