/* SPDX-License-Identifier: MIT */
/*
 * unwind_tables: the unwind tables that $WINDLASS_UNWIND_TABLES leads to.
 */
#ifndef WNDL_COLLECT_UNWIND_TABLES_H
#define WNDL_COLLECT_UNWIND_TABLES_H

#include "base/arena.h"
#include "base/bytes.h"
#include "obj/object.h"

/* A binary's table. Bytes empty: there is none. */
struct wndl_unwind_table {
    struct wndl_bytes bytes;
    /* Of Chromium's unwind info v2: svma and size of .text; size 0: ours. */
    uint64_t text, text_size;
};

/*
 * A copy of the binary's table, in the arena: one of ours that is whole and, by
 * machine and build-id, its own; else, of 32-bit Arm, Chromium's, which says
 * neither. Reads section headers of `object`.
 */
struct wndl_unwind_table wndl_unwind_table_copy(
    struct wndl_arena *arena, struct wndl_object *object);

#endif
