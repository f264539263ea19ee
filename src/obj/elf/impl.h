/* SPDX-License-Identifier: MIT */
/*
 * impl: the parts that the files of ELF share.
 *
 *   elf.c        headers, sections, segments
 *   notes.c      build-id, debuglink
 *   symbols.c    symbol tables, function symbols
 *   minidebug.c  all functions, also those in .gnu_debugdata
 *   opd.c        function descriptors
 *   dynamic.c    symbols of files without section headers
 *   reloc_kinds.c what relocations do, by machine
 *   reloc.c      places and relocations of .o and .ko files
 *   plt.c        names of stubs
 *   eh_frame.c   call frame information of files without section headers
 */
#ifndef WNDL_OBJ_ELF_IMPL_H
#define WNDL_OBJ_ELF_IMPL_H

#include "obj/core/object_impl.h"

/*
 * Fills type, machine, tables and image base from an ELF file. `arch` has no
 * effect, since there is only one architecture.
 */
enum wndl_status wndl_elf_open(struct wndl_object *object, const char *arch,
    struct wndl_error *err) WNDL_MUST_USE;

/* A note segment or section: desc of the GNU build-id note, else empty. */
struct wndl_bytes wndl_elf_find_build_id(
    struct wndl_bytes notes, uint64_t alignment, bool big_endian);

/* A symbol table, open for reading; borrows the object and `section`. */
struct wndl_elf_symbols {
    const struct wndl_object *object;
    const char *name; /* of the section, for messages */
    struct wndl_bytes entries;
    struct wndl_bytes strings;
    /* end of the last name that ends; set while functions are read */
    uint64_t names_end;
    struct wndl_bytes indexes; /* SHT_SYMTAB_SHNDX, or empty */
    uint64_t stride;
    uint64_t count;
};

/*
 * Opens the symbol table in `section`, with its string table. MALFORMED,
 * TRUNCATED, LIMIT for more than 2^32 symbols.
 */
enum wndl_status wndl_elf_symbols_open(const struct wndl_object *object,
    const struct wndl_object_section *section, struct wndl_elf_symbols *symbols,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same for the dynamic symbols, by PT_DYNAMIC alone. NOT_FOUND if there are
 * none, MALFORMED when their number is missing, TRUNCATED.
 */
enum wndl_status wndl_elf_dynamic_open(const struct wndl_object *object,
    struct wndl_elf_symbols *symbols, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Fills object->loaded by the segment PT_GNU_EH_FRAME, if it leads to whole
 * records. NOMEM.
 */
enum wndl_status wndl_elf_find_eh_frame(struct wndl_object *object,
    const struct wndl_segment *header, struct wndl_error *err) WNDL_MUST_USE;

/* The tables for relocation, by PT_DYNAMIC; empty, or 0, where it has none. */
struct wndl_elf_dynamic_tables {
    struct wndl_bytes relocations[2]; /* of the linkage table, and all others */
    /* from the symbols on, with the bytes after them */
    struct wndl_bytes symbols;
    struct wndl_bytes strings;
    uint64_t got; /* svma: the base of linkage table slots */
};

/* The tables; `narrow`: of relocations without addends, else with addends. */
struct wndl_elf_dynamic_tables wndl_elf_dynamic_tables(
    const struct wndl_object *object, bool narrow);

/*
 * The address of symbol `index`, 0 if it is not defined in the file. False if
 * there is no such symbol.
 */
bool wndl_elf_symbol_address(
    const struct wndl_elf_symbols *symbols, uint32_t index, uint64_t *address);

/*
 * Gives the loadable sections of a relocatable file addresses that do not
 * overlap, those with code first, and sets the image base to the first of them.
 */
enum wndl_status wndl_elf_place_sections(
    struct wndl_object *object, struct wndl_error *err) WNDL_MUST_USE;

/* Whether it is a debug section of a relocatable file, with relocations. */
bool wndl_elf_needs_relocation(const struct wndl_object *object,
    const struct wndl_object_section *section);

/*
 * Applies the relocations to section->own. Single wrong entries are noted as
 * damage and left out; UNSUPPORTED for machines that reloc_kinds.c does not
 * name.
 */
enum wndl_status wndl_elf_relocate(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Whether there is no .symtab, or one that has fewer symbols than .dynsym: only
 * a few were left when the file was stripped.
 */
bool wndl_elf_lacks_symbols(const struct wndl_object *object);

/*
 * Appends the functions of .symtab, and where that lacks symbols of .dynsym,
 * else of the dynamic symbols, to `functions` (struct wndl_function). NOT_FOUND
 * when there are none of these.
 */
enum wndl_status wndl_elf_read_functions(const struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Moves functions (struct wndl_function) that are descriptors in .opd to their
 * code.
 */
void wndl_elf_follow_descriptors(
    struct wndl_object *object, struct wndl_vec *functions);

/* Whether there is .symtab or .gnu_debugdata. */
bool wndl_elf_has_symtab(const struct wndl_object *object);

/*
 * The same, and where symbols are lacking also those of .gnu_debugdata, which
 * is left out if it is damaged.
 */
enum wndl_status wndl_elf_read_all_functions(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err) WNDL_MUST_USE;

#endif
