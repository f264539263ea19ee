/* SPDX-License-Identifier: MIT */
/*
 * splitfile: the files that a debug file refers to by name, found on this
 * machine: .dwo files, the package of them (.dwp), and the supplementary file
 * that dwz moves to what several debug files share. What it must not know:
 * DWARF beyond the sections that name such files.
 */
#ifndef WNDL_OBJ_FIND_SPLITFILE_H
#define WNDL_OBJ_FIND_SPLITFILE_H

#include "obj/find/debugfile.h"

/*
 * Where to look. `debug` is what DWARF is read from: `binary` itself or its
 * separate debug file. `dirs` are as for wndl_debugfile_find. All borrowed.
 */
struct wndl_splitfile_places {
    struct wndl_object *binary;
    struct wndl_object *debug;
    const char *const *dirs;
    struct wndl_mem *mem;
};

/* A .dwo file as the unit `name`s it that was compiled in `comp_dir`. */
struct wndl_splitfile_dwo {
    struct wndl_bytes name;
    struct wndl_bytes comp_dir;
};

/*
 * Opens the first that is there of these, from number *next on:
 *
 *   0  name, if it is absolute, or COMP_DIR/NAME
 *   1  FOLDER/NAME               FOLDER: where the debug file really is
 *   2  FOLDER/last part of NAME
 *   3  as 1, in the folder of the binary
 *   4  as 2, in the folder of the binary
 *
 * *next becomes the number to go on with. NOT_FOUND when none is left: `err`
 * then tells of the first passed over. NOMEM. On success `out` is for
 * wndl_debugfile_close. Its identity is for the caller to check.
 */
enum wndl_status wndl_splitfile_open_dwo(
    const struct wndl_splitfile_places *places,
    const struct wndl_splitfile_dwo *dwo, unsigned *next,
    struct wndl_debugfile *out, struct wndl_error *err) WNDL_MUST_USE;

/* As above: BINARY.dwp, then DEBUG.dwp. */
enum wndl_status wndl_splitfile_open_package(
    const struct wndl_splitfile_places *places, struct wndl_debugfile *out,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Opens what .gnu_debugaltlink or .debug_sup (DWARF 5, 7.3.6) of places->debug
 * names, the first of these that has the identity told there:
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
