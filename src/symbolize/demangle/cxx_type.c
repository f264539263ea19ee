/* SPDX-License-Identifier: MIT */
/* Types: Itanium C++ ABI 5.1.5. */
#include "symbolize/demangle/cxx_internal.h"

#include <string.h>

bool wndl_cxx_is_at(const struct wndl_cxx *p, const char *bytes)
{
    uint8_t c = wndl_cxx_look(p, 0);
    return p->at == p->end || (c != 0 && strchr(bytes, c) != NULL);
}

bool wndl_cxx_parameters(struct wndl_cxx *p, const char *ends)
{
    if (wndl_cxx_take(p, "v"))
        return true;
    do {
        if (!wndl_cxx_push(p, wndl_cxx_type(p)))
            return false;
    } while (!wndl_cxx_is_at(p, ends));
    return true;
}

uint8_t wndl_cxx_qualifiers(struct wndl_cxx *p)
{
    uint8_t quals = 0;
    if (wndl_cxx_take(p, "r"))
        quals |= WNDL_CXX_RESTRICT;
    if (wndl_cxx_take(p, "V"))
        quals |= WNDL_CXX_VOLATILE;
    if (wndl_cxx_take(p, "K"))
        quals |= WNDL_CXX_CONST;
    return quals;
}

/* ---- builtin types */

static const char *const builtins[26] = {
    ['a' - 'a'] = "signed char",
    ['b' - 'a'] = "bool",
    ['c' - 'a'] = "char",
    ['d' - 'a'] = "double",
    ['e' - 'a'] = "long double",
    ['f' - 'a'] = "float",
    ['g' - 'a'] = "__float128",
    ['h' - 'a'] = "unsigned char",
    ['i' - 'a'] = "int",
    ['j' - 'a'] = "unsigned int",
    ['l' - 'a'] = "long",
    ['m' - 'a'] = "unsigned long",
    ['n' - 'a'] = "__int128",
    ['o' - 'a'] = "unsigned __int128",
    ['s' - 'a'] = "short",
    ['t' - 'a'] = "unsigned short",
    ['v' - 'a'] = "void",
    ['w' - 'a'] = "wchar_t",
    ['x' - 'a'] = "long long",
    ['y' - 'a'] = "unsigned long long",
    ['z' - 'a'] = "...",
};

static const struct {
    const char *code, *text;
} more_builtins[] = {
    {"Dd", "decimal64"},
    {"De", "decimal128"},
    {"Df", "decimal32"},
    {"Dh", "half"},
    {"Di", "char32_t"},
    {"Ds", "char16_t"},
    {"Du", "char8_t"},
    {"Da", "auto"},
    {"Dc", "decltype(auto)"},
    {"Dn", "decltype(nullptr)"},
    {"DF16b", "std::bfloat16_t"},
};

/* DF16_ and DF32x: _Float16, _Float32x. */
static struct wndl_cxx_node *read_float(struct wndl_cxx *p)
{
    struct wndl_bytes bits = wndl_cxx_number(p, false);
    bool is_extended = bits.size != 0 && wndl_cxx_take(p, "x");
    if (bits.size == 0 || (!is_extended && !wndl_cxx_take(p, "_")))
        return NULL;
    return wndl_cxx_around(
        p, "_Float", wndl_cxx_bytes(p, bits), is_extended ? "x" : "");
}

/* DB8_ and DU8_, also of an expression. */
static struct wndl_cxx_node *read_bit_int(struct wndl_cxx *p, bool is_unsigned)
{
    bool is_number = wndl_cxx_is_digit(wndl_cxx_look(p, 0));
    struct wndl_cxx_node *bits =
        is_number ? wndl_cxx_bytes(p, wndl_cxx_number(p, false))
                  : wndl_cxx_expression(p);
    if (!wndl_cxx_take(p, "_"))
        return NULL;
    return wndl_cxx_around(
        p, is_unsigned ? "unsigned _BitInt(" : "_BitInt(", bits, ")");
}

/* The type without a reference, or NULL: then nothing is taken. */
static struct wndl_cxx_node *read_builtin(struct wndl_cxx *p)
{
    uint8_t c = wndl_cxx_look(p, 0);
    if (c >= 'a' && c <= 'z' && builtins[c - 'a'] != NULL) {
        p->at++;
        return wndl_cxx_text(p, builtins[c - 'a']);
    }
    for (size_t i = 0;
         c == 'D' && i < sizeof more_builtins / sizeof *more_builtins; i++)
        if (wndl_cxx_take(p, more_builtins[i].code))
            return wndl_cxx_text(p, more_builtins[i].text);
    return NULL;
}

/* ---- qualified types */

/* U4name, perhaps with arguments, and then the type. */
static struct wndl_cxx_node *read_vendor_qualified(struct wndl_cxx *p)
{
    struct wndl_cxx_node *name = wndl_cxx_source_name(p);
    if (name != NULL && wndl_cxx_look(p, 0) == 'I')
        name = wndl_cxx_two(
            p, WNDL_CXX_TEMPLATE, name, wndl_cxx_arguments(p, false));
    struct wndl_cxx_node *type = name == NULL ? NULL : wndl_cxx_type(p);
    return wndl_cxx_join(p, type, " ", name);
}

static struct wndl_cxx_node *read_qualified(struct wndl_cxx *p)
{
    uint8_t quals = wndl_cxx_qualifiers(p);
    struct wndl_cxx_node *node =
        wndl_cxx_one(p, WNDL_CXX_QUALIFIED, wndl_cxx_type(p));
    if (node != NULL)
        node->quals = quals;
    return node;
}

/* ---- functions */

/* noexcept, noexcept(x), throw(types); *exceptions may stay NULL. */
static bool read_exceptions(
    struct wndl_cxx *p, struct wndl_cxx_node **exceptions)
{
    size_t first = p->names.len;
    *exceptions = NULL;
    if (wndl_cxx_take(p, "Do")) {
        *exceptions = wndl_cxx_text(p, " noexcept");
    } else if (wndl_cxx_take(p, "DO")) {
        *exceptions =
            wndl_cxx_around(p, " noexcept(", wndl_cxx_expression(p), ")");
        return *exceptions != NULL && wndl_cxx_take(p, "E");
    } else if (wndl_cxx_take(p, "Dw")) {
        while (!wndl_cxx_take(p, "E"))
            if (!wndl_cxx_push(p, wndl_cxx_type(p)))
                return false;
        *exceptions = wndl_cxx_around(
            p, " throw(", wndl_cxx_list(p, WNDL_CXX_LIST, first), ")");
    } else {
        return true;
    }
    return *exceptions != NULL;
}

static struct wndl_cxx_node *read_function(struct wndl_cxx *p)
{
    uint8_t quals = wndl_cxx_qualifiers(p);
    struct wndl_cxx_node *exceptions;
    if (!read_exceptions(p, &exceptions))
        return NULL;
    (void)wndl_cxx_take(p, "Dx"); /* transaction_safe */
    if (!wndl_cxx_take(p, "F"))
        return NULL;
    (void)wndl_cxx_take(p, "Y"); /* extern "C" */
    struct wndl_cxx_node *result = wndl_cxx_type(p);
    size_t first = p->names.len;
    while (result != NULL && !wndl_cxx_take(p, "E")) {
        if (wndl_cxx_take(p, "v"))
            continue;
        if (wndl_cxx_take(p, "RE") || wndl_cxx_take(p, "OE")) {
            quals |= p->at[-2] == 'R' ? WNDL_CXX_LREF : WNDL_CXX_RREF;
            break;
        }
        if (!wndl_cxx_push(p, wndl_cxx_type(p)))
            return NULL;
    }
    struct wndl_cxx_node *node =
        result == NULL ? NULL : wndl_cxx_list(p, WNDL_CXX_FUNCTION, first);
    if (node == NULL)
        return NULL;
    node->a = result;
    node->b = exceptions;
    node->quals = quals;
    return node;
}

/* Whether qualifiers, perhaps none, and exceptions lead to a function. */
static bool is_function(const struct wndl_cxx *p)
{
    size_t i = 0;
    i += wndl_cxx_look(p, i) == 'r';
    i += wndl_cxx_look(p, i) == 'V';
    i += wndl_cxx_look(p, i) == 'K';
    uint8_t next = wndl_cxx_look(p, i + 1);
    return wndl_cxx_look(p, i) == 'F' ||
           (wndl_cxx_look(p, i) == 'D' && next != 0 &&
               strchr("oOwx", next) != NULL);
}

/* ---- compound types */

static struct wndl_cxx_node *read_array(struct wndl_cxx *p)
{
    struct wndl_cxx_node *size = NULL;
    if (wndl_cxx_is_digit(wndl_cxx_look(p, 0)))
        size = wndl_cxx_bytes(p, wndl_cxx_number(p, false));
    else if (wndl_cxx_look(p, 0) == '_')
        size = wndl_cxx_text(p, "");
    else
        size = wndl_cxx_expression(p);
    if (size == NULL || !wndl_cxx_take(p, "_"))
        return NULL;
    return wndl_cxx_two(p, WNDL_CXX_ARRAY, wndl_cxx_type(p), size);
}

/* Dv4_f, Dv_EXPRESSION_f, Dv4_p */
static struct wndl_cxx_node *read_vector(struct wndl_cxx *p)
{
    struct wndl_cxx_node *size = NULL;
    if (wndl_cxx_is_digit(wndl_cxx_look(p, 0)))
        size = wndl_cxx_bytes(p, wndl_cxx_number(p, false));
    else if (wndl_cxx_take(p, "_"))
        size = wndl_cxx_expression(p);
    if (size == NULL || !wndl_cxx_take(p, "_"))
        return NULL;
    struct wndl_cxx_node *type =
        wndl_cxx_take(p, "p") ? wndl_cxx_text(p, "__pixel") : wndl_cxx_type(p);
    return wndl_cxx_join(
        p, type, " __vector(", wndl_cxx_around(p, "", size, ")"));
}

struct wndl_cxx_node *wndl_cxx_decltype(struct wndl_cxx *p)
{
    if (!wndl_cxx_take(p, "Dt") && !wndl_cxx_take(p, "DT"))
        return NULL;
    struct wndl_cxx_node *node =
        wndl_cxx_around(p, "decltype (", wndl_cxx_expression(p), ")");
    return wndl_cxx_take(p, "E") ? node : NULL;
}

static struct wndl_cxx_node *read_member(struct wndl_cxx *p)
{
    struct wndl_cxx_node *of = wndl_cxx_type(p);
    return of == NULL ? NULL
                      : wndl_cxx_two(p, WNDL_CXX_MEMBER, of, wndl_cxx_type(p));
}

static struct wndl_cxx_node *point_to(
    struct wndl_cxx *p, enum wndl_cxx_kind kind, const char *text)
{
    p->at++;
    struct wndl_cxx_node *node = wndl_cxx_one(p, kind, wndl_cxx_type(p));
    if (node != NULL)
        node->text = (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
    return node;
}

/* Dk: a constrained auto; DK: decltype(auto). */
static struct wndl_cxx_node *read_constrained(
    struct wndl_cxx *p, const char *type)
{
    return wndl_cxx_around(p, "", wndl_cxx_name(p, NULL), type);
}

static struct wndl_cxx_node *read_d(struct wndl_cxx *p)
{
    switch (wndl_cxx_look(p, 1)) {
    case 't':
    case 'T':
        return wndl_cxx_decltype(p);
    case 'v':
        p->at += 2;
        return read_vector(p);
    case 'p':
        p->at += 2;
        return wndl_cxx_one(p, WNDL_CXX_EXPANSION, wndl_cxx_type(p));
    case 'k':
    case 'K':
        p->at += 2;
        return read_constrained(
            p, p->at[-1] == 'k' ? " auto" : " decltype(auto)");
    default:
        return is_function(p) ? read_function(p) : NULL;
    }
}

/* u4name, u4nameITE: a vendor's type, or its transformation of one. */
static struct wndl_cxx_node *read_vendor(struct wndl_cxx *p)
{
    struct wndl_cxx_node *name = wndl_cxx_source_name(p);
    if (name == NULL || !wndl_cxx_take(p, "I"))
        return name;
    size_t first = p->names.len;
    while (!wndl_cxx_take(p, "E"))
        if (!wndl_cxx_push(p, wndl_cxx_argument(p)))
            return NULL;
    return wndl_cxx_join(p, name, "(",
        wndl_cxx_around(p, "", wndl_cxx_list(p, WNDL_CXX_LIST, first), ")"));
}

/* ---- names as types */

static struct wndl_cxx_node *with_arguments(
    struct wndl_cxx *p, struct wndl_cxx_node *name)
{
    return wndl_cxx_two(
        p, WNDL_CXX_TEMPLATE, name, wndl_cxx_arguments(p, false));
}

static struct wndl_cxx_node *read_t(struct wndl_cxx *p)
{
    static const char *const kinds[][2] = {
        {"Ts", "struct "}, {"Tu", "union "}, {"Te", "enum "}};
    for (size_t i = 0; i < 3; i++)
        if (wndl_cxx_look(p, 1) == (uint8_t)kinds[i][0][1] &&
            wndl_cxx_take(p, kinds[i][0]))
            return wndl_cxx_around(p, kinds[i][1], wndl_cxx_name(p, NULL), "");
    struct wndl_cxx_node *parameter = wndl_cxx_parameter(p);
    if (p->no_arguments || wndl_cxx_look(p, 0) != 'I')
        return parameter;
    return wndl_cxx_remember(p, parameter) == NULL
               ? NULL
               : with_arguments(p, parameter);
}

/* *is_part: the whole type is a reference, and not remembered again. */
static struct wndl_cxx_node *read_s(struct wndl_cxx *p, bool *is_part)
{
    struct wndl_cxx_node *name = wndl_cxx_unscoped(p, NULL, is_part);
    if (name == NULL || wndl_cxx_look(p, 0) != 'I' ||
        (*is_part && p->no_arguments))
        return name;
    if (!*is_part && wndl_cxx_remember(p, name) == NULL)
        return NULL;
    *is_part = false;
    return with_arguments(p, name);
}

/* ---- all */

static struct wndl_cxx_node *read_compound(struct wndl_cxx *p, bool *is_part)
{
    switch (wndl_cxx_look(p, 0)) {
    case 'r':
    case 'V':
    case 'K':
        return is_function(p) ? read_function(p) : read_qualified(p);
    case 'U':
        if (wndl_cxx_is_digit(wndl_cxx_look(p, 1))) {
            p->at++;
            return read_vendor_qualified(p);
        }
        return wndl_cxx_name(p, NULL);
    case 'F':
        return read_function(p);
    case 'A':
        p->at++;
        return read_array(p);
    case 'M':
        p->at++;
        return read_member(p);
    case 'T':
        return read_t(p);
    case 'P':
        return point_to(p, WNDL_CXX_POINTER, "*");
    case 'R':
        return point_to(p, WNDL_CXX_REFERENCE, "&");
    case 'O':
        return point_to(p, WNDL_CXX_REFERENCE, "&&");
    case 'C':
        p->at++;
        return wndl_cxx_around(p, "", wndl_cxx_type(p), " _Complex");
    case 'G':
        p->at++;
        return wndl_cxx_around(p, "", wndl_cxx_type(p), " _Imaginary");
    case 'D':
        return read_d(p);
    case 'u':
        p->at++;
        return read_vendor(p);
    case 'S':
        if (wndl_cxx_look(p, 1) != 't')
            return read_s(p, is_part);
        return wndl_cxx_name(p, NULL);
    default:
        return wndl_cxx_name(p, NULL);
    }
}

static struct wndl_cxx_node *read_type(struct wndl_cxx *p)
{
    bool is_part = false;
    const uint8_t *start = p->at;
    unsigned parameters = p->parameters;
    struct wndl_cxx_node *node = read_builtin(p);
    if (node != NULL || p->failed)
        return node;
    if (wndl_cxx_take(p, "DF"))
        return read_float(p);
    if (wndl_cxx_take(p, "DB") || wndl_cxx_take(p, "DU"))
        return read_bit_int(p, p->at[-1] == 'U');
    node = read_compound(p, &is_part);
    if (is_part)
        return node;
    return wndl_cxx_remember_at(
        p, node, p->parameters == parameters ? NULL : start, NULL);
}

struct wndl_cxx_node *wndl_cxx_type(struct wndl_cxx *p)
{
    struct wndl_cxx_node *node = wndl_cxx_enter(p) ? read_type(p) : NULL;
    wndl_cxx_leave(p);
    return node;
}
