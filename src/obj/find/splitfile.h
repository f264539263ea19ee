/* SPDX-License-Identifier: MIT */
/*
 * splitfile: the files to which a debug file refers by name, found on this
 * machine: .dwo files, the package of them (.dwp), and the supplementary file
 * to which dwz moves the data that several debug files share. It must not know
 * DWARF beyond the sections that name such files.
 */
#ifndef WNDL_OBJ_FIND_SPLITFILE_H
#define WNDL_OBJ_FIND_SPLITFILE_H

#include "obj/find/debugfile.h"

/*
 * The places of a search. DWARF is read from `debug`: `binary` itself or its
 * separate debug file. `dirs` are as for wndl_debugfile_find. All borrowed.
 */
struct wndl_splitfile_places {
    struct wndl_object *binary;
    struct wndl_object *debug;
    const char *const *dirs;
    struct wndl_mem *mem;
};

/* A .dwo file, by the name in its unit, which was compiled in `comp_dir`. */
struct wndl_splitfile_dwo {
    struct wndl_bytes name;
    struct wndl_bytes comp_dir;
};

/*
 * Opens the first of these that exists, from number *next on:
 *
 *   0  name, if it is absolute, or COMP_DIR/NAME
 *   1  FOLDER/NAME               FOLDER: where the debug file really is
 *   2  FOLDER/last part of NAME
 *   3  as 1, in the folder of the binary
 *   4  as 2, in the folder of the binary
 *
 * *next becomes the number for the next call. NOT_FOUND when none is left:
 * `err` then has the first one that was skipped. NOMEM. On success `out` ends
 * with wndl_debugfile_close. The caller must check its identity.
 */
enum wndl_status wndl_splitfile_open_dwo(
    const struct wndl_splitfile_places *places,
    const struct wndl_splitfile_dwo *dwo, unsigned *next,
    struct wndl_debugfile *out, struct wndl_error *err) WNDL_MUST_USE;

/* The same for a package: BINARY.dwp, then DEBUG.dwp. */
enum wndl_status wndl_splitfile_open_package(
    const struct wndl_splitfile_places *places, struct wndl_debugfile *out,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Opens the file that .gnu_debugaltlink or .debug_sup (DWARF 5, 7.3.6) of
 * places->debug names: the first of these that has the identity given there:
 *
 *   the name, if it is absolute, or FOLDER/NAME
 *   DIR/.build-id/ab/cdef.debug   for each DIR of places->dirs
 *
 * Statuses as above; NOT_FOUND also when there is no such section.
 */
enum wndl_status wndl_splitfile_open_supplementary(
    const struct wndl_splitfile_places *places, struct wndl_debugfile *out,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
