/* SPDX-License-Identifier: MIT */
/*
 * object_impl: what an object is made of, for the files of this folder only.
 * A format's reader fills the tables at open; object.c answers from them.
 *
 *   elf.c          headers, sections, segments
 *   elf_notes.c    build-id, debuglink
 *   elf_symbols.c  function symbols
 *   elf_plt.c      names of stubs
 *   functions.c    sorted functions, and which one covers an address
 *   compress.c     compressed sections
 */
#ifndef WNDL_OBJ_OBJECT_IMPL_H
#define WNDL_OBJ_OBJECT_IMPL_H

#include "base/arena.h"
#include "base/vec.h"
#include "obj/object.h"

enum wndl_packing {
    WNDL_PACKING_NONE,
    WNDL_PACKING_CHDR,   /* SHF_COMPRESSED: an Elf32/64_Chdr comes first */
    WNDL_PACKING_ZDEBUG, /* .zdebug_*: "ZLIB" and a big-endian size first */
};

struct wndl_object_section {
    struct wndl_section view;
    uint64_t stored_size; /* bytes in the file */
    uint64_t alignment;
    uint64_t entry_size;
    uint32_t link;
    uint32_t info;
    uint8_t packing;   /* enum wndl_packing */
    uint8_t *inflated; /* view.size bytes of `mem`, NULL until asked for */
};

/* From `start` (svma) to the next entry's, `function` covers; or none does. */
struct wndl_cover {
    uint64_t start;
    uint32_t function; /* index into functions, WNDL_COVER_NONE */
};

#define WNDL_COVER_NONE UINT32_MAX

/*
 * Sorted by address; `covers` is sorted by start, starts are distinct. While
 * `status` is NOT_FOUND with `tried` false nothing was read yet; after that
 * `status` is what every caller gets.
 */
struct wndl_functions {
    struct wndl_symbol *functions;
    struct wndl_cover *covers;
    size_t function_count;
    size_t cover_count;
    struct wndl_error error;
    enum wndl_status status;
    bool tried;
};

/* A slot of the global offset table, and whose address is in it. */
struct wndl_plt_slot {
    uint64_t addr; /* svma */
    struct wndl_bytes name;
};

/* Sorted by addr; `status` and `tried` are as in struct wndl_functions. */
struct wndl_plt {
    struct wndl_plt_slot *slots;
    size_t count;
    struct wndl_error error;
    enum wndl_status status;
    bool tried;
};

struct wndl_object {
    struct wndl_arena arena;
    struct wndl_mem *mem;
    struct wndl_bytes file;
    const char *path;
    bool big_endian;
    uint8_t address_size; /* 4 or 8; the ELF class */
    uint16_t machine;
    uint16_t type; /* ET_* */
    wndl_svma image_base;
    struct wndl_bytes build_id;
    struct wndl_object_section *sections;
    size_t section_count;
    struct wndl_segment *segments; /* PT_LOAD only, in table order */
    size_t segment_count;
    struct wndl_functions functions;
    struct wndl_plt plt;
};

/* A function symbol on its way into the table. */
struct wndl_candidate {
    struct wndl_symbol symbol;
    uint64_t limit; /* svma where it ends at the latest: its section's end */
    uint32_t order; /* position in the symbol table */
};

/* The bytes of a section as they are in the file. NOT_FOUND for NOBITS. */
enum wndl_status wndl_object_stored_bytes(const struct wndl_object *object,
    const struct wndl_object_section *section, struct wndl_bytes *bytes,
    struct wndl_error *err) WNDL_MUST_USE;

/* Fills type, machine, tables and image base from an ELF file. */
enum wndl_status wndl_elf_open(
    struct wndl_object *object, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The name at `offset` of a string table; data is NULL when it does not end.
 * One of 64 KiB or more is as good as none: it is given as "". That bounds what
 * a table costs whose entries all point into one long string.
 */
struct wndl_bytes wndl_elf_name(struct wndl_bytes strings, uint64_t offset);

/* A note segment or section: desc of the GNU build-id note, else empty. */
struct wndl_bytes wndl_elf_find_build_id(
    struct wndl_bytes notes, uint64_t alignment, bool big_endian);

/*
 * Appends the candidates of .symtab, else of .dynsym, to `candidates` (of
 * struct wndl_candidate). NOT_FOUND when there is neither.
 */
enum wndl_status wndl_elf_read_functions(const struct wndl_object *object,
    struct wndl_vec *candidates, struct wndl_error *err) WNDL_MUST_USE;

/* Sorts candidates into object->functions. False when memory is out. */
bool wndl_functions_build(
    struct wndl_object *object, struct wndl_vec *candidates);

/* The function that covers `addr`, or NULL. */
const struct wndl_symbol *wndl_functions_find(
    const struct wndl_functions *functions, wndl_svma addr);

/*
 * Sets packing, and view.size to the inflated size, from the section's first
 * bytes. A header cut short is left for wndl_object_inflate to complain about.
 */
void wndl_object_detect_packing(
    const struct wndl_object *object, struct wndl_object_section *section);

/* Inflates a packed section, once. */
enum wndl_status wndl_object_inflate(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_error *err) WNDL_MUST_USE;

#endif
