/* SPDX-License-Identifier: MIT */
/*
 * made_tables: the unwind tables that the collector makes for modules, in the
 * shared memory. Nothing is opened or copied. Signal-safe.
 */
#ifndef WNDL_RT_WALK_MADE_TABLES_H
#define WNDL_RT_WALK_MADE_TABLES_H

#include "os/dlfind.h"
#include "unwind/table/table.h"

/*
 * Drops the tables of a block that is gone. Once a new one is mapped, while
 * nobody else walks.
 */
void wndl_rt_made_tables_start(void);

/*
 * Takes tables that are new in the block, and forgets the rules of their
 * modules. One thread does; others go on with what there was.
 */
void wndl_rt_made_tables_take(void);

/* Whether any were taken. */
bool wndl_rt_made_tables_are_there(void);

/* The table of a module, or NULL. It stays as long as the block. */
const struct wndl_table *wndl_rt_made_table(
    const struct wndl_dlmodule *module, struct wndl_bytes build_id);

#endif
