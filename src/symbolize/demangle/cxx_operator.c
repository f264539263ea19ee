/* SPDX-License-Identifier: MIT */
/* Operators: Itanium C++ ABI 5.1.4.1. */
#include "symbolize/demangle/cxx_internal.h"

#include <stdlib.h>
#include <string.h>

/* In the order of their codes. */
static const struct wndl_cxx_operator operators[] = {
    {"aN", WNDL_CXX_BINARY, true, "&="},
    {"aS", WNDL_CXX_BINARY, true, "="},
    {"aa", WNDL_CXX_BINARY, true, "&&"},
    {"ad", WNDL_CXX_PREFIX, true, "&"},
    {"an", WNDL_CXX_BINARY, true, "&"},
    {"at", WNDL_CXX_OF_TYPE, false, "alignof "},
    {"aw", WNDL_CXX_NO_EXPRESSION, true, " co_await"},
    {"az", WNDL_CXX_OF_EXPRESSION, false, "alignof "},
    {"cc", WNDL_CXX_CAST, false, "const_cast"},
    {"cl", WNDL_CXX_CALL, true, "()"},
    {"cm", WNDL_CXX_BINARY, true, ","},
    {"co", WNDL_CXX_PREFIX, true, "~"},
    {"cp", WNDL_CXX_CALL, false, "()"},
    {"dV", WNDL_CXX_BINARY, true, "/="},
    {"da", WNDL_CXX_DELETE, true, " delete[]"},
    {"dc", WNDL_CXX_CAST, false, "dynamic_cast"},
    {"de", WNDL_CXX_PREFIX, true, "*"},
    {"dl", WNDL_CXX_DELETE, true, " delete"},
    {"ds", WNDL_CXX_DOT, false, ".*"},
    {"dt", WNDL_CXX_DOT, false, "."},
    {"dv", WNDL_CXX_BINARY, true, "/"},
    {"eO", WNDL_CXX_BINARY, true, "^="},
    {"eo", WNDL_CXX_BINARY, true, "^"},
    {"eq", WNDL_CXX_BINARY, true, "=="},
    {"ge", WNDL_CXX_BINARY, true, ">="},
    {"gt", WNDL_CXX_BINARY, true, ">"},
    {"ix", WNDL_CXX_INDEX, true, "[]"},
    {"lS", WNDL_CXX_BINARY, true, "<<="},
    {"le", WNDL_CXX_BINARY, true, "<="},
    {"ls", WNDL_CXX_BINARY, true, "<<"},
    {"lt", WNDL_CXX_BINARY, true, "<"},
    {"mI", WNDL_CXX_BINARY, true, "-="},
    {"mL", WNDL_CXX_BINARY, true, "*="},
    {"mi", WNDL_CXX_BINARY, true, "-"},
    {"ml", WNDL_CXX_BINARY, true, "*"},
    {"mm", WNDL_CXX_POSTFIX, true, "--"},
    {"na", WNDL_CXX_CREATE, true, " new[]"},
    {"ne", WNDL_CXX_BINARY, true, "!="},
    {"ng", WNDL_CXX_PREFIX, true, "-"},
    {"nt", WNDL_CXX_PREFIX, true, "!"},
    {"nw", WNDL_CXX_CREATE, true, " new"},
    {"oR", WNDL_CXX_BINARY, true, "|="},
    {"oo", WNDL_CXX_BINARY, true, "||"},
    {"or", WNDL_CXX_BINARY, true, "|"},
    {"pL", WNDL_CXX_BINARY, true, "+="},
    {"pl", WNDL_CXX_BINARY, true, "+"},
    {"pm", WNDL_CXX_DOT, true, "->*"},
    {"pp", WNDL_CXX_POSTFIX, true, "++"},
    {"ps", WNDL_CXX_PREFIX, true, "+"},
    {"pt", WNDL_CXX_DOT, true, "->"},
    {"qu", WNDL_CXX_CONDITIONAL, true, "?"},
    {"rM", WNDL_CXX_BINARY, true, "%="},
    {"rS", WNDL_CXX_BINARY, true, ">>="},
    {"rc", WNDL_CXX_CAST, false, "reinterpret_cast"},
    {"rm", WNDL_CXX_BINARY, true, "%"},
    {"rs", WNDL_CXX_BINARY, true, ">>"},
    {"sc", WNDL_CXX_CAST, false, "static_cast"},
    {"ss", WNDL_CXX_BINARY, true, "<=>"},
    {"st", WNDL_CXX_OF_TYPE, false, "sizeof "},
    {"sz", WNDL_CXX_OF_EXPRESSION, false, "sizeof "},
    {"te", WNDL_CXX_OF_EXPRESSION, false, "typeid "},
    {"ti", WNDL_CXX_OF_TYPE, false, "typeid "},
};

static int compare_codes(const void *key, const void *element)
{
    const struct wndl_cxx_operator *it = element;
    return memcmp(key, it->code, 2);
}

const struct wndl_cxx_operator *wndl_cxx_find_operator(const struct wndl_cxx *p)
{
    return p->end - p->at < 2
               ? NULL
               : bsearch(p->at, operators, sizeof operators / sizeof *operators,
                     sizeof *operators, compare_codes);
}

/*
 * The type may have template parameters whose arguments come after the name,
 * and no arguments of its own.
 */
static struct wndl_cxx_node *read_conversion(
    struct wndl_cxx *p, struct wndl_cxx_state *state)
{
    bool no_arguments = p->no_arguments;
    bool may_be_unread = p->may_be_unread;
    p->no_arguments = true;
    p->may_be_unread = may_be_unread || state != NULL;
    struct wndl_cxx_node *type = wndl_cxx_type(p);
    p->no_arguments = no_arguments;
    p->may_be_unread = may_be_unread;
    if (state != NULL)
        state->no_result = true;
    return wndl_cxx_around(p, "operator ", type, "");
}

struct wndl_cxx_node *wndl_cxx_operator_name(
    struct wndl_cxx *p, struct wndl_cxx_state *state)
{
    const struct wndl_cxx_operator *known = wndl_cxx_find_operator(p);
    if (known != NULL) {
        p->at += 2;
        return known->is_name ? wndl_cxx_around(p, "operator",
                                    wndl_cxx_text(p, known->text), "")
                              : NULL;
    }
    if (wndl_cxx_take(p, "cv"))
        return read_conversion(p, state);
    if (wndl_cxx_take(p, "li"))
        return wndl_cxx_around(p, "operator\"\" ", wndl_cxx_source_name(p), "");
    if (!wndl_cxx_take(p, "v") || !wndl_cxx_is_digit(wndl_cxx_look(p, 0)))
        return NULL;
    p->at++; /* the number of operands */
    return wndl_cxx_around(p, "operator ", wndl_cxx_source_name(p), "");
}
