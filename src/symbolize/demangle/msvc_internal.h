/* SPDX-License-Identifier: MIT */
/*
 * msvc_internal: the parts that the files of the reader of Microsoft's names
 * share.
 *
 *   msvc         pieces of text; whole symbols
 *   msvc_name    names: scopes, templates, operators
 *   msvc_type    types and signatures of functions
 *
 * Text is built at the end of a pool, from pieces that the pool already has. A
 * name can refer to its own parts, and so stand for an astronomically long one.
 * So the pool is bounded, and a name that fills it has failed. The nesting is
 * bounded too.
 */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_MSVC_INTERNAL_H
#define WNDL_SYMBOLIZE_DEMANGLE_MSVC_INTERNAL_H

#include "symbolize/demangle/msvc.h"

enum { WNDL_MSVC_REMEMBERED = 10 };

/* A piece of text in the pool. */
struct wndl_msvc_text {
    uint32_t at;
    uint32_t size;
};

enum wndl_msvc_kind {
    WNDL_MSVC_PLAIN,
    WNDL_MSVC_ARRAY,
    WNDL_MSVC_FUNCTION,
    WNDL_MSVC_POINTER,
    WNDL_MSVC_MEMBER_POINTER,
};

/*
 * A type as in a declaration: the text before the name and the text after it. A
 * function's calling convention comes last in the text before.
 */
struct wndl_msvc_type {
    enum wndl_msvc_kind kind;
    struct wndl_msvc_text before;
    struct wndl_msvc_text convention;
    struct wndl_msvc_text after;
};

/*
 * The parts that digits refer to; template arguments have a memory of their
 * own.
 */
struct wndl_msvc_memory {
    struct wndl_msvc_text names[WNDL_MSVC_REMEMBERED];
    struct wndl_msvc_type types[WNDL_MSVC_REMEMBERED];
    uint32_t name_count;
    uint32_t type_count;
};

struct wndl_msvc {
    struct wndl_cursor c; /* its `failed` is the state of the whole reader */
    struct wndl_buf *pool;
    struct wndl_msvc_memory memory;
    uint32_t depth;
    bool is_whole;  /* return types and the like are written too */
    bool is_clangs; /* a name by clang, which refers to fewer parts */
};

enum wndl_msvc_name_kind {
    WNDL_MSVC_NAME,
    WNDL_MSVC_CONSTRUCTOR, /* its name is that of the class */
    WNDL_MSVC_DESTRUCTOR,
    WNDL_MSVC_CONVERSION, /* its name is that of the type that it returns */
};

/* The last part of a name; `arguments` are a template's. */
struct wndl_msvc_part {
    enum wndl_msvc_name_kind kind;
    struct wndl_msvc_text text;
    struct wndl_msvc_text arguments;
};

/* A name with scopes; `scope` is "a::b::" or empty. */
struct wndl_msvc_name {
    struct wndl_msvc_text scope;
    struct wndl_msvc_part last;
};

struct wndl_msvc_symbol {
    struct wndl_msvc_text text;
    struct wndl_msvc_text last; /* the last part of its name */
};

/* msvc */

/* The character `i` from here, 0 after the end. */
char wndl_msvc_peek(const struct wndl_msvc *m, size_t i);
/* Whether `text` is next; if so, skips it. */
bool wndl_msvc_take(struct wndl_msvc *m, const char *text);
struct wndl_msvc_text wndl_msvc_fail(struct wndl_msvc *m);

/* Whether the pool has room for `size` more bytes. Every writer asks first. */
bool wndl_msvc_has_room(const struct wndl_msvc *m, size_t size);

/* Goes one level deeper; false if that is too deep. Undone by depth--. */
bool wndl_msvc_enter(struct wndl_msvc *m);

/*
 * Text from a pattern: each '$' stands for a struct wndl_msvc_text, each '#'
 * for a space if there is a letter, digit or '>' before it; other characters
 * stand for themselves.
 */
struct wndl_msvc_text wndl_msvc_make(
    struct wndl_msvc *m, const char *pattern, ...);

struct wndl_msvc_number {
    uint64_t value;
    bool is_negative;
};

/* Reads a number; the second one returns it as text. */
struct wndl_msvc_number wndl_msvc_take_number(struct wndl_msvc *m);
struct wndl_msvc_text wndl_msvc_number(struct wndl_msvc *m);

/* Reads a whole symbol, from its '?' on. */
struct wndl_msvc_symbol wndl_msvc_symbol(struct wndl_msvc *m);

/* wndl_msvc_demangle with the switches that `m` has. */
bool wndl_msvc_run(struct wndl_msvc *m, struct wndl_bytes name);

/* name */

/* Reads the scopes, up to the '@' that ends a name whose last part is known. */
struct wndl_msvc_name wndl_msvc_scopes(
    struct wndl_msvc *m, struct wndl_msvc_part last);
struct wndl_msvc_name wndl_msvc_symbol_name(struct wndl_msvc *m);
struct wndl_msvc_text wndl_msvc_type_name(struct wndl_msvc *m);
/* Reads the first part of a type name, without scopes. */
struct wndl_msvc_part wndl_msvc_type_part(struct wndl_msvc *m);
struct wndl_msvc_text wndl_msvc_name_text(
    struct wndl_msvc *m, const struct wndl_msvc_name *name);

/* type */

enum wndl_msvc_qualifier {
    WNDL_MSVC_CONST = 1,
    WNDL_MSVC_VOLATILE = 2,
    WNDL_MSVC_RESTRICT = 4,
    WNDL_MSVC_UNALIGNED = 8,
};

/* The qualifiers of a pointer's target. */
unsigned wndl_msvc_qualifiers(struct wndl_msvc *m);
/* The qualifiers of pointers, and of `this`. */
unsigned wndl_msvc_more_qualifiers(struct wndl_msvc *m);
/* "const volatile", each with a space before it if is_spaced. */
struct wndl_msvc_text wndl_msvc_qualifier_text(
    struct wndl_msvc *m, unsigned qualifiers, bool is_spaced);

/*
 * Reads a type with these qualifiers; the second one returns its text without a
 * name.
 */
struct wndl_msvc_type wndl_msvc_type(struct wndl_msvc *m, unsigned qualifiers);
struct wndl_msvc_text wndl_msvc_type_text(
    struct wndl_msvc *m, const struct wndl_msvc_type *type);
/* The type of a result or of a thrown object: qualifiers follow a '?'. */
struct wndl_msvc_type wndl_msvc_result(struct wndl_msvc *m);

/* `after` is the text after the function's own name. */
struct wndl_msvc_signature {
    struct wndl_msvc_type result;
    struct wndl_msvc_text convention;
    struct wndl_msvc_text after;
    bool has_result;
};

/*
 * Reads a function's signature; `has_this`: of a member function that is not
 * static.
 */
struct wndl_msvc_signature wndl_msvc_signature(
    struct wndl_msvc *m, bool has_this);

#endif
