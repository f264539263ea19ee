/* SPDX-License-Identifier: MIT */
/*
 * object_impl: the inside of an object, for the files of src/obj only. A
 * format's reader fills the tables at open; object.c answers from them.
 *
 *   object.c       opening, and the answers
 *   section.c      sections by name, and their bytes in the file
 *   compress.c     compressed sections
 *   inflate_many.c several of them at once
 *   functions.c    sorted functions, and which one covers an address
 *   name.c         names in string tables
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
    bool added;      /* not from the file */
    /*
     * its bytes, inflated or relocated: view.size bytes of `mem`; NULL until
     * requested
     */
    uint8_t *own;
};

/* A function symbol. `name` is in a string table, and ends inside it. */
struct wndl_function {
    uint64_t start; /* svma */
    /* without a size: the latest possible end, until all are known */
    uint64_t end;
    const uint8_t *name;
    uint32_t order;  /* position in the order of reading */
    uint8_t kind;    /* enum wndl_symbol_kind */
    uint8_t binding; /* STB_* */
    bool has_size;
    bool is_open; /* its size is the largest possible: the format has none */
};

/*
 * Addresses from `start` (svma) to the next entry's start belong to `function`,
 * up to its end.
 */
struct wndl_cover {
    uint64_t start;
    uint32_t function; /* index into list */
};

/*
 * `list` is sorted by address; `covers` is sorted by start, starts are
 * distinct. `symbols` is `list` in another form, made at the first request.
 * While `status` is NOT_FOUND and `tried` is false, nothing has been read;
 * after that every caller gets `status`.
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

/* A slot of the global offset table, and the name of its function. */
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
struct wndl_wasm;

/*
 * A format of binaries; obj/formats.c lists them all. `open` fills the tables
 * of a new object; `arch` is as in struct wndl_object_source. The other
 * functions are called for objects of the format only: `read_functions` appends
 * its functions (struct wndl_function). `relocate` changes section->own, and is
 * called only if `needs_relocation` is true. Both are NULL for a format without
 * relocation.
 */
struct wndl_object_format {
    bool (*is)(struct wndl_bytes file);
    enum wndl_status (*open)(
        struct wndl_object *object, const char *arch, struct wndl_error *err);
    bool (*has_symtab)(const struct wndl_object *object);
    enum wndl_status (*read_functions)(struct wndl_object *object,
        struct wndl_vec *functions, struct wndl_error *err);
    bool (*needs_relocation)(const struct wndl_object *object,
        const struct wndl_object_section *section);
    enum wndl_status (*relocate)(struct wndl_object *object,
        struct wndl_object_section *section, struct wndl_error *err);
};

/* An outline has neither `format` nor `formats`. */
struct wndl_object {
    struct wndl_arena arena;
    struct wndl_mem *mem;
    const struct wndl_object_format *format;
    /* from which it was chosen */
    const struct wndl_object_format *const *formats;
    struct wndl_bytes file;
    const char *path;
    bool big_endian;
    uint8_t address_size; /* 4 or 8; the ELF class */
    uint16_t machine;
    uint16_t type; /* ET_* */
    wndl_svma image_base;
    wndl_svma entry; /* 0: none */
    struct wndl_bytes build_id;
    struct wndl_object_section *sections;
    size_t section_count;
    /*
     * sections of a file without section headers, found by its segments: they
     * have a name, and are not counted
     */
    struct wndl_object_section *loaded;
    size_t loaded_count;
    struct wndl_segment *segments; /* PT_LOAD only, in table order */
    size_t segment_count;
    struct wndl_macho *macho;  /* NULL for others */
    struct wndl_pe *pe;        /* NULL for others */
    struct wndl_wasm *wasm;    /* NULL for others */
    struct wndl_bytes dynamic; /* PT_DYNAMIC, empty when there is none */
    struct wndl_functions functions;
    struct wndl_plt plt;
    /* the first damage that cost a part of an answer */
    struct wndl_error damage;
    uint8_t *inner_bytes;      /* of `mem`: the unpacked .gnu_debugdata */
    struct wndl_object *inner; /* the object in them, or NULL */
};

/*
 * Opens `source` by the first of `formats` whose `is` accepts it, or else by
 * the last, whose `is` is not called. The list ends with NULL.
 */
enum wndl_status wndl_object_open_any(
    const struct wndl_object_format *const *formats,
    const struct wndl_object_source *source, struct wndl_mem *mem,
    struct wndl_object **out, struct wndl_error *err) WNDL_MUST_USE;

/* The bytes of a section as stored in the file. NOT_FOUND for NOBITS. */
enum wndl_status wndl_object_stored_bytes(const struct wndl_object *object,
    const struct wndl_object_section *section, struct wndl_bytes *bytes,
    struct wndl_error *err) WNDL_MUST_USE;

/* Notes damage, with the object's path. The first is kept. */
void wndl_object_note_damage(
    struct wndl_object *object, const struct wndl_error *damage);

/*
 * The name at `offset` of a string table; its data is NULL if it does not end.
 * A name of 64 KiB or more is given as "". That bounds the cost of a table
 * whose entries all point into one long string.
 */
struct wndl_bytes wndl_object_name_at(
    struct wndl_bytes strings, uint64_t offset);

/* The same for a name that is known to end. */
struct wndl_bytes wndl_object_ended_name(const uint8_t *name);

/*
 * Makes object->functions from `read` (struct wndl_function), whose contents
 * are lost. False when memory is out.
 */
bool wndl_functions_build(struct wndl_object *object, struct wndl_vec *read);

/* The function that covers `addr`. False when none does. */
bool wndl_functions_find(const struct wndl_functions *functions, wndl_svma addr,
    struct wndl_symbol *symbol);

/* Makes functions.symbols. False when memory is out. */
bool wndl_functions_spell_out(struct wndl_object *object);

/*
 * Sets packing, and view.size to the inflated size, from the section's first
 * bytes. wndl_object_inflate reports a header that is cut short.
 */
void wndl_object_detect_packing(
    const struct wndl_object *object, struct wndl_object_section *section);

/* The header of a packed section. */
struct wndl_packed {
    struct wndl_bytes body; /* the compressed stream */
    uint64_t size;          /* inflated, as claimed */
    uint32_t method;        /* ELFCOMPRESS_* */
    bool failed;            /* no room for the header, or no valid one */
};

/*
 * Inflates a packed section into section->own. After a failure the caller must
 * call wndl_object_disown.
 */
enum wndl_status wndl_object_inflate(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Its two halves: the first checks and allocates; the second does the work,
 * without the object, in any thread that may use `mem`.
 */
enum wndl_status wndl_object_inflate_begin(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_packed *packed,
    struct wndl_error *err) WNDL_MUST_USE;
enum wndl_status wndl_object_inflate_run(struct wndl_mem *mem,
    struct wndl_object_section *section, const struct wndl_packed *packed,
    struct wndl_error *err) WNDL_MUST_USE;

/* Whether relocation changes the section's bytes. */
bool wndl_object_needs_relocation(const struct wndl_object *object,
    const struct wndl_object_section *section);

/* Frees section->own; the section's bytes are then those of the file again. */
void wndl_object_disown(
    struct wndl_object *object, struct wndl_object_section *section);

/* The section that wndl_object_section_bytes finds by `name`, or NULL. */
struct wndl_object_section *wndl_object_find_section(
    const struct wndl_object *object, const char *name);

#endif
