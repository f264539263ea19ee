/* SPDX-License-Identifier: MIT */
/*
 * macho: the peculiarities of Apple's binaries: several in one file, and a list
 * of the object files in which debug information was left.
 *
 * Bytes and names in results are borrowed from the input. Different threads may
 * read different objects.
 */
#ifndef WNDL_OBJ_MACHO_MACHO_H
#define WNDL_OBJ_MACHO_MACHO_H

#include "base/vec.h"
#include "obj/core/object.h"

/* Whether it is Mach-O for one architecture, or (also archives) for several. */
bool wndl_macho_is(struct wndl_bytes bytes);
bool wndl_macho_is_fat(struct wndl_bytes bytes);

/* The longest name of an architecture, with its NUL. */
enum { WNDL_MACHO_ARCH = 40 };

/*
 * The part of `bytes` for the architecture `arch`; if that is NULL, for that of
 * this build, else the only one. A file with one architecture gives that part,
 * whatever `arch` is. NOT_FOUND, with the names of those in the file;
 * TRUNCATED, MALFORMED.
 */
enum wndl_status wndl_macho_choose(struct wndl_bytes bytes, const char *arch,
    struct wndl_bytes *part, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Writes the name of architecture `index` of the file, which may have only one,
 * into `name`. False after the last.
 */
bool wndl_macho_arch_at(
    struct wndl_bytes bytes, size_t index, char name[WNDL_MACHO_ARCH]);

/* The architecture of an object. False if it is not Mach-O. */
bool wndl_macho_arch_of(
    const struct wndl_object *object, char name[WNDL_MACHO_ARCH]);

/*
 * Whether it is Mach-O and was not linked. Its code then begins at 0, and other
 * files know its functions only by name.
 */
bool wndl_macho_is_object_file(const struct wndl_object *object);

/* An object file that has the debug information of some functions. */
struct wndl_macho_source {
    struct wndl_bytes path; /* "x.o" or "lib.a(x.o)"; ends with a NUL */
    uint64_t modified;      /* seconds since 1970; 0: not known */
};

/* Code that was linked from an object file, in which it has the name `name`. */
struct wndl_macho_linked {
    uint64_t start; /* svma */
    uint64_t end;
    struct wndl_bytes name; /* as in symbol tables, with its underscore */
    uint32_t source;
};

/* `linked` is sorted by start. The memory is the caller's arena. */
struct wndl_macho_map {
    struct wndl_macho_source *sources;
    size_t source_count;
    struct wndl_macho_linked *linked;
    size_t linked_count;
};

/*
 * Reads the debug map of a linked image. NOT_FOUND if it has none; NOMEM, and
 * the errors of a damaged symbol table.
 */
enum wndl_status wndl_macho_read_map(const struct wndl_object *object,
    struct wndl_arena *arena, struct wndl_macho_map *map,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Adds the address of each symbol that is defined in an object file to
 * `addresses`, which is empty; the key is the hash of its name, as in struct
 * wndl_macho_linked. OK, NOMEM, and the errors of a damaged symbol table.
 */
struct wndl_map;
enum wndl_status wndl_macho_read_names(const struct wndl_object *object,
    struct wndl_map *addresses, struct wndl_error *err) WNDL_MUST_USE;

#endif
