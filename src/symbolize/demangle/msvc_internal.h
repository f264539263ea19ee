/* SPDX-License-Identifier: MIT */
/*
 * msvc_internal: what the files of the reader of Microsoft's names share.
 *
 *   msvc         pieces of text; whole symbols
 *   msvc_name    names: scopes, templates, operators
 *   msvc_type    types and signatures of functions
 *
 * Text is put together at the end of a pool, from pieces that are in it
 * already. A name can refer to its own parts, and so stand for an
 * astronomically long one: the pool is bounded, and once it is full the name
 * has failed. So is the nesting of what is read.
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

/* As in declarations: what is before the name and what is behind it. A
 * function's calling convention comes last in what is before. */
struct wndl_msvc_type {
    enum wndl_msvc_kind kind;
    struct wndl_msvc_text before;
    struct wndl_msvc_text convention;
    struct wndl_msvc_text behind;
};

/* What digits refer to; template arguments have their own. */
struct wndl_msvc_memory {
    struct wndl_msvc_text names[WNDL_MSVC_REMEMBERED];
    struct wndl_msvc_type types[WNDL_MSVC_REMEMBERED];
    uint32_t name_count;
    uint32_t type_count;
};

struct wndl_msvc {
    struct wndl_cursor c; /* fails for all: see its `failed` */
    struct wndl_buf *pool;
    struct wndl_msvc_memory memory;
    uint32_t depth;
    bool is_whole;  /* return types and such are told */
    bool is_clangs; /* which refers to fewer names */
};

enum wndl_msvc_name_kind {
    WNDL_MSVC_NAME,
    WNDL_MSVC_CONSTRUCTOR, /* called as its class is */
    WNDL_MSVC_DESTRUCTOR,
    WNDL_MSVC_CONVERSION, /* called as what it returns is */
};

/* The last part of a name; `arguments` are a template's. */
struct wndl_msvc_part {
    enum wndl_msvc_name_kind kind;
    struct wndl_msvc_text text;
    struct wndl_msvc_text arguments;
};

/* With scopes, "a::b::" or empty. */
struct wndl_msvc_name {
    struct wndl_msvc_text scope;
    struct wndl_msvc_part last;
};

struct wndl_msvc_symbol {
    struct wndl_msvc_text text;
    struct wndl_msvc_text last; /* of its name */
};

/* msvc */

/* The character `i` from here, 0 behind the end. */
char wndl_msvc_peek(const struct wndl_msvc *m, size_t i);
/* Passes over `text` if it is next. */
bool wndl_msvc_take(struct wndl_msvc *m, const char *text);
struct wndl_msvc_text wndl_msvc_fail(struct wndl_msvc *m);

/* Whether the pool takes so much more. All that is written to it asks. */
bool wndl_msvc_has_room(const struct wndl_msvc *m, size_t size);

/* One level deeper; false when that is too deep. Undone by depth--. */
bool wndl_msvc_enter(struct wndl_msvc *m);

/*
 * Text by a pattern: each '$' stands for a struct wndl_msvc_text, '#' for a
 * space if there is a letter, digit or '>' before it; the rest is itself.
 */
struct wndl_msvc_text wndl_msvc_make(
    struct wndl_msvc *m, const char *pattern, ...);

struct wndl_msvc_number {
    uint64_t value;
    bool is_negative;
};

struct wndl_msvc_number wndl_msvc_take_number(struct wndl_msvc *m);
struct wndl_msvc_text wndl_msvc_number(struct wndl_msvc *m);

/* A whole one, from its '?' on. */
struct wndl_msvc_symbol wndl_msvc_symbol(struct wndl_msvc *m);

/* All of wndl_msvc_demangle, by the switches that `m` has. */
bool wndl_msvc_run(struct wndl_msvc *m, struct wndl_bytes name);

/* name */

/* Scopes, up to the '@' that ends the name whose last part is known. */
struct wndl_msvc_name wndl_msvc_scopes(
    struct wndl_msvc *m, struct wndl_msvc_part last);
struct wndl_msvc_name wndl_msvc_symbol_name(struct wndl_msvc *m);
struct wndl_msvc_text wndl_msvc_type_name(struct wndl_msvc *m);
/* One that type names may begin with, without scopes. */
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

/* Of what a pointer points to. */
unsigned wndl_msvc_qualifiers(struct wndl_msvc *m);
/* Of pointers, and of `this`. */
unsigned wndl_msvc_more_qualifiers(struct wndl_msvc *m);
/* "const volatile", each with a space before it if is_spaced. */
struct wndl_msvc_text wndl_msvc_qualifier_text(
    struct wndl_msvc *m, unsigned qualifiers, bool is_spaced);

struct wndl_msvc_type wndl_msvc_type(struct wndl_msvc *m, unsigned qualifiers);
struct wndl_msvc_text wndl_msvc_type_text(
    struct wndl_msvc *m, const struct wndl_msvc_type *type);
/* Of what is returned or thrown: qualifiers come after a '?'. */
struct wndl_msvc_type wndl_msvc_result(struct wndl_msvc *m);

/* `behind` is what the function itself has behind its name. */
struct wndl_msvc_signature {
    struct wndl_msvc_type result;
    struct wndl_msvc_text convention;
    struct wndl_msvc_text behind;
    bool has_result;
};

struct wndl_msvc_signature wndl_msvc_signature(
    struct wndl_msvc *m, bool has_this);

#endif
