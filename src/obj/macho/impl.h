/* SPDX-License-Identifier: MIT */
/*
 * impl: the parts that the files of Mach-O share.
 *
 *   macho.c    header, load commands, sections, segments
 *   fat.c      architectures of a file
 *   symbols.c  functions, by symbols, exports and starts
 *   exports.c  the trie of exports
 *   map.c      the debug map
 */
#ifndef WNDL_OBJ_MACHO_IMPL_H
#define WNDL_OBJ_MACHO_IMPL_H

#include "obj/core/object_impl.h"
#include "obj/macho/macho.h"

enum {
    WNDL_MACHO_MAGIC = 0xfeedface,
    WNDL_MACHO_MAGIC_64 = 0xfeedfacf,
};

/* The kinds of files that are treated differently. */
enum { WNDL_MACHO_OBJECT = 1, WNDL_MACHO_CORE = 4, WNDL_MACHO_DSYM = 10 };

/* A part of the file, from a load command; 0, 0: none. */
struct wndl_macho_part {
    uint32_t offset; /* in `bytes` of struct wndl_macho */
    uint32_t size;
};

/* `bytes` are those of the chosen architecture. */
struct wndl_macho {
    struct wndl_bytes bytes;
    uint64_t offset; /* of `bytes` in the file */
    uint64_t header; /* svma of __TEXT, where the header is */
    uint32_t cpu;
    uint32_t subtype;
    uint32_t kind;
    uint32_t symbol_offset;
    uint32_t symbol_count;
    struct wndl_macho_part strings;
    struct wndl_macho_part exports;
    struct wndl_macho_part starts;
};

/* Reads the magic number at the start of `bytes`. False if it is not Mach-O. */
bool wndl_macho_read_magic(
    struct wndl_bytes bytes, bool *big_endian, uint8_t *address_size);

/* Fills an object from a file for one architecture or several. */
enum wndl_status wndl_macho_open(struct wndl_object *object, const char *arch,
    struct wndl_error *err) WNDL_MUST_USE;

/* n_type */
enum {
    WNDL_NLIST_STAB = 0xe0,
    WNDL_NLIST_TYPE = 0x0e,
    WNDL_NLIST_SECT = 0x0e,
    WNDL_NLIST_EXT = 0x01,
};

/* The symbol table, open for reading. */
struct wndl_nlists {
    struct wndl_bytes entries;
    struct wndl_bytes strings;
    uint64_t names_end; /* end of the last name that ends */
    uint64_t count;
    uint8_t address_size;
    bool big_endian;
};

struct wndl_nlist {
    struct wndl_bytes name; /* ends with a NUL */
    uint64_t value;
    uint16_t desc;
    uint8_t type;
    uint8_t section; /* from 1 */
};

/* Opens the table. NOT_FOUND if there is none, TRUNCATED. */
enum wndl_status wndl_nlists_open(const struct wndl_object *object,
    struct wndl_nlists *table, struct wndl_error *err) WNDL_MUST_USE;

/* Reads entry `index`, which is below the count. Its name is borrowed. */
struct wndl_nlist wndl_nlists_at(
    const struct wndl_nlists *table, uint64_t index);

/* The section of code in which a symbol is defined, or NULL. */
const struct wndl_object_section *wndl_macho_code_of(
    const struct wndl_object *object, const struct wndl_nlist *symbol);

/* Whether there is a symbol table. */
bool wndl_macho_has_symtab(const struct wndl_object *object);

/* Appends the functions of a Mach-O file (struct wndl_function). */
enum wndl_status wndl_macho_read_functions(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Calls `add` with each exported address; `name` is in the arena. OK, the
 * status of `add`, NOMEM, or MALFORMED after all that could be read.
 */
struct wndl_macho_export {
    uint64_t offset; /* from the header */
    const char *name;
};
enum wndl_status wndl_macho_visit_exports(const struct wndl_object *object,
    struct wndl_arena *arena,
    enum wndl_status (*add)(
        void *context, const struct wndl_macho_export *exported),
    void *context, struct wndl_error *err) WNDL_MUST_USE;

#endif
