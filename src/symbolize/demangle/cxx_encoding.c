/* SPDX-License-Identifier: MIT */
/* Functions and special names: Itanium C++ ABI 5.1.3, 5.1.4 and 5.1.5.3. */
#include "symbolize/demangle/cxx_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- special names */

static const struct {
    const char *code, *text;
    bool is_type; /* else a name */
} specials[] = {
    {"TV", "vtable for ", true},
    {"TT", "VTT for ", true},
    {"TI", "typeinfo for ", true},
    {"TS", "typeinfo name for ", true},
    {"TW", "TLS wrapper function for ", false},
    {"TH", "TLS init function for ", false},
    {"GV", "guard variable for ", false},
};

/* h12_, v12_n8_ */
static bool skip_offset(struct wndl_cxx *p)
{
    bool is_virtual = wndl_cxx_take(p, "v");
    if (!is_virtual && !wndl_cxx_take(p, "h"))
        return false;
    if (wndl_cxx_number(p, true).size == 0 || !wndl_cxx_take(p, "_"))
        return false;
    return !is_virtual ||
           (wndl_cxx_number(p, true).size != 0 && wndl_cxx_take(p, "_"));
}

static struct wndl_cxx_node *read_thunk(struct wndl_cxx *p)
{
    const char *text = "non-virtual thunk to ";
    if (wndl_cxx_look(p, 0) == 'v')
        text = "virtual thunk to ";
    if (wndl_cxx_take(p, "c")) {
        text = "covariant return thunk to ";
        if (!skip_offset(p))
            return NULL;
    }
    return skip_offset(p) ? wndl_cxx_around(p, text, wndl_cxx_encoding(p), "")
                          : NULL;
}

/* TC TYPE OFFSET _ BASE */
static struct wndl_cxx_node *read_construction(struct wndl_cxx *p)
{
    struct wndl_cxx_node *type = wndl_cxx_type(p);
    if (type == NULL || wndl_cxx_number(p, true).size == 0 ||
        !wndl_cxx_take(p, "_"))
        return NULL;
    struct wndl_cxx_node *base = wndl_cxx_type(p);
    return wndl_cxx_around(p, "construction vtable for ",
        wndl_cxx_join(p, base, "-in-", type), "");
}

/* GR NAME [NUMBER] _ */
static struct wndl_cxx_node *read_temporary(struct wndl_cxx *p)
{
    size_t index;
    char text[60];
    struct wndl_cxx_node *name = wndl_cxx_name(p, NULL);
    if (name == NULL)
        return NULL;
    if (!wndl_cxx_index(p, 36, &index))
        return NULL;
    snprintf(text, sizeof text, "reference temporary #%zu for ", index);
    char *copy = wndl_arena_copy(p->arena, text, strlen(text));
    return copy == NULL ? NULL : wndl_cxx_around(p, copy, name, "");
}

/* GI: modules, each W and a name. */
static struct wndl_cxx_node *read_initializer(struct wndl_cxx *p)
{
    struct wndl_cxx_node *module = NULL;
    while (wndl_cxx_take(p, "W")) {
        bool is_partition = wndl_cxx_take(p, "P");
        struct wndl_cxx_node *name = wndl_cxx_source_name(p);
        module = module == NULL
                     ? name
                     : wndl_cxx_join(p, module, is_partition ? ":" : ".", name);
        if (module == NULL)
            return NULL;
    }
    return wndl_cxx_around(p, "initializer for module ", module, "");
}

static struct wndl_cxx_node *read_special(struct wndl_cxx *p)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (wndl_cxx_take(p, specials[i].code))
            return wndl_cxx_around(p, specials[i].text,
                specials[i].is_type ? wndl_cxx_type(p) : wndl_cxx_name(p, NULL),
                "");
    if (wndl_cxx_take(p, "TA"))
        return wndl_cxx_around(
            p, "template parameter object for ", wndl_cxx_argument(p), "");
    if (wndl_cxx_take(p, "TC"))
        return read_construction(p);
    if (wndl_cxx_take(p, "GR"))
        return read_temporary(p);
    if (wndl_cxx_take(p, "GI"))
        return read_initializer(p);
    if (wndl_cxx_take(p, "GTt"))
        return wndl_cxx_around(
            p, "transaction clone for ", wndl_cxx_encoding(p), "");
    if (wndl_cxx_take(p, "GTn"))
        return wndl_cxx_around(
            p, "non-transaction clone for ", wndl_cxx_encoding(p), "");
    return wndl_cxx_take(p, "T") ? read_thunk(p) : NULL;
}

/* ---- functions */

/* Conversions name template parameters before their arguments. */
static bool resolve_forwards(
    struct wndl_cxx *p, const struct wndl_cxx_state *state)
{
    for (size_t i = state->forward; i < p->forwards.len; i++) {
        struct wndl_cxx_node *node =
            *(struct wndl_cxx_node **)wndl_vec_at(&p->forwards, i);
        if (p->levels.count == 0 || p->levels.at[0] == NULL ||
            node->number >= p->levels.at[0]->len)
            return false;
        node->a = *(struct wndl_cxx_node **)wndl_vec_at(
            p->levels.at[0], node->number);
    }
    p->forwards.len = state->forward;
    return true;
}

/* Ua9enable_ifI...E: " [enable_if:...]" */
static bool push_enable_if(struct wndl_cxx *p)
{
    size_t first = p->names.len;
    if (!wndl_cxx_take(p, "Ua9enable_ifI"))
        return true;
    while (!wndl_cxx_take(p, "E"))
        if (!wndl_cxx_push(p, wndl_cxx_argument(p)))
            return false;
    return wndl_cxx_push(p, wndl_cxx_around(p, " [enable_if:",
                                wndl_cxx_list(p, WNDL_CXX_LIST, first), "]"));
}

static bool push_requires(struct wndl_cxx *p)
{
    return !wndl_cxx_take(p, "Q") || wndl_cxx_push(p, wndl_cxx_requires(p));
}

static struct wndl_cxx_node *read_signature(struct wndl_cxx *p,
    struct wndl_cxx_node *name, const struct wndl_cxx_state *state)
{
    size_t first = p->names.len;
    struct wndl_cxx_node *result = NULL;
    if (!push_enable_if(p))
        return NULL;
    struct wndl_cxx_list attributes = wndl_cxx_pop(p, first);
    if (!state->no_result && state->arguments) {
        result = wndl_cxx_type(p);
        if (result == NULL)
            return NULL;
    }
    if (!wndl_cxx_parameters(p, "E._Q"))
        return NULL;
    struct wndl_cxx_node *node = wndl_cxx_list(p, WNDL_CXX_ENCODING, first);
    for (size_t i = 0; i < attributes.count; i++)
        if (!wndl_cxx_push(p, attributes.items[i]))
            return NULL;
    if (node == NULL || !push_requires(p))
        return NULL;
    node->a = result;
    node->b = name;
    node->c = wndl_cxx_list(p, WNDL_CXX_SEQUENCE, first);
    node->quals = state->quals;
    node->flag = state->explicit_object;
    return node->c == NULL ? NULL : node;
}

static struct wndl_cxx_node *read_encoding(struct wndl_cxx *p)
{
    struct wndl_cxx_state state = {.forward = p->forwards.len};
    uint8_t c = wndl_cxx_look(p, 0);
    if (c == 'G' || c == 'T')
        return read_special(p);
    struct wndl_cxx_node *name = wndl_cxx_name(p, &state);
    if (name == NULL || !resolve_forwards(p, &state))
        return NULL;
    return wndl_cxx_is_at(p, "E._") ? name : read_signature(p, name, &state);
}

struct wndl_cxx_node *wndl_cxx_encoding(struct wndl_cxx *p)
{
    struct wndl_cxx_levels levels = p->levels;
    struct wndl_vec outer = p->outer;
    unsigned outer_lists = p->outer_lists;
    unsigned scope = p->scope;
    wndl_vec_init(&p->outer, p->arena, sizeof(struct wndl_cxx_node *));
    p->levels.count = 0;
    p->outer_lists = 0;
    p->scope = ++p->scopes;
    struct wndl_cxx_node *node = wndl_cxx_enter(p) ? read_encoding(p) : NULL;
    wndl_cxx_leave(p);
    p->levels = levels;
    p->outer = outer;
    p->outer_lists = outer_lists;
    p->scope = scope;
    return node;
}
