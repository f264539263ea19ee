/* SPDX-License-Identifier: MIT */
/* Expressions: Itanium C++ ABI 5.1.6. */
#include "symbolize/demangle/cxx_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- literals */

static const struct {
    char code;
    const char *before, *after;
} integers[] = {
    {'a', "(signed char)", ""},
    {'c', "(char)", ""},
    {'h', "(unsigned char)", ""},
    {'i', "", ""},
    {'j', "", "u"},
    {'l', "", "l"},
    {'m', "", "ul"},
    {'n', "(__int128)", ""},
    {'o', "(unsigned __int128)", ""},
    {'s', "(short)", ""},
    {'t', "(unsigned short)", ""},
    {'w', "(wchar_t)", ""},
    {'x', "", "ll"},
    {'y', "", "ull"},
};

/* "n12" is -12. */
static struct wndl_cxx_node *read_digits(struct wndl_cxx *p)
{
    struct wndl_bytes digits = wndl_cxx_number(p, true);
    if (digits.size == 0)
        return NULL;
    if (digits.data[0] != 'n')
        return wndl_cxx_bytes(p, digits);
    return wndl_cxx_around(p, "-",
        wndl_cxx_bytes(
            p, (struct wndl_bytes){digits.data + 1, digits.size - 1}),
        "");
}

static struct wndl_cxx_node *read_bool(struct wndl_cxx *p)
{
    bool is_true = wndl_cxx_take(p, "1");
    if (!is_true && !wndl_cxx_take(p, "0"))
        return NULL;
    return wndl_cxx_text(p, is_true ? "true" : "false");
}

/* Hexadecimal digits of the value in memory, high ones first. */
static struct wndl_cxx_node *read_float(struct wndl_cxx *p, const char *type)
{
    const uint8_t *start = p->at;
    while (!wndl_cxx_is_at(p, "E"))
        p->at++;
    struct wndl_bytes digits = {start, (size_t)(p->at - start)};
    return wndl_cxx_join(p, wndl_cxx_text(p, type), "[",
        wndl_cxx_around(p, "", wndl_cxx_bytes(p, digits), "]"));
}

static struct wndl_cxx_node *read_number(struct wndl_cxx *p)
{
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        if (wndl_cxx_look(p, 0) == (uint8_t)integers[i].code) {
            p->at++;
            return wndl_cxx_around(
                p, integers[i].before, read_digits(p), integers[i].after);
        }
    if (wndl_cxx_take(p, "b"))
        return read_bool(p);
    if (wndl_cxx_take(p, "f"))
        return read_float(p, "(float)");
    if (wndl_cxx_take(p, "d"))
        return read_float(p, "(double)");
    return wndl_cxx_take(p, "e") ? read_float(p, "(long double)") : NULL;
}

/* Literals of an enumeration, a string, a pointer. */
static struct wndl_cxx_node *read_typed(struct wndl_cxx *p)
{
    bool is_string = wndl_cxx_look(p, 0) == 'A';
    struct wndl_cxx_node *type = wndl_cxx_type(p);
    if (type == NULL)
        return NULL;
    if (wndl_cxx_is_at(p, "E"))
        return is_string ? wndl_cxx_around(p, "\"<", type, ">\"")
                         : wndl_cxx_around(p, "(", type, ")");
    return wndl_cxx_join(
        p, wndl_cxx_around(p, "(", type, ""), ")", read_digits(p));
}

static struct wndl_cxx_node *read_literal(struct wndl_cxx *p)
{
    if (wndl_cxx_take(p, "_Z"))
        return wndl_cxx_encoding(p);
    if (wndl_cxx_take(p, "Dn")) {
        (void)wndl_cxx_take(p, "0");
        return wndl_cxx_text(p, "nullptr");
    }
    if (wndl_cxx_look(p, 0) == 'U')
        return wndl_cxx_unnamed(p, NULL);
    struct wndl_cxx_node *number = read_number(p);
    return number != NULL || p->failed ? number : read_typed(p);
}

struct wndl_cxx_node *wndl_cxx_literal(struct wndl_cxx *p)
{
    if (!wndl_cxx_take(p, "L"))
        return NULL;
    struct wndl_cxx_node *node = read_literal(p);
    return wndl_cxx_take(p, "E") ? node : NULL;
}

/* ---- lists */

/* The expressions up to `end`, with commas. */
static struct wndl_cxx_node *read_list(struct wndl_cxx *p, const char *end)
{
    size_t first = p->names.len;
    while (!wndl_cxx_take(p, end))
        if (!wndl_cxx_push(p, wndl_cxx_expression(p)))
            return NULL;
    return wndl_cxx_list(p, WNDL_CXX_LIST, first);
}

/* TYPE{...} */
static struct wndl_cxx_node *read_braces(
    struct wndl_cxx *p, struct wndl_cxx_node *type)
{
    return type == NULL ? NULL
                        : wndl_cxx_join(p, type, "{",
                              wndl_cxx_around(p, "", read_list(p, "E"), "}"));
}

/* ---- names that are not known before the template is used */

static struct wndl_cxx_node *with_arguments(
    struct wndl_cxx *p, struct wndl_cxx_node *name)
{
    if (wndl_cxx_look(p, 0) != 'I')
        return name;
    return wndl_cxx_two(
        p, WNDL_CXX_TEMPLATE, name, wndl_cxx_arguments(p, false));
}

static struct wndl_cxx_node *read_simple(struct wndl_cxx *p)
{
    return with_arguments(p, wndl_cxx_source_name(p));
}

static struct wndl_cxx_node *read_unresolved_type(struct wndl_cxx *p)
{
    if (wndl_cxx_look(p, 0) == 'T')
        return wndl_cxx_remember(p, wndl_cxx_parameter(p));
    if (wndl_cxx_look(p, 0) == 'D')
        return wndl_cxx_remember(p, wndl_cxx_decltype(p));
    if (wndl_cxx_look(p, 0) == 'S' && wndl_cxx_look(p, 1) == 't')
        return wndl_cxx_remember(p, wndl_cxx_name(p, NULL));
    return wndl_cxx_substitution(p);
}

static struct wndl_cxx_node *read_base(struct wndl_cxx *p)
{
    if (wndl_cxx_is_digit(wndl_cxx_look(p, 0)))
        return read_simple(p);
    if (wndl_cxx_take(p, "dn"))
        return wndl_cxx_around(p, "~",
            wndl_cxx_is_digit(wndl_cxx_look(p, 0)) ? read_simple(p)
                                                   : read_unresolved_type(p),
            "");
    (void)wndl_cxx_take(p, "on");
    return with_arguments(p, wndl_cxx_operator_name(p, NULL));
}

static struct wndl_cxx_node *add_scopes(
    struct wndl_cxx *p, struct wndl_cxx_node *so_far)
{
    while (!wndl_cxx_take(p, "E")) {
        struct wndl_cxx_node *name = read_simple(p);
        so_far = so_far == NULL
                     ? name
                     : wndl_cxx_two(p, WNDL_CXX_SCOPED, so_far, name);
        if (so_far == NULL)
            return NULL;
    }
    return so_far;
}

static struct wndl_cxx_node *read_unresolved(struct wndl_cxx *p)
{
    struct wndl_cxx_node *scope;
    if (wndl_cxx_take(p, "srN")) {
        scope = with_arguments(p, read_unresolved_type(p));
        scope = scope == NULL ? NULL : add_scopes(p, scope);
    } else if (!wndl_cxx_take(p, "sr")) {
        return read_base(p);
    } else if (wndl_cxx_is_digit(wndl_cxx_look(p, 0))) {
        scope = add_scopes(p, NULL);
    } else {
        scope = with_arguments(p, read_unresolved_type(p));
    }
    return scope == NULL
               ? NULL
               : wndl_cxx_two(p, WNDL_CXX_SCOPED, scope, read_base(p));
}

/* ---- parameters of the function */

/* fp_, fp0_, fpK_, fL0p_, fpT: numbers of scopes are not printed. */
static struct wndl_cxx_node *read_function_parameter(struct wndl_cxx *p)
{
    size_t index;
    char text[40];
    if (wndl_cxx_take(p, "fpT"))
        return wndl_cxx_text(p, "this");
    bool is_outer = wndl_cxx_take(p, "fL");
    if (is_outer)
        (void)wndl_cxx_number(p, false);
    if (!wndl_cxx_take(p, is_outer ? "p" : "fp"))
        return NULL;
    (void)wndl_cxx_qualifiers(p);
    if (!wndl_cxx_index(p, 10, &index))
        return NULL;
    snprintf(text, sizeof text, "{parm#%zu}", index + 1);
    char *copy = wndl_arena_copy(p->arena, text, strlen(text));
    return copy == NULL ? NULL : wndl_cxx_text(p, copy);
}

/* "" when memory is out. */
static const char *spaced(struct wndl_cxx *p, const char *text)
{
    char all[8];
    snprintf(all, sizeof all, " %s ", text);
    const char *copy = wndl_arena_copy(p->arena, all, strlen(all));
    p->failed |= copy == NULL;
    return copy == NULL ? "" : copy;
}

/* An operand of a fold: a pack is shown with all that it stands for. */
static struct wndl_cxx_node *read_folded(struct wndl_cxx *p)
{
    struct wndl_cxx_node *operand = wndl_cxx_expression(p);
    if (operand == NULL || operand->kind != WNDL_CXX_PACK)
        return operand;
    return wndl_cxx_around(
        p, "(", wndl_cxx_one(p, WNDL_CXX_EXPANSION, operand), ")");
}

/* fl, fr: of a pack; fL, fR: with a first or last value, too. */
static struct wndl_cxx_node *read_fold(struct wndl_cxx *p)
{
    uint8_t form = wndl_cxx_look(p, 1);
    if (form == 0 || strchr("lrLR", form) == NULL)
        return NULL;
    p->at += 2;
    const struct wndl_cxx_operator *known = wndl_cxx_find_operator(p);
    if (known == NULL)
        return NULL;
    p->at += 2;
    const char *between = spaced(p, known->text);
    struct wndl_cxx_node *first = read_folded(p);
    struct wndl_cxx_node *dots = wndl_cxx_text(p, "...");
    struct wndl_cxx_node *folded;
    if (form == 'l' || form == 'r') {
        folded = form == 'l' ? wndl_cxx_join(p, dots, between, first)
                             : wndl_cxx_join(p, first, between, dots);
    } else {
        struct wndl_cxx_node *last = first == NULL ? NULL : read_folded(p);
        folded = wndl_cxx_join(
            p, wndl_cxx_join(p, first, between, dots), between, last);
    }
    return wndl_cxx_around(p, "(", folded, ")");
}

/* ---- by operator */

static struct wndl_cxx_node *read_binary(struct wndl_cxx *p, const char *text)
{
    const char *between = spaced(p, text);
    struct wndl_cxx_node *a = wndl_cxx_expression(p);
    struct wndl_cxx_node *b = a == NULL ? NULL : wndl_cxx_expression(p);
    return wndl_cxx_around(p, "(", wndl_cxx_join(p, a, between, b), ")");
}

static struct wndl_cxx_node *read_two(
    struct wndl_cxx *p, const char *between, const char *after)
{
    struct wndl_cxx_node *a = wndl_cxx_expression(p);
    struct wndl_cxx_node *b = a == NULL ? NULL : wndl_cxx_expression(p);
    return wndl_cxx_around(p, "", wndl_cxx_join(p, a, between, b), after);
}

static struct wndl_cxx_node *read_conditional(struct wndl_cxx *p)
{
    struct wndl_cxx_node *a = wndl_cxx_expression(p);
    struct wndl_cxx_node *b = a == NULL ? NULL : wndl_cxx_expression(p);
    struct wndl_cxx_node *c = b == NULL ? NULL : wndl_cxx_expression(p);
    return wndl_cxx_around(
        p, "(", wndl_cxx_join(p, wndl_cxx_join(p, a, " ? ", b), " : ", c), ")");
}

static struct wndl_cxx_node *read_cast(struct wndl_cxx *p, const char *text)
{
    struct wndl_cxx_node *type = wndl_cxx_type(p);
    struct wndl_cxx_node *value = type == NULL ? NULL : wndl_cxx_expression(p);
    return wndl_cxx_join(p, wndl_cxx_text(p, text), "<",
        wndl_cxx_around(p, "", wndl_cxx_join(p, type, ">(", value), ")"));
}

/* cv TYPE x, cv TYPE _ x... E */
static struct wndl_cxx_node *read_conversion(struct wndl_cxx *p)
{
    bool no_arguments = p->no_arguments;
    p->no_arguments = false;
    struct wndl_cxx_node *type = wndl_cxx_type(p);
    p->no_arguments = no_arguments;
    if (type == NULL)
        return NULL;
    struct wndl_cxx_node *values =
        wndl_cxx_take(p, "_") ? read_list(p, "E") : wndl_cxx_expression(p);
    return wndl_cxx_around(p, "(", wndl_cxx_join(p, type, ")(", values), ")");
}

/* nw x... _ TYPE E, or pi x... E in place of the last E */
static struct wndl_cxx_node *read_create(struct wndl_cxx *p, const char *text)
{
    struct wndl_cxx_node *places = read_list(p, "_");
    struct wndl_cxx_node *type = places == NULL ? NULL : wndl_cxx_type(p);
    struct wndl_cxx_node *made = type;
    if (type == NULL)
        return NULL;
    if (wndl_cxx_take(p, "pi"))
        made = wndl_cxx_join(
            p, type, "(", wndl_cxx_around(p, "", read_list(p, "E"), ")"));
    else if (!wndl_cxx_take(p, "E"))
        return NULL;
    made = wndl_cxx_around(p, " ", made, "");
    if (places->list.count != 0)
        made = wndl_cxx_join(p, wndl_cxx_around(p, "(", places, ")"), "", made);
    return wndl_cxx_around(p, text + 1, made, "");
}

static struct wndl_cxx_node *read_call(struct wndl_cxx *p)
{
    struct wndl_cxx_node *what = wndl_cxx_expression(p);
    return what == NULL ? NULL
                        : wndl_cxx_join(p, what, "(",
                              wndl_cxx_around(p, "", read_list(p, "E"), ")"));
}

static struct wndl_cxx_node *read_operator(
    struct wndl_cxx *p, const struct wndl_cxx_operator *known)
{
    const char *text = known->text;
    p->at += 2;
    switch ((enum wndl_cxx_form)known->form) {
    case WNDL_CXX_PREFIX:
        return wndl_cxx_around(p, text, wndl_cxx_expression(p), "");
    case WNDL_CXX_POSTFIX:
        return wndl_cxx_take(p, "_")
                   ? wndl_cxx_around(p, text, wndl_cxx_expression(p), "")
                   : wndl_cxx_around(p, "", wndl_cxx_expression(p), text);
    case WNDL_CXX_BINARY:
        return read_binary(p, text);
    case WNDL_CXX_INDEX:
        return read_two(p, "[", "]");
    case WNDL_CXX_DOT:
        return read_two(p, text, "");
    case WNDL_CXX_CALL:
        return read_call(p);
    case WNDL_CXX_CONDITIONAL:
        return read_conditional(p);
    case WNDL_CXX_CAST:
        return read_cast(p, text);
    case WNDL_CXX_OF_TYPE:
        return wndl_cxx_join(p, wndl_cxx_text(p, text), "(",
            wndl_cxx_around(p, "", wndl_cxx_type(p), ")"));
    case WNDL_CXX_OF_EXPRESSION:
        return wndl_cxx_join(p, wndl_cxx_text(p, text), "(",
            wndl_cxx_around(p, "", wndl_cxx_expression(p), ")"));
    case WNDL_CXX_CREATE:
        return read_create(p, text);
    case WNDL_CXX_DELETE:
        return wndl_cxx_join(
            p, wndl_cxx_text(p, text + 1), " ", wndl_cxx_expression(p));
    default:
        return NULL;
    }
}

/* ---- constraints */

/* X x [N] [R NAME], T TYPE, Q x */
static struct wndl_cxx_node *read_requirement(struct wndl_cxx *p)
{
    if (wndl_cxx_take(p, "T"))
        return wndl_cxx_around(p, " typename ", wndl_cxx_type(p), ";");
    if (wndl_cxx_take(p, "Q"))
        return wndl_cxx_around(p, " requires ", wndl_cxx_expression(p), ";");
    if (!wndl_cxx_take(p, "X"))
        return NULL;
    struct wndl_cxx_node *node = wndl_cxx_expression(p);
    bool is_noexcept = wndl_cxx_take(p, "N");
    bool is_typed = wndl_cxx_take(p, "R");
    if (is_noexcept || is_typed)
        node = wndl_cxx_around(p, "{", node, is_noexcept ? "} noexcept" : "}");
    if (is_typed)
        node = wndl_cxx_join(p, node, " -> ", wndl_cxx_name(p, NULL));
    return wndl_cxx_around(p, " ", node, ";");
}

/* rQ TYPES _ REQUIREMENTS E, rq REQUIREMENTS E */
static struct wndl_cxx_node *read_requires_expression(struct wndl_cxx *p)
{
    size_t first = p->names.len;
    bool has_parameters = wndl_cxx_take(p, "rQ");
    if (has_parameters) {
        if (!wndl_cxx_parameters(p, "_") || !wndl_cxx_take(p, "_"))
            return NULL;
    } else if (!wndl_cxx_take(p, "rq")) {
        return NULL;
    }
    struct wndl_cxx_node *parameters = wndl_cxx_list(p, WNDL_CXX_LIST, first);
    do {
        if (!wndl_cxx_push(p, read_requirement(p)))
            return NULL;
    } while (!wndl_cxx_take(p, "E"));
    struct wndl_cxx_node *body = wndl_cxx_around(
        p, "{", wndl_cxx_list(p, WNDL_CXX_SEQUENCE, first), " }");
    return has_parameters
               ? wndl_cxx_join(p,
                     wndl_cxx_around(p, "requires (", parameters, ""), ") ",
                     body)
               : wndl_cxx_around(p, "requires ", body, "");
}

struct wndl_cxx_node *wndl_cxx_requires(struct wndl_cxx *p)
{
    bool in_constraint = p->in_constraint;
    p->in_constraint = true;
    struct wndl_cxx_node *node =
        wndl_cxx_around(p, " requires ", wndl_cxx_expression(p), "");
    p->in_constraint = in_constraint;
    return node;
}

/* ---- the rest */

/* so TYPE x [OFFSET] _UNION... [p] E */
static struct wndl_cxx_node *read_subobject(struct wndl_cxx *p)
{
    struct wndl_cxx_node *type = wndl_cxx_type(p);
    struct wndl_cxx_node *of = type == NULL ? NULL : wndl_cxx_expression(p);
    struct wndl_cxx_node *offset =
        wndl_cxx_is_digit(wndl_cxx_look(p, 0)) || wndl_cxx_look(p, 0) == 'n'
            ? read_digits(p)
            : wndl_cxx_text(p, "0");
    while (wndl_cxx_take(p, "_"))
        (void)wndl_cxx_number(p, true);
    (void)wndl_cxx_take(p, "p");
    if (!wndl_cxx_take(p, "E"))
        return NULL;
    return wndl_cxx_join(p, of, ".<",
        wndl_cxx_join(
            p, type, " at offset ", wndl_cxx_around(p, "", offset, ">")));
}

/* mc TYPE x [OFFSET] E */
static struct wndl_cxx_node *read_member_conversion(struct wndl_cxx *p)
{
    struct wndl_cxx_node *type = wndl_cxx_type(p);
    struct wndl_cxx_node *of = type == NULL ? NULL : wndl_cxx_expression(p);
    (void)wndl_cxx_number(p, true);
    if (!wndl_cxx_take(p, "E"))
        return NULL;
    return wndl_cxx_around(p, "(", wndl_cxx_join(p, type, ")(", of), ")");
}

/* sZ of a pack, sP of several arguments */
static struct wndl_cxx_node *read_pack_size(struct wndl_cxx *p)
{
    size_t first = p->names.len;
    if (wndl_cxx_take(p, "sZ")) {
        bool is_parameter = wndl_cxx_look(p, 0) == 'T';
        struct wndl_cxx_node *pack =
            is_parameter ? wndl_cxx_parameter(p) : read_function_parameter(p);
        return wndl_cxx_around(
            p, "sizeof...(", wndl_cxx_one(p, WNDL_CXX_EXPANSION, pack), ")");
    }
    if (!wndl_cxx_take(p, "sP"))
        return NULL;
    while (!wndl_cxx_take(p, "E"))
        if (!wndl_cxx_push(p, wndl_cxx_argument(p)))
            return NULL;
    return wndl_cxx_around(
        p, "sizeof...(", wndl_cxx_list(p, WNDL_CXX_LIST, first), ")");
}

/* di NAME x, dx INDEX x, dX FIRST LAST x */
static struct wndl_cxx_node *read_designated(struct wndl_cxx *p)
{
    struct wndl_cxx_node *what;
    if (wndl_cxx_take(p, "di"))
        what = wndl_cxx_around(p, ".", wndl_cxx_source_name(p), " = ");
    else if (wndl_cxx_take(p, "dx"))
        what = wndl_cxx_around(p, "[", wndl_cxx_expression(p), "] = ");
    else if (wndl_cxx_take(p, "dX"))
        what = wndl_cxx_around(p, "[", read_two(p, " ... ", ""), "] = ");
    else
        return NULL;
    return what == NULL ? NULL
                        : wndl_cxx_join(p, what, "", wndl_cxx_expression(p));
}

/* u4name ARGUMENTS E */
static struct wndl_cxx_node *read_vendor_call(struct wndl_cxx *p)
{
    struct wndl_cxx_node *name = wndl_cxx_source_name(p);
    size_t first = p->names.len;
    while (name != NULL && !wndl_cxx_take(p, "E"))
        if (!wndl_cxx_push(p, wndl_cxx_argument(p)))
            return NULL;
    if (name == NULL)
        return NULL;
    return wndl_cxx_join(p, name, "(",
        wndl_cxx_around(p, "", wndl_cxx_list(p, WNDL_CXX_LIST, first), ")"));
}

static struct wndl_cxx_node *read_by_two_letters(struct wndl_cxx *p)
{
    if (wndl_cxx_take(p, "cv"))
        return read_conversion(p);
    if (wndl_cxx_take(p, "il"))
        return wndl_cxx_around(p, "{", read_list(p, "E"), "}");
    if (wndl_cxx_take(p, "tl"))
        return read_braces(p, wndl_cxx_type(p));
    if (wndl_cxx_take(p, "nx"))
        return wndl_cxx_around(p, "noexcept (", wndl_cxx_expression(p), ")");
    if (wndl_cxx_take(p, "so"))
        return read_subobject(p);
    if (wndl_cxx_take(p, "mc"))
        return read_member_conversion(p);
    if (wndl_cxx_take(p, "sp"))
        return wndl_cxx_one(p, WNDL_CXX_EXPANSION, wndl_cxx_expression(p));
    if (wndl_cxx_take(p, "tr"))
        return wndl_cxx_text(p, "throw");
    if (wndl_cxx_take(p, "tw"))
        return wndl_cxx_around(p, "throw ", wndl_cxx_expression(p), "");
    if (wndl_cxx_take(p, "u"))
        return read_vendor_call(p);
    return NULL;
}

static struct wndl_cxx_node *read_expression(struct wndl_cxx *p)
{
    if (wndl_cxx_take(p, "gs"))
        return wndl_cxx_around(p, "::", wndl_cxx_expression(p), "");
    const struct wndl_cxx_operator *known = wndl_cxx_find_operator(p);
    uint8_t c = wndl_cxx_look(p, 0);
    uint8_t next = wndl_cxx_look(p, 1);
    if (known != NULL)
        return read_operator(p, known);
    if (c == 'L')
        return wndl_cxx_literal(p);
    if (c == 'T')
        return wndl_cxx_parameter(p);
    if (c == 'f')
        return next == 'p' ||
                       (next == 'L' && wndl_cxx_is_digit(wndl_cxx_look(p, 2)))
                   ? read_function_parameter(p)
                   : read_fold(p);
    if (c == 'r')
        return read_requires_expression(p);
    if (c == 's' && (next == 'Z' || next == 'P'))
        return read_pack_size(p);
    if (c == 'd' && (next == 'i' || next == 'x' || next == 'X'))
        return read_designated(p);
    if (wndl_cxx_is_digit(c) || (c == 's' && next == 'r') ||
        (c == 'o' && next == 'n') || (c == 'd' && next == 'n'))
        return read_unresolved(p);
    return read_by_two_letters(p);
}

struct wndl_cxx_node *wndl_cxx_expression(struct wndl_cxx *p)
{
    struct wndl_cxx_node *node = wndl_cxx_enter(p) ? read_expression(p) : NULL;
    wndl_cxx_leave(p);
    return node;
}
