/* SPDX-License-Identifier: MIT */
/*
 * cxx_internal: the parts that the files of the reader of C++ names share.
 *
 *   cxx              whole symbols; nodes; small parts
 *   cxx_name         names: nested, local, operators, closures
 *   cxx_type         types
 *   cxx_template     template parameters and arguments
 *   cxx_expression   expressions
 *   cxx_operator     operators, as names and in expressions
 *   cxx_encoding     functions, and special names
 *   cxx_print        text
 *
 * Reading makes a tree, because a part of a name may refer to parts that come
 * later, and a pack of parameters stands for as many types as are printed. The
 * tree has at most as many nodes as WNDL_CXX_NODES, and parts of it may be used
 * more than once: it is printed with a limit on the text and on the steps.
 * A function of the grammar returns NULL for what does not fit it.
 */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_CXX_INTERNAL_H
#define WNDL_SYMBOLIZE_DEMANGLE_CXX_INTERNAL_H

#include "base/arena.h"
#include "base/vec.h"
#include "symbolize/demangle/cxx.h"

#include <string.h>

enum { WNDL_CXX_NODES = 1 << 16, WNDL_CXX_DEPTH = 1200, WNDL_CXX_LEVELS = 16 };

enum wndl_cxx_kind {
    WNDL_CXX_TEXT,
    WNDL_CXX_STD,       /* text: "std::string"; b: the whole name */
    WNDL_CXX_SEQUENCE,  /* the list, one after the other */
    WNDL_CXX_LIST,      /* the list with commas; empty packs are left out */
    WNDL_CXX_SCOPED,    /* a::b */
    WNDL_CXX_TAGGED,    /* a[abi:text] */
    WNDL_CXX_ATTACHED,  /* a@b, of a module */
    WNDL_CXX_TEMPLATE,  /* a<b>, b is a LIST */
    WNDL_CXX_CTOR,      /* the last part of the name a */
    WNDL_CXX_DTOR,      /* the same with ~ */
    WNDL_CXX_PACK,      /* one of the list, whose turn it is */
    WNDL_CXX_EXPANSION, /* a for each of its packs */
    WNDL_CXX_ARGUMENTS, /* a pack of template arguments: all */
    WNDL_CXX_FORWARD,   /* a, once it is known; number: of the parameter */
    WNDL_CXX_MODULE,    /* a.b; flag: a:b */
    /* from here on, a part comes after the name */
    WNDL_CXX_QUALIFIED, /* a, then quals */
    WNDL_CXX_POINTER,   /* text: "*", "&", "&&" */
    WNDL_CXX_REFERENCE,
    WNDL_CXX_MEMBER,   /* a: the class, b: the type */
    WNDL_CXX_ARRAY,    /* a[b] */
    WNDL_CXX_FUNCTION, /* a: result or NULL; list; quals; ref; b: exceptions */
    WNDL_CXX_ENCODING, /* the same; b: name, c: what comes after */
    WNDL_CXX_FIRST_WITH_RIGHT = WNDL_CXX_QUALIFIED,
};

enum wndl_cxx_quals {
    WNDL_CXX_CONST = 1,
    WNDL_CXX_VOLATILE = 2,
    WNDL_CXX_RESTRICT = 4,
    WNDL_CXX_LREF = 8,
    WNDL_CXX_RREF = 16,
};

struct wndl_cxx_node;

struct wndl_cxx_list {
    struct wndl_cxx_node **items;
    size_t count;
};

struct wndl_cxx_node {
    uint8_t kind;  /* enum wndl_cxx_kind */
    uint8_t quals; /* enum wndl_cxx_quals */
    bool flag;
    uint32_t number;
    struct wndl_bytes text;
    struct wndl_cxx_list list;
    struct wndl_cxx_node *a, *b, *c;
};

/*
 * A part that may be referred to. The same T_ means another type in another
 * function, so that a part with template parameters is read again there:
 * `start` is NULL for other parts. A part of a nested name reaches up to `end`;
 * else `end` is NULL, and the part is a type.
 */
struct wndl_cxx_part {
    struct wndl_cxx_node *node;
    const uint8_t *start, *end;
    unsigned scope;
};

/* Template parameters of all levels: the arguments that stand for them. */
struct wndl_cxx_levels {
    struct wndl_vec *at[WNDL_CXX_LEVELS]; /* struct wndl_cxx_node * */
    size_t count;
};

/*
 * `names` is a stack of nodes that will be a list; `lambda_level` is the level
 * at which unknown parameters are "auto", or -1.
 */
struct wndl_cxx {
    const uint8_t *at, *end;
    struct wndl_arena *arena;
    struct wndl_cxx_node *spare, *spare_end; /* zeroed */
    struct wndl_vec names, forwards;
    struct wndl_vec parts;  /* struct wndl_cxx_part */
    unsigned scope, scopes; /* the current encoding, and all so far */
    unsigned parameters;    /* template parameters so far */
    struct wndl_vec outer;  /* level 0 */
    unsigned outer_lists;   /* of arguments, in the current encoding */
    struct wndl_cxx_levels levels;
    int lambda_level;
    bool no_arguments;  /* none after a template parameter */
    bool may_be_unread; /* a parameter whose argument comes later */
    bool in_constraint; /* parameters of any enclosing template */
    bool failed;        /* no memory, or a limit */
    unsigned depth;
    unsigned nodes;
    unsigned invented[3];
};

/* Properties of a function's name that decide how the rest is read. */
struct wndl_cxx_state {
    bool no_result; /* constructor, destructor, conversion */
    bool arguments; /* it ends with template arguments */
    bool explicit_object;
    uint8_t quals;
    size_t forward; /* the first of `forwards` that is its own */
};

/* ---- cxx: bytes */

static inline uint8_t wndl_cxx_look(const struct wndl_cxx *p, size_t ahead)
{
    return (size_t)(p->end - p->at) > ahead ? p->at[ahead] : 0;
}

/* Takes `text`, a constant, if it comes next. */
static inline __attribute__((always_inline)) bool wndl_cxx_take(
    struct wndl_cxx *p, const char *text)
{
    size_t size = strlen(text);
    if ((size_t)(p->end - p->at) < size || memcmp(p->at, text, size) != 0)
        return false;
    p->at += size;
    return true;
}

static inline bool wndl_cxx_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Digits, perhaps with n for a minus before them; empty if there are none. */
struct wndl_bytes wndl_cxx_number(struct wndl_cxx *p, bool is_signed);
/* A number in the range; false if it is none. */
bool wndl_cxx_unsigned(struct wndl_cxx *p, size_t *value);
/* "_" is 0, "0_" is 1, in base 10 or 36. */
bool wndl_cxx_index(struct wndl_cxx *p, unsigned base, size_t *index);

/* Enters and leaves a level of nesting; false at the limit. */
static inline bool wndl_cxx_enter(struct wndl_cxx *p)
{
    p->failed |= p->depth >= WNDL_CXX_DEPTH;
    p->depth++;
    return !p->failed;
}

static inline void wndl_cxx_leave(struct wndl_cxx *p)
{
    p->depth--;
}

/* ---- cxx: nodes; NULL at the limit, or if a part is NULL */

/* Room for some nodes when there is none; false at the limit. */
bool wndl_cxx_more_nodes(struct wndl_cxx *p);
static inline struct wndl_cxx_node *wndl_cxx_new(
    struct wndl_cxx *p, enum wndl_cxx_kind kind)
{
    if (p->failed || (p->spare == p->spare_end && !wndl_cxx_more_nodes(p)))
        return NULL;
    p->spare->kind = (uint8_t)kind;
    return p->spare++;
}
struct wndl_cxx_node *wndl_cxx_text(struct wndl_cxx *p, const char *text);
struct wndl_cxx_node *wndl_cxx_bytes(
    struct wndl_cxx *p, struct wndl_bytes text);
struct wndl_cxx_node *wndl_cxx_one(
    struct wndl_cxx *p, enum wndl_cxx_kind kind, struct wndl_cxx_node *a);
struct wndl_cxx_node *wndl_cxx_two(struct wndl_cxx *p, enum wndl_cxx_kind kind,
    struct wndl_cxx_node *a, struct wndl_cxx_node *b);
/* "before", a, "after" */
struct wndl_cxx_node *wndl_cxx_around(struct wndl_cxx *p, const char *before,
    struct wndl_cxx_node *a, const char *after);
/* a, "between", b */
struct wndl_cxx_node *wndl_cxx_join(struct wndl_cxx *p, struct wndl_cxx_node *a,
    const char *between, struct wndl_cxx_node *b);

/* False when memory is out. */
static inline bool wndl_cxx_append(
    struct wndl_vec *list, struct wndl_cxx_node *node)
{
    struct wndl_cxx_node **slot;
    if (list->len < list->cap)
        slot = (struct wndl_cxx_node **)list->data + list->len++;
    else
        slot = wndl_vec_push(list);
    if (slot != NULL)
        *slot = node;
    return slot != NULL;
}

/* Pushes onto `names`; false if `node` is NULL. */
bool wndl_cxx_push(struct wndl_cxx *p, struct wndl_cxx_node *node);
/* Takes what is above `first` off `names`. */
struct wndl_cxx_list wndl_cxx_pop(struct wndl_cxx *p, size_t first);
struct wndl_cxx_node *wndl_cxx_list(
    struct wndl_cxx *p, enum wndl_cxx_kind kind, size_t first);
/* Remembers a part that may be referred to. Returns it. */
struct wndl_cxx_node *wndl_cxx_remember(
    struct wndl_cxx *p, struct wndl_cxx_node *node);
/* The same, with `start` and `end` of a part with template parameters. */
struct wndl_cxx_node *wndl_cxx_remember_at(struct wndl_cxx *p,
    struct wndl_cxx_node *node, const uint8_t *start, const uint8_t *end);

/* ---- the grammar */

struct wndl_cxx_node *wndl_cxx_encoding(struct wndl_cxx *p);
struct wndl_cxx_node *wndl_cxx_name(
    struct wndl_cxx *p, struct wndl_cxx_state *state);
struct wndl_cxx_node *wndl_cxx_source_name(struct wndl_cxx *p);
struct wndl_cxx_node *wndl_cxx_substitution(struct wndl_cxx *p);
/* "std", or a reference: *is_part says that it is one. */
struct wndl_cxx_node *wndl_cxx_unscoped(
    struct wndl_cxx *p, struct wndl_cxx_state *state, bool *is_part);
struct wndl_cxx_node *wndl_cxx_unnamed(
    struct wndl_cxx *p, struct wndl_cxx_state *state);
struct wndl_cxx_node *wndl_cxx_tags(
    struct wndl_cxx *p, struct wndl_cxx_node *name);
struct wndl_cxx_node *wndl_cxx_type(struct wndl_cxx *p);
struct wndl_cxx_node *wndl_cxx_decltype(struct wndl_cxx *p);
uint8_t wndl_cxx_qualifiers(struct wndl_cxx *p);
/* The types up to one of the bytes, or the end; onto `names`. "v" is none. */
bool wndl_cxx_parameters(struct wndl_cxx *p, const char *ends);
/* Also before one of the bytes. */
bool wndl_cxx_is_at(const struct wndl_cxx *p, const char *bytes);

struct wndl_cxx_node *wndl_cxx_parameter(struct wndl_cxx *p);
struct wndl_cxx_node *wndl_cxx_arguments(struct wndl_cxx *p, bool are_outer);
struct wndl_cxx_node *wndl_cxx_argument(struct wndl_cxx *p);
bool wndl_cxx_is_declaration(const struct wndl_cxx *p);
/* Also adds the parameter to `level`, if that is not NULL. */
struct wndl_cxx_node *wndl_cxx_declaration(
    struct wndl_cxx *p, struct wndl_vec *level);

struct wndl_cxx_node *wndl_cxx_expression(struct wndl_cxx *p);
struct wndl_cxx_node *wndl_cxx_literal(struct wndl_cxx *p);
/* " requires X" after Q; NULL for failure. */
struct wndl_cxx_node *wndl_cxx_requires(struct wndl_cxx *p);

/* ---- operators */

enum wndl_cxx_form {
    WNDL_CXX_PREFIX,
    WNDL_CXX_POSTFIX,
    WNDL_CXX_BINARY,
    WNDL_CXX_INDEX,
    WNDL_CXX_DOT, /* members */
    WNDL_CXX_CALL,
    WNDL_CXX_CONDITIONAL,
    WNDL_CXX_CAST,    /* text<type>(expression) */
    WNDL_CXX_OF_TYPE, /* text (type) */
    WNDL_CXX_OF_EXPRESSION,
    WNDL_CXX_CREATE,
    WNDL_CXX_DELETE,
    WNDL_CXX_NO_EXPRESSION, /* a name only */
};

struct wndl_cxx_operator {
    char code[3];
    uint8_t form; /* enum wndl_cxx_form */
    bool is_name; /* can be the name of a function */
    const char *text;
};

/* The operator at the current place, which is not taken; or NULL. */
const struct wndl_cxx_operator *wndl_cxx_find_operator(
    const struct wndl_cxx *p);
struct wndl_cxx_node *wndl_cxx_operator_name(
    struct wndl_cxx *p, struct wndl_cxx_state *state);

/* ---- text */

/* Appends `node` to `out`. False at the limits. */
bool wndl_cxx_print(
    struct wndl_cxx_node *node, size_t most, struct wndl_buf *out);

#endif
