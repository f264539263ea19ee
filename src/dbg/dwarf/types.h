/* SPDX-License-Identifier: MIT */
/*
 * types: the types that DWARF 2 to 5 describe: structs, their members by
 * offset, arrays, pointers, enumerations.
 *
 * It is lazy: a type is read when it is first asked for, and the names of a
 * unit when a search comes to it. Types are also read from type units
 * (.debug_types, and those of version 5), partial units, supplementary files,
 * and .dwo files through their skeletons, but not from type units of .dwo
 * files. A declaration is replaced by the type of its signature, or else of its
 * name in another unit. Damage loses the type that has it, and is counted.
 *
 * One thread at a time, and not while the wndl_dwarf is used by another.
 */
#ifndef WNDL_DBG_DWARF_TYPES_H
#define WNDL_DBG_DWARF_TYPES_H

#include "base/buf.h"
#include "dbg/dwarf/dwarf.h"

struct wndl_types;
struct wndl_type_die;

enum wndl_type_kind {
    WNDL_TYPE_BASE, /* a number, a character, a truth value */
    WNDL_TYPE_ENUM,
    WNDL_TYPE_POINTER, /* also a C++ reference */
    WNDL_TYPE_STRUCT,  /* also a C++ class */
    WNDL_TYPE_UNION,
    WNDL_TYPE_ARRAY,
    WNDL_TYPE_ALIAS, /* a typedef, const, volatile and the like */
    WNDL_TYPE_OTHER, /* a function, and what is not known here */
};

/* A type; it lives as long as the wndl_types. */
struct wndl_type {
    enum wndl_type_kind kind;
    bool is_declaration;        /* without members and size */
    bool is_signed;             /* of a BASE */
    struct wndl_bytes name;     /* unqualified, as in DWARF; may be empty */
    uint64_t size;              /* bytes; 0: the DIE does not say */
    const uint64_t *counts;     /* of an ARRAY: elements, outermost first; a
                                 * count that is not known is 0 */
    uint32_t dimensions;        /* number of counts */
    struct wndl_type_die *from; /* for types.c */
};

/* A member of a struct or union, or a base class of a struct. */
struct wndl_type_member {
    struct wndl_bytes name; /* empty: it is anonymous */
    const struct wndl_type *type;
    uint64_t bit_at; /* bits from the start of the struct, the lowest one
                      * first on little-endian machines */
    uint64_t bits;   /* of a bit field, else 0 */
    bool is_base;
};

/*
 * Opens a reader of the types of `dwarf`, which must outlive it, in memory of
 * `mem`. Reads nothing yet. NOMEM. Ends with wndl_types_close.
 */
enum wndl_status wndl_types_open(struct wndl_dwarf *dwarf, struct wndl_mem *mem,
    struct wndl_types **out) WNDL_MUST_USE;

/* Frees it and all of its types. NULL is ignored. */
void wndl_types_close(struct wndl_types *types);

/*
 * Finds the complete struct, union, enum, typedef or base type of that name,
 * such as "node", "struct node" or "ns::node"; types inside functions are not
 * found. `near` is code whose unit is searched first, svma, or 0. NOT_FOUND,
 * NOMEM.
 */
enum wndl_status wndl_types_find(struct wndl_types *types, const char *name,
    wndl_svma near, const struct wndl_type **type) WNDL_MUST_USE;

/*
 * The type that a pointer, alias, enum or array is made of. NOT_FOUND: it is
 * void, another kind, or damaged. NOMEM.
 */
enum wndl_status wndl_types_target(struct wndl_types *types,
    const struct wndl_type *type,
    const struct wndl_type **target) WNDL_MUST_USE;

/*
 * The type under all aliases; a declaration is replaced by its complete type,
 * if there is one. NOT_FOUND: it is void or damaged. NOMEM.
 */
enum wndl_status wndl_types_strip(struct wndl_types *types,
    const struct wndl_type *type,
    const struct wndl_type **stripped) WNDL_MUST_USE;

/*
 * Sets *size to the bytes of a type, through aliases and of all elements of an
 * array; 0: not known. OK or NOMEM.
 */
enum wndl_status wndl_types_size(struct wndl_types *types,
    const struct wndl_type *type, uint64_t *size) WNDL_MUST_USE;

/*
 * The members of a struct or union, in the order of the source, without static
 * ones and virtual base classes. They live as long as `types`. Of another kind
 * there are none. OK, also where damage has lost some, or NOMEM.
 */
enum wndl_status wndl_types_members(struct wndl_types *types,
    const struct wndl_type *type, const struct wndl_type_member **members,
    size_t *count) WNDL_MUST_USE;

/*
 * Appends the name of bytes [offset, offset + size) of `type` to `out`, such as
 * "a.b[3].c", "a[2..5]", "Base::x", "low,high" for several members, and "x+1"
 * for a byte inside x. In a union it is the first member that has most of the
 * bytes. NOT_FOUND: there is no member, as in padding; `out` is then as before.
 * NOMEM.
 */
enum wndl_status wndl_types_path(struct wndl_types *types,
    const struct wndl_type *type, uint64_t offset, uint64_t size,
    struct wndl_buf *out) WNDL_MUST_USE;

/* A variable, parameter or result of a function that is a pointer. */
struct wndl_type_pointer {
    const struct wndl_type *target; /* stripped, and complete if it can be */
    const struct wndl_type *named;  /* the same as it was written */
    uint32_t line;                  /* that declares it, or 0 */
    uint32_t depth; /* 0: of the function itself; else of a call inlined into
                     * it, the larger the more it is inside */
};

/*
 * Appends the pointers (struct wndl_type_pointer) that are in scope in the
 * function at `code` and in the calls inlined there. NOT_FOUND: there is no
 * function. NOMEM.
 */
enum wndl_status wndl_types_pointers_at(struct wndl_types *types,
    wndl_svma code, struct wndl_vec *pointers) WNDL_MUST_USE;

/* The number of places that were damaged, and the first, if any. */
uint32_t wndl_types_damage(
    const struct wndl_types *types, struct wndl_error *first);

#endif
