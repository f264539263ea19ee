/* SPDX-License-Identifier: MIT */
/*
 * table_maker: makes unwind tables of binaries of which a part of the code has
 * no rules at all, from that code (cfi_import/code/frames.h). A thread of its
 * own does it, because a large library takes seconds; it takes binaries with
 * little such code first. All calls here are of one other thread.
 */
#ifndef WNDL_COLLECT_CODE_TABLE_MAKER_H
#define WNDL_COLLECT_CODE_TABLE_MAKER_H

#include "base/buf.h"
#include "os/file.h"

#include <stdint.h>

struct wndl_table_maker;

/*
 * A maker without a thread, which its first binary starts. Borrows the folders
 * for debug files (obj/find/debugfile.h). NULL when memory is out.
 */
struct wndl_table_maker *wndl_table_maker_new(const char *const *debug_dirs);

/* Ends the work that has begun, and closes all files. NULL is ignored. */
void wndl_table_maker_free(struct wndl_table_maker *maker);

/*
 * Hands the file of a binary over, also when memory is out: then there will be
 * no table. `path` is borrowed until then; `owner` comes back with the table.
 */
void wndl_table_maker_add(struct wndl_table_maker *maker,
    struct wndl_file *file, const char *path, void *owner);

/*
 * Moves the next finished table to the caller. It is empty if the binary needs
 * none, or if none could be made. False if nothing has been finished since.
 */
bool wndl_table_maker_next(
    struct wndl_table_maker *maker, void **owner, struct wndl_buf *table);

/* Waits for the binaries that take little time, for `ns` at most. */
void wndl_table_maker_wait(struct wndl_table_maker *maker, uint64_t ns);

/*
 * Ends the thread, before fork(). What it had begun is begun anew by the thread
 * that the next call of the two above starts, in parent or child.
 */
void wndl_table_maker_rest(struct wndl_table_maker *maker);

#endif
