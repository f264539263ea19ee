/* SPDX-License-Identifier: MIT */
/*
 * object: one view of a binary file, whatever its format: sections, segments,
 * symbols, identity. It must not know DWARF, CFI or processes.
 *
 * An object borrows the bytes on which it is opened, and owns an arena for
 * derived data (tables, inflated sections). Opening reads the headers only;
 * symbols and compressed sections are read at the first request. One thread at
 * a time.
 */
#ifndef WNDL_OBJ_CORE_OBJECT_H
#define WNDL_OBJ_CORE_OBJECT_H

#include "base/addr.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"

struct wndl_object;

struct wndl_section {
    struct wndl_bytes name;
    /* in an object file (.o, .ko): the place that wndl_object_open gave it */
    wndl_svma addr;
    uint64_t size; /* bytes in memory; of a compressed one, its inflated size */
    uint64_t offset; /* in the file, for messages */
    uint32_t type;   /* sh_type */
    uint64_t flags;  /* sh_flags */
};

struct wndl_segment {
    wndl_svma addr;
    uint64_t mem_size;
    uint64_t file_offset;
    uint64_t file_size;
    bool executable;
};

enum wndl_symbol_kind { WNDL_SYMBOL_FUNC, WNDL_SYMBOL_DATA, WNDL_SYMBOL_OTHER };

struct wndl_symbol {
    struct wndl_bytes name;
    wndl_svma addr;
    uint64_t size;
    uint8_t kind;    /* enum wndl_symbol_kind */
    uint8_t binding; /* STB_* */
    /* The file says where it ends; else `size` is the largest possible, or 0 */
    bool has_end;
};

/*
 * Opens `bytes`, which must outlive the object. `path` is copied, is for errors
 * only, and may be NULL. On success *out ends with wndl_object_close.
 * MALFORMED, TRUNCATED, UNSUPPORTED, NOMEM; NOT_FOUND as for
 * wndl_object_open_source.
 */
enum wndl_status wndl_object_open(struct wndl_bytes bytes, const char *path,
    struct wndl_mem *mem, struct wndl_object **out,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same for one part of a file with several architectures. `arch` is the
 * part's name, as in obj/macho/macho.h; NULL: wndl_object_open's choice. A file
 * with one architecture is opened whatever `arch` is. NOT_FOUND if there is no
 * such part.
 */
struct wndl_object_source {
    struct wndl_bytes bytes;
    const char *path;
    const char *arch;
};
enum wndl_status wndl_object_open_source(
    const struct wndl_object_source *source, struct wndl_mem *mem,
    struct wndl_object **out, struct wndl_error *err) WNDL_MUST_USE;

/*
 * A binary that is known only from another file. Its bytes are one section of
 * the given name, its code is one segment, its image base is 0. `machine` is
 * EM_*. All strings but the path must outlive the object; the build-id is
 * copied. NOMEM.
 */
struct wndl_object_outline {
    const struct wndl_object_source *source;
    uint16_t machine;
    const char *section;
    struct wndl_bytes build_id;
    wndl_svma code;
    uint64_t code_size; /* bytes; 0: no segment */
};
enum wndl_status wndl_object_open_outline(
    const struct wndl_object_outline *outline, struct wndl_mem *mem,
    struct wndl_object **out, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Adds a section with a copy of these bytes; `name` must outlive the object.
 * NOMEM.
 */
enum wndl_status wndl_object_add_section(struct wndl_object *object,
    const char *name, struct wndl_bytes bytes) WNDL_MUST_USE;

/* Closes it and frees all that came from it. */
void wndl_object_close(struct wndl_object *object);

/* The path, as it was given; lives as long as the object. */
const char *wndl_object_path(const struct wndl_object *object);
bool wndl_object_is_big_endian(const struct wndl_object *object);
unsigned wndl_object_address_size(const struct wndl_object *object); /* 4, 8 */
uint16_t wndl_object_machine(const struct wndl_object *object);      /* EM_* */

/*
 * Whether it is a program or a shared library, with the addresses of a loaded
 * image; not an object file (.o, .ko) or a core.
 */
bool wndl_object_is_image(const struct wndl_object *object);

/*
 * Whether there are symbols beyond those for the dynamic linker: .symtab, or
 * .gnu_debugdata, which may prove damaged later.
 */
bool wndl_object_has_symtab(const struct wndl_object *object);

/*
 * The first damage so far that cost a part of an answer; the rest was answered.
 * NULL if there is none. Lives as long as the object.
 */
const struct wndl_error *wndl_object_damage(const struct wndl_object *object);

/*
 * Whether it is an object file (.o, .ko). Its sections then have addresses that
 * do not overlap, first those with code, from the image base on.
 */
bool wndl_object_is_relocatable(const struct wndl_object *object);

/* The svma of rva 0: the lowest PT_LOAD, rounded down to its page. */
wndl_svma wndl_object_image_base(const struct wndl_object *object);

/* Where an ELF program or ld.so starts; 0: nowhere, or not known. */
wndl_svma wndl_object_entry(const struct wndl_object *object);

/*
 * The GNU build-id bytes, empty when there is none. Lives as long as the
 * object.
 */
struct wndl_bytes wndl_object_build_id(const struct wndl_object *object);

/*
 * The file name (not a path) and the CRC32 of the debug file, from
 * .gnu_debuglink. NOT_FOUND when there is none.
 */
enum wndl_status wndl_object_debuglink(const struct wndl_object *object,
    struct wndl_bytes *name, uint32_t *crc) WNDL_MUST_USE;

/* The sections in the order of the headers; `index` is below the count. */
size_t wndl_object_section_count(const struct wndl_object *object);
struct wndl_section wndl_object_section(
    const struct wndl_object *object, size_t index);

/*
 * The contents of the first section of that name, inflated if it is compressed
 * (SHF_COMPRESSED with zlib or zstd; .zdebug_* by its name .debug_*). Debug
 * sections of object files are relocated, for the machines in
 * obj/elf/reloc_kinds.c; UNSUPPORTED for others. NOT_FOUND when absent or
 * SHT_NOBITS, UNSUPPORTED for other compressions, LIMIT when its inflated size
 * is not plausible. The bytes live as long as the object. `info` may be NULL.
 * In an ELF file without section headers the segments lead to .eh_frame_hdr and
 * .eh_frame, up to the latter's end mark.
 */
enum wndl_status wndl_object_section_bytes(struct wndl_object *object,
    const char *name, struct wndl_bytes *bytes, struct wndl_section *info,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Whether wndl_object_section_bytes would find such a section; reads no bytes.
 */
bool wndl_object_has_section(
    const struct wndl_object *object, const char *name);

/*
 * Whether it has a section of that name that the binary lacks: an outline's, or
 * an added one. Such a section is found before the binary's own.
 */
bool wndl_object_has_added(const struct wndl_object *object, const char *name);

/*
 * Inflates those of the named sections that are compressed and large, in
 * several threads where that is worth it. The first wndl_object_section_bytes
 * for each is then free. There is no other effect; after a failure that call
 * reports the reason.
 */
void wndl_object_load_sections(
    struct wndl_object *object, const char *const *names, size_t count);

/*
 * The loaded segments (PT_LOAD), in the order of the program headers; `index`
 * is below the count.
 */
size_t wndl_object_segment_count(const struct wndl_object *object);
struct wndl_segment wndl_object_segment(
    const struct wndl_object *object, size_t index);

/*
 * The file's bytes for the memory from `addr` to the end of its segment, empty
 * where there are none. They live as long as the object.
 */
struct wndl_bytes wndl_object_loaded_bytes(
    const struct wndl_object *object, wndl_svma addr);

/*
 * The function symbol that covers `addr`. Among several, the one with the
 * highest start; of equal starts the longest, then the last in the table. A
 * symbol of size 0 reaches to the next one, at most to the end of its section.
 * Untyped labels in code (kind OTHER) count where there is no typed function; a
 * name of 64 KiB or more is ignored. The first call reads and sorts .symtab,
 * and .dynsym and .gnu_debugdata if .symtab has fewer symbols than .dynsym;
 * without section headers the symbols of PT_DYNAMIC. NOT_FOUND when there is
 * none.
 */
enum wndl_status wndl_object_find_function(struct wndl_object *object,
    wndl_svma addr, struct wndl_symbol *symbol,
    struct wndl_error *err) WNDL_MUST_USE;

/* The same symbols, sorted by address; they live as long as the object. */
enum wndl_status wndl_object_functions(struct wndl_object *object,
    const struct wndl_symbol **symbols, size_t *count,
    struct wndl_error *err) WNDL_MUST_USE;

/* The address of a variable, by the same symbol table. NOT_FOUND. */
enum wndl_status wndl_object_find_variable(const struct wndl_object *object,
    const char *name, wndl_svma *addr, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Calls `visit` with each variable of the same symbol table that has a size and
 * a name, in the table's order, until it returns false. `context` is passed on.
 */
enum wndl_status wndl_object_each_variable(const struct wndl_object *object,
    bool (*visit)(void *context, const struct wndl_symbol *variable),
    void *context, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The stub of the procedure linkage table (.plt, .plt.sec, .plt.got) that
 * covers `addr`: its extent, and the name of the function that it jumps to, or
 * an empty name if it calls the loader (PLT0). The stub is recognised by its
 * code and the dynamic relocations, which the first call reads and sorts.
 * NOT_FOUND elsewhere, for stubs of unknown shape, for stubs that call the
 * loader in files without section headers, and on machines other than x86-64,
 * i386 and little-endian AArch64.
 */
enum wndl_status wndl_object_find_plt(struct wndl_object *object,
    wndl_svma addr, struct wndl_symbol *entry,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The name of the function whose address the dynamic linker puts into the word
 * at `addr`, by the same relocations. NOT_FOUND.
 */
enum wndl_status wndl_object_find_slot(struct wndl_object *object,
    wndl_svma addr, struct wndl_bytes *name,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
