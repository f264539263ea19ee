/* SPDX-License-Identifier: MIT */
/*
 * made_tables: unwind tables for binaries of which a part has rules in a
 * .debug_frame only, their own or that of their debug file. They are made when
 * a binary is first mapped, and given to the recorded process in its block, as
 * those of table_maker.h are.
 */
#ifndef WNDL_COLLECT_CODE_MADE_TABLES_H
#define WNDL_COLLECT_CODE_MADE_TABLES_H

#include "base/bytes.h"
#include "rec/shm.h"

#include <windlass/unwind.h>

struct wndl_arena;
struct wndl_binary;
struct wndl_object;

/*
 * The table of `object`, in the arena. Empty if .eh_frame lacks nothing that
 * .debug_frame has, or if that is larger than 128 MiB. `dirs` is as in
 * obj/find/debugfile.h.
 */
struct wndl_bytes wndl_made_table_of(struct wndl_object *object,
    const char *const *dirs, struct wndl_arena *arena);

/*
 * The tables that a process has been given. Its block has them too, but the
 * process may write there.
 */
struct wndl_made_tables {
    uint32_t count;
    uint32_t bytes;
    struct {
        const uint8_t *table; /* the binary's */
        uint64_t bias;
    } all[WNDL_SHM_MADE];
};

/* The modules that a process maps, and their binaries. */
struct wndl_made_for {
    const struct wndl_remote_module *modules;
    struct wndl_binary *const *binaries;
    size_t count;
};

/*
 * Gives a process the tables of its modules, except those that it has. A table
 * for which the block has no room is left out.
 */
void wndl_made_tables_give(struct wndl_made_tables *given, struct wndl_shm *shm,
    const struct wndl_made_for *code);

#endif
