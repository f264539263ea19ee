/* SPDX-License-Identifier: MIT */
/*
 * object_impl: what an object is made of, for the files of this folder only.
 * A format's reader fills the tables at open; object.c answers from them.
 *
 *   elf.c          headers, sections, segments
 *   elf_notes.c    build-id, debuglink
 *   elf_symbols.c  symbol tables, function symbols
 *   elf_dynamic.c  symbols of files without section headers
 *   elf_reloc.c    places and relocations of .o and .ko files
 *   elf_plt.c      names of stubs
 *   functions.c    sorted functions, and which one covers an address
 *   compress.c     compressed sections
 *   inflate_many.c several of them at once
 *   unpack.c       zlib, zstd and xz
 *   minidebug.c    symbols in .gnu_debugdata
 *   macho_impl.h   the same for Mach-O
 *   pe_impl.h      and for PE
 */
#ifndef WNDL_OBJ_CORE_OBJECT_IMPL_H
#define WNDL_OBJ_CORE_OBJECT_IMPL_H

#include "base/arena.h"
#include "base/vec.h"
#include "obj/core/object.h"

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
    uint8_t packing; /* enum wndl_packing */
    bool added;      /* not the file's own */
    uint8_t *own;    /* inflated or relocated: view.size bytes of `mem`, NULL
                      * until asked for */
};

/* A function symbol. `name` is of a string table, and ends there. */
struct wndl_function {
    uint64_t start; /* svma */
    uint64_t end;   /* without a size: at the latest, until all are known */
    const uint8_t *name;
    uint32_t order;  /* position among all that were read */
    uint8_t kind;    /* enum wndl_symbol_kind */
    uint8_t binding; /* STB_* */
    bool has_size;
};

/* From `start` (svma) to the next entry's, `function` is the one there, as
 * long as it has not ended. */
struct wndl_cover {
    uint64_t start;
    uint32_t function; /* index into list */
};

/*
 * `list` is sorted by address; `covers` is sorted by start, starts are
 * distinct. `symbols` says the same as `list`, once someone wants to see all.
 * While `status` is NOT_FOUND with `tried` false nothing was read yet; after
 * that `status` is what every caller gets.
 */
struct wndl_functions {
    struct wndl_function *list;
    const struct wndl_cover *covers;
    struct wndl_symbol *symbols;
    size_t count;
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

struct wndl_macho;
struct wndl_pe;

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
    struct wndl_macho *macho;  /* NULL for others */
    struct wndl_pe *pe;        /* NULL for others */
    struct wndl_bytes dynamic; /* PT_DYNAMIC, empty when there is none */
    struct wndl_functions functions;
    struct wndl_plt plt;
    struct wndl_error damage;  /* the first that cost a part, not all */
    uint8_t *inner_bytes;      /* of `mem`: what .gnu_debugdata unpacks to */
    struct wndl_object *inner; /* open on them, or NULL */
};

/* The bytes of a section as they are in the file. NOT_FOUND for NOBITS. */
enum wndl_status wndl_object_stored_bytes(const struct wndl_object *object,
    const struct wndl_object_section *section, struct wndl_bytes *bytes,
    struct wndl_error *err) WNDL_MUST_USE;

/* Keeps the first, with the object's path. */
void wndl_object_note_damage(
    struct wndl_object *object, const struct wndl_error *damage);

/* Fills type, machine, tables and image base from an ELF file. */
enum wndl_status wndl_elf_open(
    struct wndl_object *object, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The name at `offset` of a string table; data is NULL when it does not end.
 * One of 64 KiB or more is as good as none: it is given as "". That bounds what
 * a table costs whose entries all point into one long string.
 */
struct wndl_bytes wndl_elf_name(struct wndl_bytes strings, uint64_t offset);

/* The same for a name that is known to end. */
struct wndl_bytes wndl_elf_ended_name(const uint8_t *name);

/* A note segment or section: desc of the GNU build-id note, else empty. */
struct wndl_bytes wndl_elf_find_build_id(
    struct wndl_bytes notes, uint64_t alignment, bool big_endian);

/* A symbol table, open for reading; borrows the object and `section`. */
struct wndl_elf_symbols {
    const struct wndl_object *object;
    const char *name; /* of the section, for messages */
    struct wndl_bytes entries;
    struct wndl_bytes strings;
    uint64_t names_end;        /* of those that end; while functions are read */
    struct wndl_bytes indexes; /* SHT_SYMTAB_SHNDX, or empty */
    uint64_t stride;
    uint64_t count;
};

enum wndl_status wndl_elf_symbols_open(const struct wndl_object *object,
    const struct wndl_object_section *section, struct wndl_elf_symbols *symbols,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same for the dynamic symbols, by PT_DYNAMIC alone. NOT_FOUND without
 * them, MALFORMED when it does not tell how many there are, TRUNCATED.
 */
enum wndl_status wndl_elf_dynamic_open(const struct wndl_object *object,
    struct wndl_elf_symbols *symbols, struct wndl_error *err) WNDL_MUST_USE;

/* What the file has of memory from `addr` to the end of its segment. */
struct wndl_bytes wndl_elf_loaded_bytes(
    const struct wndl_object *object, uint64_t addr);

/* What PT_DYNAMIC tells of relocations; what it does not is empty, or 0. */
struct wndl_elf_dynamic_tables {
    struct wndl_bytes relocations[2]; /* of the linkage table, and all others */
    struct wndl_bytes symbols;        /* and what comes after them */
    struct wndl_bytes strings;
    uint64_t got; /* svma of what linkage table slots are counted from */
};

/* Relocations without addends of their own if `narrow`, else with them. */
struct wndl_elf_dynamic_tables wndl_elf_dynamic_tables(
    const struct wndl_object *object, bool narrow);

/* Where symbol `index` is, 0 if it is not in the file. False: no such. */
bool wndl_elf_symbol_address(
    const struct wndl_elf_symbols *symbols, uint32_t index, uint64_t *address);

/*
 * Gives the sections of a relocatable file that would be loaded addresses
 * that do not overlap, those with code first, and sets the image base to the
 * first of them.
 */
enum wndl_status wndl_elf_place_sections(
    struct wndl_object *object, struct wndl_error *err) WNDL_MUST_USE;

/* A debug section of a relocatable file, with relocations. */
bool wndl_elf_needs_relocation(const struct wndl_object *object,
    const struct wndl_object_section *section);

/*
 * Applies them to section->own. Single entries that are wrong are noted as
 * damage and left out; UNSUPPORTED for other machines than elf_reloc.c names.
 */
enum wndl_status wndl_elf_relocate(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Appends the functions of .gnu_debugdata to those of the file's own table,
 * once. NOT_FOUND without one; on failure nothing is appended.
 */
enum wndl_status wndl_minidebug_read_functions(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Appends the functions of .symtab, else of .dynsym, else of the dynamic
 * symbols, to `functions` (of struct wndl_function). NOT_FOUND when there
 * are none of them.
 */
enum wndl_status wndl_elf_read_functions(const struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err) WNDL_MUST_USE;

/* Makes object->functions of those that were read (struct wndl_function),
 * which are lost. False when memory is out. */
bool wndl_functions_build(struct wndl_object *object, struct wndl_vec *read);

/* The function that covers `addr`. False when none does. */
bool wndl_functions_find(const struct wndl_functions *functions, wndl_svma addr,
    struct wndl_symbol *symbol);

/* Makes functions.symbols. False when memory is out. */
bool wndl_functions_spell_out(struct wndl_object *object);

/*
 * Sets packing, and view.size to the inflated size, from the section's first
 * bytes. A header cut short is left for wndl_object_inflate to complain about.
 */
void wndl_object_detect_packing(
    const struct wndl_object *object, struct wndl_object_section *section);

/* What the header of a packed section says. */
struct wndl_packed {
    struct wndl_bytes body; /* the compressed stream */
    uint64_t size;          /* inflated, as claimed */
    uint32_t method;        /* ELFCOMPRESS_* */
    bool failed;            /* no room for the header, or not one */
};

/* Inflates a packed section into section->own, which is to be given back by
 * wndl_object_disown on failure. */
enum wndl_status wndl_object_inflate(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_error *err) WNDL_MUST_USE;

/* Its two halves: checks and memory; and the work, which needs no object and
 * may be done by any thread that may use `mem`. */
enum wndl_status wndl_object_inflate_begin(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_packed *packed,
    struct wndl_error *err) WNDL_MUST_USE;
enum wndl_status wndl_object_inflate_run(struct wndl_mem *mem,
    struct wndl_object_section *section, const struct wndl_packed *packed,
    struct wndl_error *err) WNDL_MUST_USE;

void wndl_object_disown(
    struct wndl_object *object, struct wndl_object_section *section);

/* The section that wndl_object_section_bytes means by `name`, or NULL. */
struct wndl_object_section *wndl_object_find_section(
    const struct wndl_object *object, const char *name);

#endif
