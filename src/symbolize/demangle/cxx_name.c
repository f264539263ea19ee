/* SPDX-License-Identifier: MIT */
/* Names: Itanium C++ ABI 5.1.2 and 5.1.4 to 5.1.8, after "_Z". */
#include "symbolize/demangle/cxx_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- source names */

/* "_GLOBAL__N" and the same with other separators. */
static bool is_anonymous(struct wndl_bytes text)
{
    static const char start[] = "_GLOBAL_";
    enum { SIZE = sizeof start - 1 };
    return text.size >= SIZE + 2 && memcmp(text.data, start, SIZE) == 0 &&
           text.data[SIZE + 1] == 'N' &&
           memchr("_.$", text.data[SIZE], 3) != NULL;
}

struct wndl_cxx_node *wndl_cxx_source_name(struct wndl_cxx *p)
{
    size_t size;
    if (!wndl_cxx_unsigned(p, &size) || size == 0 ||
        size > (size_t)(p->end - p->at))
        return NULL;
    struct wndl_bytes text = {p->at, size};
    p->at += size;
    return is_anonymous(text) ? wndl_cxx_text(p, "(anonymous namespace)")
                              : wndl_cxx_bytes(p, text);
}

struct wndl_cxx_node *wndl_cxx_tags(
    struct wndl_cxx *p, struct wndl_cxx_node *name)
{
    while (name != NULL && wndl_cxx_take(p, "B")) {
        struct wndl_cxx_node *tag = wndl_cxx_source_name(p);
        name = tag == NULL ? NULL : wndl_cxx_one(p, WNDL_CXX_TAGGED, name);
        if (name != NULL)
            name->text = tag->text;
    }
    return name;
}

/* ---- references to parts */

static const struct {
    char code;
    const char *text;
    const char *whole; /* before a constructor or destructor */
} standard[] = {
    {'a', "std::allocator", NULL},
    {'b', "std::basic_string", NULL},
    {'s', "std::string",
        "std::basic_string<char, std::char_traits<char>, "
        "std::allocator<char> >"},
    {'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >"},
    {'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >"},
    {'d', "std::iostream",
        "std::basic_iostream<char, std::char_traits<char> >"},
};

static struct wndl_cxx_node *read_standard(struct wndl_cxx *p, size_t i)
{
    p->at++;
    struct wndl_cxx_node *node = wndl_cxx_text(p, standard[i].text);
    if (node == NULL)
        return NULL;
    node->kind = WNDL_CXX_STD;
    if (standard[i].whole != NULL)
        node->b = wndl_cxx_text(p, standard[i].whole);
    struct wndl_cxx_node *tagged = wndl_cxx_tags(p, node);
    return tagged == node ? node : wndl_cxx_remember(p, tagged);
}

static struct wndl_cxx_node *read_part(struct wndl_cxx *p,
    struct wndl_cxx_node *so_far, struct wndl_cxx_state *state, bool *is_kept);

static struct wndl_cxx_node *read_parts(struct wndl_cxx *p, const uint8_t *end)
{
    struct wndl_cxx_node *so_far = NULL;
    do {
        bool is_kept = false;
        so_far = read_part(p, so_far, NULL, &is_kept);
        (void)wndl_cxx_take(p, "M");
    } while (so_far != NULL && p->at < end);
    return so_far;
}

/* The meaning of the part here; its old one if it cannot be read again. */
static struct wndl_cxx_node *read_again(
    struct wndl_cxx *p, struct wndl_cxx_part part)
{
    const uint8_t *at = p->at;
    size_t parts = p->parts.len;
    size_t names = p->names.len;
    if (part.start == NULL)
        return part.node;
    p->parameters++;
    if (part.scope == p->scope)
        return part.node;
    struct wndl_cxx_node *node = NULL;
    p->at = part.start;
    if (wndl_cxx_enter(p))
        node = part.end == NULL ? wndl_cxx_type(p) : read_parts(p, part.end);
    wndl_cxx_leave(p);
    p->at = at;
    p->parts.len = parts;
    p->names.len = names;
    return node == NULL && !p->failed ? part.node : node;
}

struct wndl_cxx_node *wndl_cxx_substitution(struct wndl_cxx *p)
{
    size_t index;
    if (!wndl_cxx_take(p, "S"))
        return NULL;
    const uint8_t code = wndl_cxx_look(p, 0);
    for (size_t i = 0; code >= 'a' && i < sizeof standard / sizeof *standard;
         i++)
        if (code == standard[i].code)
            return read_standard(p, i);
    if (!wndl_cxx_index(p, 36, &index) || index >= p->parts.len)
        return NULL;
    return read_again(
        p, *(struct wndl_cxx_part *)wndl_vec_at(&p->parts, index));
}

/* ---- parts of names */

/* "W4name", "WP4name": modules, which may be referred to. */
static bool read_module(struct wndl_cxx *p, struct wndl_cxx_node **module)
{
    while (wndl_cxx_take(p, "W")) {
        bool is_partition = wndl_cxx_take(p, "P");
        struct wndl_cxx_node *name = wndl_cxx_source_name(p);
        if (name == NULL)
            return false;
        struct wndl_cxx_node *node = wndl_cxx_new(p, WNDL_CXX_MODULE);
        if (node == NULL)
            return false;
        node->a = *module;
        node->b = name;
        node->flag = is_partition;
        *module = wndl_cxx_remember(p, node);
        if (*module == NULL)
            return false;
    }
    return true;
}

/* "[a, b]" */
static struct wndl_cxx_node *read_binding(struct wndl_cxx *p)
{
    size_t first = p->names.len;
    while (!wndl_cxx_take(p, "E"))
        if (!wndl_cxx_push(p, wndl_cxx_source_name(p)))
            return NULL;
    return wndl_cxx_around(p, "[", wndl_cxx_list(p, WNDL_CXX_LIST, first), "]");
}

/* C1, DI2Base: the name that an inherited one comes from is not printed. */
static struct wndl_cxx_node *read_ctor(struct wndl_cxx *p,
    struct wndl_cxx_node *scope, struct wndl_cxx_state *state)
{
    bool is_dtor = wndl_cxx_look(p, 0) == 'D';
    p->at++;
    bool is_inherited = !is_dtor && wndl_cxx_take(p, "I");
    uint8_t variant = wndl_cxx_look(p, 0);
    if (variant < (is_dtor ? '0' : '1') || variant > '9')
        return NULL;
    p->at++;
    if (state != NULL)
        state->no_result = true;
    if (is_inherited && wndl_cxx_name(p, state) == NULL)
        return NULL;
    if (scope->kind == WNDL_CXX_STD && scope->b != NULL)
        scope->flag = true;
    return wndl_cxx_one(p, is_dtor ? WNDL_CXX_DTOR : WNDL_CXX_CTOR, scope);
}

static struct wndl_cxx_node *read_plain(struct wndl_cxx *p,
    struct wndl_cxx_node *scope, struct wndl_cxx_state *state)
{
    uint8_t c = wndl_cxx_look(p, 0);
    if (c >= '1' && c <= '9')
        return wndl_cxx_source_name(p);
    if (c == 'U')
        return wndl_cxx_unnamed(p, state);
    if (wndl_cxx_take(p, "DC"))
        return read_binding(p);
    if (c == 'C' || (c == 'D' && wndl_cxx_is_digit(wndl_cxx_look(p, 1))))
        return scope == NULL ? NULL : read_ctor(p, scope, state);
    return wndl_cxx_operator_name(p, state);
}

/* The name within `scope`, which may be NULL. */
static struct wndl_cxx_node *read_unqualified(struct wndl_cxx *p,
    struct wndl_cxx_state *state, struct wndl_cxx_node *scope,
    struct wndl_cxx_node *module)
{
    if (!read_module(p, &module))
        return NULL;
    bool is_friend = scope != NULL && wndl_cxx_take(p, "F");
    (void)wndl_cxx_take(p, "L"); /* internal linkage */
    struct wndl_cxx_node *name = read_plain(p, scope, state);
    if (module != NULL)
        name = wndl_cxx_two(p, WNDL_CXX_ATTACHED, name, module);
    name = wndl_cxx_tags(p, name);
    if (is_friend)
        return wndl_cxx_join(p, scope, "::friend ", name);
    return scope == NULL ? name : wndl_cxx_two(p, WNDL_CXX_SCOPED, scope, name);
}

struct wndl_cxx_node *wndl_cxx_unscoped(
    struct wndl_cxx *p, struct wndl_cxx_state *state, bool *is_part)
{
    struct wndl_cxx_node *scope = NULL;
    struct wndl_cxx_node *module = NULL;
    *is_part = false;
    if (wndl_cxx_take(p, "St"))
        scope = wndl_cxx_text(p, "std");
    if (wndl_cxx_look(p, 0) == 'S') {
        struct wndl_cxx_node *part = wndl_cxx_substitution(p);
        if (part == NULL)
            return NULL;
        if (part->kind != WNDL_CXX_MODULE) {
            *is_part = scope == NULL;
            return *is_part ? part : NULL;
        }
        module = part;
    }
    return read_unqualified(p, state, scope, module);
}

/* ---- nested names */

static void read_object(struct wndl_cxx *p, struct wndl_cxx_state *state)
{
    uint8_t quals = 0;
    bool explicit_object = wndl_cxx_take(p, "H");
    if (!explicit_object)
        quals = wndl_cxx_qualifiers(p);
    if (wndl_cxx_take(p, "R"))
        quals |= WNDL_CXX_LREF;
    else if (wndl_cxx_take(p, "O"))
        quals |= WNDL_CXX_RREF;
    if (state == NULL)
        return;
    state->quals = quals;
    state->explicit_object = explicit_object;
}

/* A prefix that stands for itself; NULL: another kind, or failure. */
static struct wndl_cxx_node *read_first(
    struct wndl_cxx *p, struct wndl_cxx_node **module, bool *is_known)
{
    *is_known = false;
    if (wndl_cxx_look(p, 0) != 'S')
        return NULL;
    struct wndl_cxx_node *part = wndl_cxx_take(p, "St")
                                     ? wndl_cxx_text(p, "std")
                                     : wndl_cxx_substitution(p);
    *is_known = part == NULL || part->kind != WNDL_CXX_MODULE;
    if (!*is_known)
        *module = part;
    return *is_known ? part : NULL;
}

static struct wndl_cxx_node *read_with_arguments(struct wndl_cxx *p,
    struct wndl_cxx_node *name, struct wndl_cxx_state *state)
{
    if (name == NULL || name->kind == WNDL_CXX_TEMPLATE)
        return NULL;
    struct wndl_cxx_node *arguments = wndl_cxx_arguments(p, state != NULL);
    if (state != NULL)
        state->arguments = true;
    return wndl_cxx_two(p, WNDL_CXX_TEMPLATE, name, arguments);
}

/* The next part; *is_kept says that it must not be remembered. */
static struct wndl_cxx_node *read_part(struct wndl_cxx *p,
    struct wndl_cxx_node *so_far, struct wndl_cxx_state *state, bool *is_kept)
{
    struct wndl_cxx_node *module = NULL;
    uint8_t c = wndl_cxx_look(p, 0);
    uint8_t next = wndl_cxx_look(p, 1);
    if (state != NULL)
        state->arguments = false;
    if (c == 'T')
        return so_far == NULL ? wndl_cxx_parameter(p) : NULL;
    if (c == 'I')
        return read_with_arguments(p, so_far, state);
    if (c == 'D' && (next == 't' || next == 'T'))
        return so_far == NULL ? wndl_cxx_decltype(p) : NULL;
    struct wndl_cxx_node *first = read_first(p, &module, is_kept);
    if (*is_kept)
        return so_far == NULL ? first : NULL;
    return read_unqualified(p, state, so_far, module);
}

static struct wndl_cxx_node *read_nested(
    struct wndl_cxx *p, struct wndl_cxx_state *state)
{
    struct wndl_cxx_node *so_far = NULL;
    bool is_kept = true;
    unsigned parameters = p->parameters;
    read_object(p, state);
    const uint8_t *start = p->at;
    while (!wndl_cxx_take(p, "E")) {
        is_kept = false;
        so_far = read_part(p, so_far, state, &is_kept);
        const uint8_t *from = p->parameters == parameters ? NULL : start;
        if (so_far == NULL ||
            (!is_kept && wndl_cxx_remember_at(p, so_far, from, p->at) == NULL))
            return NULL;
        (void)wndl_cxx_take(p, "M"); /* a lambda of an initializer */
    }
    if (so_far == NULL || is_kept)
        return NULL;
    p->parts.len--;
    return so_far;
}

/* ---- local names */

/* "_3", "__12_", and at the end digits alone. */
static void skip_discriminator(struct wndl_cxx *p)
{
    const uint8_t *start = p->at;
    if (wndl_cxx_take(p, "__")) {
        if (wndl_cxx_number(p, false).size == 0 || !wndl_cxx_take(p, "_"))
            p->at = start;
    } else if (wndl_cxx_take(p, "_")) {
        if (wndl_cxx_is_digit(wndl_cxx_look(p, 0)))
            p->at++;
        else
            p->at = start;
    } else if (wndl_cxx_number(p, false).size != 0 && p->at != p->end) {
        p->at = start;
    }
}

static struct wndl_cxx_node *read_local(
    struct wndl_cxx *p, struct wndl_cxx_state *state)
{
    struct wndl_cxx_node *in = wndl_cxx_encoding(p);
    if (in == NULL || !wndl_cxx_take(p, "E"))
        return NULL;
    if (in->kind == WNDL_CXX_ENCODING)
        in->a = NULL; /* the result of the function around is no news */
    if (wndl_cxx_take(p, "s")) {
        skip_discriminator(p);
        return wndl_cxx_two(
            p, WNDL_CXX_SCOPED, in, wndl_cxx_text(p, "string literal"));
    }
    if (wndl_cxx_take(p, "d")) {
        size_t from_last;
        if (!wndl_cxx_index(p, 10, &from_last))
            return NULL;
        char text[40];
        snprintf(text, sizeof text, "{default arg#%zu}::", from_last + 1);
        char *copy = wndl_arena_copy(p->arena, text, strlen(text));
        struct wndl_cxx_node *name = wndl_cxx_name(p, state);
        if (copy == NULL)
            return NULL;
        return wndl_cxx_two(
            p, WNDL_CXX_SCOPED, in, wndl_cxx_around(p, copy, name, ""));
    }
    struct wndl_cxx_node *name = wndl_cxx_name(p, state);
    skip_discriminator(p);
    return wndl_cxx_two(p, WNDL_CXX_SCOPED, in, name);
}

/* ---- whole names */

static struct wndl_cxx_node *read_name(
    struct wndl_cxx *p, struct wndl_cxx_state *state)
{
    bool is_part;
    if (wndl_cxx_take(p, "N"))
        return read_nested(p, state);
    if (wndl_cxx_take(p, "Z"))
        return read_local(p, state);
    struct wndl_cxx_node *name = wndl_cxx_unscoped(p, state, &is_part);
    if (wndl_cxx_look(p, 0) != 'I')
        return is_part ? NULL : name;
    if (!is_part && wndl_cxx_remember(p, name) == NULL)
        return NULL;
    return read_with_arguments(p, name, state);
}

struct wndl_cxx_node *wndl_cxx_name(
    struct wndl_cxx *p, struct wndl_cxx_state *state)
{
    struct wndl_cxx_node *name = wndl_cxx_enter(p) ? read_name(p, state) : NULL;
    wndl_cxx_leave(p);
    return name;
}

/* ---- closures and unnamed types */

static struct wndl_cxx_node *number_text(
    struct wndl_cxx *p, const char *before, size_t number)
{
    char text[60];
    snprintf(text, sizeof text, "%s#%zu}", before, number + 1);
    char *copy = wndl_arena_copy(p->arena, text, strlen(text));
    p->failed |= copy == NULL;
    return copy == NULL ? NULL : wndl_cxx_text(p, copy);
}

/* "<typename $T0>", and the level of the closure's template parameters. */
static bool read_declarations(struct wndl_cxx *p, struct wndl_vec *level)
{
    size_t first = p->names.len;
    while (wndl_cxx_is_declaration(p))
        if (!wndl_cxx_push(p, wndl_cxx_declaration(p, level)))
            return false;
    if (p->names.len == first)
        return true;
    return wndl_cxx_push(p,
        wndl_cxx_around(p, "<", wndl_cxx_list(p, WNDL_CXX_LIST, first), ">"));
}

/* " requires X", if it is there. */
static bool push_requires(struct wndl_cxx *p)
{
    return !wndl_cxx_take(p, "Q") || wndl_cxx_push(p, wndl_cxx_requires(p));
}

/* Pushes the parts between "{lambda" and "}". */
static bool read_closure(struct wndl_cxx *p)
{
    struct wndl_vec *level = wndl_arena_alloc(p->arena, sizeof *level);
    struct wndl_cxx_levels *levels = &p->levels;
    size_t count = levels->count;
    if (level == NULL || count >= WNDL_CXX_LEVELS)
        return false;
    wndl_vec_init(level, p->arena, sizeof(struct wndl_cxx_node *));
    p->lambda_level = (int)count;
    levels->at[levels->count++] = level;
    if (!read_declarations(p, level))
        return false;
    if (level->len == 0)
        levels->count = count;
    if (!push_requires(p))
        return false;
    size_t first = p->names.len;
    if (!wndl_cxx_parameters(p, "EQ") ||
        !wndl_cxx_push(p, wndl_cxx_around(p, "(",
                              wndl_cxx_list(p, WNDL_CXX_LIST, first), ")")))
        return false;
    return push_requires(p);
}

/* T_ has a meaning of its own in the closure's parameters. */
static struct wndl_cxx_node *read_lambda(struct wndl_cxx *p)
{
    size_t index;
    size_t first = p->names.len;
    int level = p->lambda_level;
    size_t count = p->levels.count;
    unsigned scope = p->scope;
    p->scope = ++p->scopes;
    bool whole =
        wndl_cxx_push(p, wndl_cxx_text(p, "{lambda")) && read_closure(p);
    p->scope = scope;
    p->lambda_level = level;
    p->levels.count = count;
    if (!whole || !wndl_cxx_take(p, "E") || !wndl_cxx_index(p, 10, &index) ||
        !wndl_cxx_push(p, number_text(p, "", index)))
        return NULL;
    return wndl_cxx_list(p, WNDL_CXX_SEQUENCE, first);
}

struct wndl_cxx_node *wndl_cxx_unnamed(
    struct wndl_cxx *p, struct wndl_cxx_state *state)
{
    size_t index;
    if (state != NULL)
        p->levels.count = 0;
    if (wndl_cxx_take(p, "Ut"))
        return wndl_cxx_index(p, 10, &index)
                   ? number_text(p, "{unnamed type", index)
                   : NULL;
    if (wndl_cxx_take(p, "Ul"))
        return read_lambda(p);
    if (!wndl_cxx_take(p, "Ub"))
        return NULL;
    (void)wndl_cxx_number(p, false);
    return wndl_cxx_take(p, "_") ? wndl_cxx_text(p, "{block literal}") : NULL;
}
