/* SPDX-License-Identifier: MIT */
/*
 * object: one view of a binary file, whatever its format: sections, segments,
 * symbols, identity. What it must not know: DWARF, CFI, processes.
 *
 * An object borrows the bytes it is opened on and owns an arena for what it
 * derives (tables, inflated sections). Opening reads the headers only;
 * symbols and compressed sections are read when first asked for. One object
 * is for one thread at a time.
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
    wndl_svma addr;  /* in an object file (.o, .ko): as wndl_object_open placed
                      * what would be loaded */
    uint64_t size;   /* in memory; inflated size of a compressed one */
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
};

/*
 * Opens `bytes` (which must outlive the object). `path` is copied and used in
 * errors only; may be NULL. On success *out is freed by wndl_object_close.
 */
enum wndl_status wndl_object_open(struct wndl_bytes bytes, const char *path,
    struct wndl_mem *mem, struct wndl_object **out,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same for a part of a file that is for several architectures: `arch` is
 * that part's, as in obj/macho/macho.h; NULL: as wndl_object_open chooses.
 * Files for
 * one architecture are opened whichever that is. NOT_FOUND if there is none.
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
 * A binary of which only this is known, told by another file: its bytes are one
 * section of that name, its code is one segment, its image base is
 * 0. `machine` is EM_*. Strings but the path must outlive the object, the
 * build-id is copied. NOMEM.
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

/* One more section, of a copy of these bytes; `name` must outlive the object.
 * NOMEM. */
enum wndl_status wndl_object_add_section(struct wndl_object *object,
    const char *name, struct wndl_bytes bytes) WNDL_MUST_USE;

void wndl_object_close(struct wndl_object *object);

const char *wndl_object_path(const struct wndl_object *object);
bool wndl_object_is_big_endian(const struct wndl_object *object);
unsigned wndl_object_address_size(const struct wndl_object *object); /* 4, 8 */
uint16_t wndl_object_machine(const struct wndl_object *object);      /* EM_* */

/* A program or a shared library, with addresses as they will be loaded; not
 * an object file (.o, .ko) or a core. */
bool wndl_object_is_image(const struct wndl_object *object);

/* Whether there are symbols for more than the dynamic linker: .symtab, or
 * .gnu_debugdata, which may yet prove damaged. */
bool wndl_object_has_symtab(const struct wndl_object *object);

/*
 * The first damage so far that cost a part of what was asked for, which was
 * answered from the rest; NULL for none. Lives as the object.
 */
const struct wndl_error *wndl_object_damage(const struct wndl_object *object);

/* An object file (.o, .ko): its sections were given places that do not
 * overlap, first those with code, from the image base on. */
bool wndl_object_is_relocatable(const struct wndl_object *object);

/* svma of the lowest PT_LOAD, rounded down to its page: rva 0. */
wndl_svma wndl_object_image_base(const struct wndl_object *object);

/* The GNU build-id bytes, empty when there is none. Lives as the object. */
struct wndl_bytes wndl_object_build_id(const struct wndl_object *object);

/*
 * .gnu_debuglink: file name (not a path) and CRC32 of the debug file.
 * NOT_FOUND when there is none.
 */
enum wndl_status wndl_object_debuglink(const struct wndl_object *object,
    struct wndl_bytes *name, uint32_t *crc) WNDL_MUST_USE;

/* In the order of the headers; `index` is below the count. */
size_t wndl_object_section_count(const struct wndl_object *object);
struct wndl_section wndl_object_section(
    const struct wndl_object *object, size_t index);

/*
 * The contents of the first section of that name, inflated when it was
 * compressed (SHF_COMPRESSED zlib or zstd, .zdebug_*: asked for as .debug_*).
 * Debug sections of object files come relocated, for x86-64, i386, AArch64,
 * Arm and 64-bit PowerPC; UNSUPPORTED for others.
 * NOT_FOUND when absent or SHT_NOBITS, UNSUPPORTED for other compressions,
 * LIMIT when it claims to inflate to more than is plausible. The bytes live
 * as long as the object. `info` may be NULL.
 */
enum wndl_status wndl_object_section_bytes(struct wndl_object *object,
    const char *name, struct wndl_bytes *bytes, struct wndl_section *info,
    struct wndl_error *err) WNDL_MUST_USE;

/* Whether wndl_object_section_bytes would find bytes; reads none. */
bool wndl_object_has_section(
    const struct wndl_object *object, const char *name);

/* Whether it has one of that name which the binary has not: an outline's, or
 * one that was added. That is found before any of the binary's. */
bool wndl_object_has_added(const struct wndl_object *object, const char *name);

/*
 * Inflates those of the named sections that are compressed and large, by as
 * many threads as there are processors, where that is worth it: the first
 * wndl_object_section_bytes of them costs nothing then. Changes nothing else;
 * what fails is left to that, which tells why.
 */
void wndl_object_load_sections(
    struct wndl_object *object, const char *const *names, size_t count);

/* What is loaded (PT_LOAD), in the order of the program headers; `index` is
 * below the count. */
size_t wndl_object_segment_count(const struct wndl_object *object);
struct wndl_segment wndl_object_segment(
    const struct wndl_object *object, size_t index);

/*
 * The function symbol that covers `addr`: of those that do, the one with the
 * highest start; of equal starts the longest, then the last in the table. A
 * symbol of size 0 reaches to the next one, at most to the end of its
 * section. Untyped labels in code (kind OTHER) count where no typed function
 * is; a name of 64 KiB or more is none. Reads and sorts .symtab (else .dynsym
 * and .gnu_debugdata; without section headers what PT_DYNAMIC tells of) on
 * first use. NOT_FOUND when none.
 */
enum wndl_status wndl_object_find_function(struct wndl_object *object,
    wndl_svma addr, struct wndl_symbol *symbol,
    struct wndl_error *err) WNDL_MUST_USE;

/* The same symbols, sorted by address; lives as the object. */
enum wndl_status wndl_object_functions(struct wndl_object *object,
    const struct wndl_symbol **symbols, size_t *count,
    struct wndl_error *err) WNDL_MUST_USE;

/* Where a variable of that name is, by the same table of symbols. NOT_FOUND. */
enum wndl_status wndl_object_find_variable(const struct wndl_object *object,
    const char *name, wndl_svma *addr, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The stub of the procedure linkage table (.plt, .plt.sec, .plt.got) around
 * `addr`: its extent, under the name of the function that it jumps to, or
 * without a name if it calls the loader (PLT0). Told from its code and the
 * dynamic relocations, which are read and sorted on first use. NOT_FOUND
 * elsewhere, for stubs of unknown shape, in files without section headers for
 * those that ask the loader, and on machines but x86-64, i386 and
 * little-endian AArch64.
 */
enum wndl_status wndl_object_find_plt(struct wndl_object *object,
    wndl_svma addr, struct wndl_symbol *entry,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
