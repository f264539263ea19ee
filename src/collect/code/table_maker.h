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
#include "collect/code/table_cache.h"
#include "os/file.h"

#include <stdint.h>

struct wndl_table_maker;

/* A binary for which a table is wanted. */
struct wndl_table_order {
    struct wndl_file *file; /* is taken over, also when memory is out */
    const char *path;       /* borrowed until the table comes */
    void *owner;            /* comes back with the table */
    /* NULL, or where the result is kept for later; it is copied */
    const struct wndl_kept_table *kept;
};

/* A finished table. It is empty if none is needed, or none could be made. */
struct wndl_table_made {
    void *owner;
    struct wndl_buf table;
    enum wndl_status status; /* not OK: it could not be kept */
    struct wndl_error err;
};

/*
 * A maker without a thread, which its first binary starts. Borrows the folders
 * for debug files (obj/find/debugfile.h). NULL when memory is out.
 */
struct wndl_table_maker *wndl_table_maker_new(const char *const *debug_dirs);

/* Ends the work that has begun, and closes all files. NULL is ignored. */
void wndl_table_maker_free(struct wndl_table_maker *maker);

/* Orders a table. When memory is out, there will be none. */
void wndl_table_maker_add(
    struct wndl_table_maker *maker, const struct wndl_table_order *order);

/*
 * Moves the next finished table to the caller. False if nothing has been
 * finished since.
 */
bool wndl_table_maker_next(
    struct wndl_table_maker *maker, struct wndl_table_made *made);

/* Whether each order has come back. */
bool wndl_table_maker_is_idle(struct wndl_table_maker *maker);

/*
 * Waits until a table is finished, or all are, for `ns` at most. False if none
 * is there and none is being made.
 */
bool wndl_table_maker_wait(struct wndl_table_maker *maker, uint64_t ns);

/*
 * Ends the thread, before fork(). What it had begun is begun anew by the thread
 * that the next call of the two above starts, in parent or child.
 */
void wndl_table_maker_rest(struct wndl_table_maker *maker);

#endif
