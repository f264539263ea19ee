/* SPDX-License-Identifier: MIT */
/*
 * unwind_tables: the unwind tables that $WINDLASS_UNWIND_TABLES leads to.
 */
#ifndef WNDL_COLLECT_UNWIND_TABLES_H
#define WNDL_COLLECT_UNWIND_TABLES_H

#include "base/arena.h"
#include "base/bytes.h"

/*
 * A copy of the table of the binary with this machine (EM_*) and build-id, in
 * the arena. Empty when there is none that is whole and its own.
 */
struct wndl_bytes wndl_unwind_table_copy(
    struct wndl_arena *arena, uint16_t machine, struct wndl_bytes build_id);

#endif
