/* SPDX-License-Identifier: MIT */
/* pdb_find: the PDB file that belongs to a PE image, found on this machine. */
#ifndef WNDL_SYMBOLIZE_FILES_PDB_FIND_H
#define WNDL_SYMBOLIZE_FILES_PDB_FIND_H

#include "base/buf.h"
#include "obj/core/object.h"
#include "os/file.h"

#include "dbg/pdb/pdb.h"

/* An open PDB file. */
struct wndl_pdb_file {
    struct wndl_file file;
    struct wndl_pdb *pdb; /* NULL: none */
    char *path;           /* of mem */
};

/*
 * Finds the file. It searches in this order; NAME and PATH are those in the
 * image:
 *
 *   FOLDER/NAME             FOLDER: where the binary really is
 *   PATH                    if it is absolute
 *   FOLDER/NAME/ID/NAME     as symbol stores have it
 *   DIR/NAME, DIR/NAME/ID/NAME   for each DIR of `dirs`
 *
 * `dirs` ends with NULL, or is NULL. A file of another build, or a damaged one,
 * is skipped. NOT_FOUND when none is left: `err` then has the first skipped
 * file, or else the missing one; its file is empty when the image names no PDB.
 * NOMEM. On success `out` ends with wndl_pdb_file_close.
 */
enum wndl_status wndl_pdb_file_find(const struct wndl_object *image,
    const char *const *dirs, struct wndl_mem *mem, struct wndl_pdb_file *out,
    struct wndl_error *err) WNDL_MUST_USE;

/* Releases the pages of a mapped file; for struct wndl_pdb_source. */
void wndl_pdb_file_give_up(struct wndl_bytes mapped);

/* Closes it. One that is not open is ignored. */
void wndl_pdb_file_close(struct wndl_pdb_file *file, struct wndl_mem *mem);

#endif
