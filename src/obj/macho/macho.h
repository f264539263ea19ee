/* SPDX-License-Identifier: MIT */
/*
 * macho: what is peculiar to Apple's binaries: several in one file, and a list
 * of the object files that debug information was left in.
 *
 * Bytes and names that are given out are borrowed from what was read. Any
 * thread may read different objects.
 */
#ifndef WNDL_OBJ_MACHO_MACHO_H
#define WNDL_OBJ_MACHO_MACHO_H

#include "base/vec.h"
#include "obj/core/object.h"

/* Whether it is Mach-O, for one processor or (also archives) for several. */
bool wndl_macho_is(struct wndl_bytes bytes);
bool wndl_macho_is_fat(struct wndl_bytes bytes);

/* The longest name of an architecture, with its NUL. */
enum { WNDL_MACHO_ARCH = 40 };

/*
 * The part of `bytes` for the architecture called `arch`, or without one (NULL)
 * for that of this build, else the only one. All of them where there is but
 * one, fat or not. NOT_FOUND names those that there are. TRUNCATED, MALFORMED.
 */
enum wndl_status wndl_macho_choose(struct wndl_bytes bytes, const char *arch,
    struct wndl_bytes *part, struct wndl_error *err) WNDL_MUST_USE;

/* The name of the architecture at `index` of the file, which may be one only,
 * into `name`. False after the last. */
bool wndl_macho_arch_at(
    struct wndl_bytes bytes, size_t index, char name[WNDL_MACHO_ARCH]);

/* That of an object. False if it is not Mach-O. */
bool wndl_macho_arch_of(
    const struct wndl_object *object, char name[WNDL_MACHO_ARCH]);

/* Whether it is Mach-O and was not linked: its code begins at 0, and what is
 * elsewhere knows it by names only. */
bool wndl_macho_is_object_file(const struct wndl_object *object);

/* An object file that has the debug information of some functions. */
struct wndl_macho_source {
    struct wndl_bytes path; /* "x.o" or "lib.a(x.o)"; ends with a NUL */
    uint64_t modified;      /* seconds since 1970, or 0: not told */
};

/* Code that was linked from an object file, where it is called `name`. */
struct wndl_macho_linked {
    uint64_t start; /* svma */
    uint64_t end;
    struct wndl_bytes name; /* as it is in symbol tables, with its underscore */
    uint32_t source;
};

/* `linked` is sorted by start. Memory is of the arena that was given. */
struct wndl_macho_map {
    struct wndl_macho_source *sources;
    size_t source_count;
    struct wndl_macho_linked *linked;
    size_t linked_count;
};

/* Reads the debug map of a linked image. NOT_FOUND if it has none; NOMEM, and
 * damage of the symbol table. */
enum wndl_status wndl_macho_read_map(const struct wndl_object *object,
    struct wndl_arena *arena, struct wndl_macho_map *map,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Adds to `addresses`, which is empty, where each symbol that is defined in an
 * object file is, by the hash of its name as in struct wndl_macho_linked. OK,
 * NOMEM, and damage of the symbol table.
 */
struct wndl_map;
enum wndl_status wndl_macho_read_names(const struct wndl_object *object,
    struct wndl_map *addresses, struct wndl_error *err) WNDL_MUST_USE;

#endif
