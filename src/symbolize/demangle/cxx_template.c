/* SPDX-License-Identifier: MIT */
/* Template parameters and arguments: Itanium C++ ABI 5.1.5.8 and 5.1.5.9. */
#include "symbolize/demangle/cxx_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- parameters */

static struct wndl_cxx_node *forward_to(struct wndl_cxx *p, size_t index)
{
    struct wndl_cxx_node *node = wndl_cxx_new(p, WNDL_CXX_FORWARD);
    struct wndl_cxx_node **slot =
        node == NULL ? NULL : wndl_vec_push(&p->forwards);
    if (slot == NULL)
        return NULL;
    node->number = (uint32_t)index;
    *slot = node;
    return node;
}

/* A generic lambda's parameter: it has no name but its number. */
static struct wndl_cxx_node *automatic(struct wndl_cxx *p, size_t index)
{
    char text[40];
    snprintf(text, sizeof text, "auto:%zu", index + 1);
    char *copy = wndl_arena_copy(p->arena, text, strlen(text));
    return copy == NULL ? NULL : wndl_cxx_text(p, copy);
}

/* T_, T0_, TL0__, TL0_1_ */
struct wndl_cxx_node *wndl_cxx_parameter(struct wndl_cxx *p)
{
    size_t level = 0;
    size_t index;
    const uint8_t *start = p->at;
    p->parameters++;
    if (!wndl_cxx_take(p, "T"))
        return NULL;
    if (wndl_cxx_take(p, "L")) {
        if (!wndl_cxx_unsigned(p, &level) || !wndl_cxx_take(p, "_"))
            return NULL;
        level++;
    }
    if (!wndl_cxx_index(p, 10, &index))
        return NULL;
    if (p->may_be_unread && level == 0)
        return forward_to(p, index);
    bool is_known = level < p->levels.count && p->levels.at[level] != NULL &&
                    index < p->levels.at[level]->len;
    /*
     * A constraint counts the levels of all enclosing templates, of which only
     * the innermost is known: its number stands for it.
     */
    if (p->in_constraint && (!is_known || p->outer_lists != 1))
        return wndl_cxx_bytes(
            p, (struct wndl_bytes){start, (size_t)(p->at - 1 - start)});
    if (is_known)
        return *(struct wndl_cxx_node **)wndl_vec_at(
            p->levels.at[level], index);
    if (p->lambda_level != (int)level || level > p->levels.count)
        return NULL;
    if (level == p->levels.count && level < WNDL_CXX_LEVELS)
        p->levels.at[p->levels.count++] = NULL;
    return automatic(p, index);
}

/* ---- declarations */

bool wndl_cxx_is_declaration(const struct wndl_cxx *p)
{
    uint8_t kind = wndl_cxx_look(p, 1);
    return wndl_cxx_look(p, 0) == 'T' && kind != 0 &&
           strchr("yptnk", kind) != NULL;
}

/* "$T", "$N0", "$TT1"; also into `level`. */
static struct wndl_cxx_node *invent_name(
    struct wndl_cxx *p, unsigned kind, struct wndl_vec *level)
{
    static const char *const names[] = {"$T", "$N", "$TT"};
    char text[30];
    unsigned number = p->invented[kind]++;
    if (number == 0)
        snprintf(text, sizeof text, "%s", names[kind]);
    else
        snprintf(text, sizeof text, "%s%u", names[kind], number - 1);
    char *copy = wndl_arena_copy(p->arena, text, strlen(text));
    struct wndl_cxx_node *node = copy == NULL ? NULL : wndl_cxx_text(p, copy);
    struct wndl_cxx_node **slot =
        node == NULL || level == NULL ? NULL : wndl_vec_push(level);
    if (slot != NULL)
        *slot = node;
    return level != NULL && slot == NULL ? NULL : node;
}

/* Tt DECLARATION... E */
static struct wndl_cxx_node *declare_template(
    struct wndl_cxx *p, struct wndl_vec *level)
{
    struct wndl_cxx_node *name = invent_name(p, 2, level);
    struct wndl_vec *inner = wndl_arena_alloc(p->arena, sizeof *inner);
    size_t first = p->names.len;
    if (inner == NULL || p->levels.count >= WNDL_CXX_LEVELS)
        return NULL;
    wndl_vec_init(inner, p->arena, sizeof(struct wndl_cxx_node *));
    p->levels.at[p->levels.count++] = inner;
    while (!wndl_cxx_take(p, "E")) {
        if (wndl_cxx_take(p, "Q")) {
            if (wndl_cxx_requires(p) == NULL || !wndl_cxx_take(p, "E"))
                return NULL;
            break;
        }
        if (!wndl_cxx_push(p, wndl_cxx_declaration(p, inner)))
            return NULL;
    }
    p->levels.count--;
    struct wndl_cxx_node *inside = wndl_cxx_list(p, WNDL_CXX_LIST, first);
    return wndl_cxx_around(
        p, "template<", wndl_cxx_join(p, inside, "> typename ", name), "");
}

static struct wndl_cxx_node *declare(struct wndl_cxx *p, struct wndl_vec *level)
{
    if (wndl_cxx_take(p, "Ty"))
        return wndl_cxx_around(p, "typename ", invent_name(p, 0, level), "");
    if (wndl_cxx_take(p, "Tk")) {
        struct wndl_cxx_node *constraint = wndl_cxx_name(p, NULL);
        return wndl_cxx_join(p, constraint, " ", invent_name(p, 0, level));
    }
    if (wndl_cxx_take(p, "Tn")) {
        struct wndl_cxx_node *name = invent_name(p, 1, level);
        return wndl_cxx_join(p, wndl_cxx_type(p), " ", name);
    }
    if (wndl_cxx_take(p, "Tt"))
        return declare_template(p, level);
    if (wndl_cxx_take(p, "Tp"))
        return wndl_cxx_around(p, "", wndl_cxx_declaration(p, level), "...");
    return NULL;
}

struct wndl_cxx_node *wndl_cxx_declaration(
    struct wndl_cxx *p, struct wndl_vec *level)
{
    struct wndl_cxx_node *node = wndl_cxx_enter(p) ? declare(p, level) : NULL;
    wndl_cxx_leave(p);
    return node;
}

/* ---- arguments */

static struct wndl_cxx_node *read_pack(struct wndl_cxx *p)
{
    size_t first = p->names.len;
    while (!wndl_cxx_take(p, "E"))
        if (!wndl_cxx_push(p, wndl_cxx_argument(p)))
            return NULL;
    return wndl_cxx_list(p, WNDL_CXX_ARGUMENTS, first);
}

static struct wndl_cxx_node *ended(
    struct wndl_cxx *p, struct wndl_cxx_node *node)
{
    return wndl_cxx_take(p, "E") ? node : NULL;
}

static struct wndl_cxx_node *read_argument(struct wndl_cxx *p)
{
    if (wndl_cxx_take(p, "X"))
        return ended(p, wndl_cxx_expression(p));
    if (wndl_cxx_take(p, "J"))
        return read_pack(p);
    if (wndl_cxx_take(p, "LZ"))
        return ended(p, wndl_cxx_encoding(p));
    if (wndl_cxx_look(p, 0) == 'L')
        return wndl_cxx_literal(p);
    return wndl_cxx_type(p);
}

/* A declaration before an argument says no more than the template does. */
struct wndl_cxx_node *wndl_cxx_argument(struct wndl_cxx *p)
{
    if (!wndl_cxx_enter(p)) {
        wndl_cxx_leave(p);
        return NULL;
    }
    struct wndl_cxx_node *node = NULL;
    bool is_declared = wndl_cxx_is_declaration(p);
    if (!is_declared || wndl_cxx_declaration(p, NULL) != NULL)
        node = is_declared ? wndl_cxx_argument(p) : read_argument(p);
    wndl_cxx_leave(p);
    return node;
}

/*
 * The argument that a parameter stands for; a pack gives one after the other.
 */
static bool add_outer(struct wndl_cxx *p, struct wndl_cxx_node *argument)
{
    struct wndl_cxx_node *node = argument;
    if (argument->kind == WNDL_CXX_ARGUMENTS) {
        node = wndl_cxx_new(p, WNDL_CXX_PACK);
        if (node != NULL)
            node->list = argument->list;
    }
    struct wndl_cxx_node **slot =
        node == NULL ? NULL : wndl_vec_push(&p->outer);
    if (slot != NULL)
        *slot = node;
    return slot != NULL;
}

static struct wndl_cxx_node *read_arguments(struct wndl_cxx *p, bool are_outer)
{
    size_t first = p->names.len;
    while (!wndl_cxx_take(p, "E")) {
        if (wndl_cxx_take(p, "Q")) {
            if (wndl_cxx_requires(p) == NULL || !wndl_cxx_take(p, "E"))
                return NULL;
            break;
        }
        struct wndl_cxx_node *argument = wndl_cxx_argument(p);
        if (!wndl_cxx_push(p, argument) ||
            (are_outer && !add_outer(p, argument)))
            return NULL;
    }
    return wndl_cxx_list(p, WNDL_CXX_LIST, first);
}

struct wndl_cxx_node *wndl_cxx_arguments(struct wndl_cxx *p, bool are_outer)
{
    bool no_arguments = p->no_arguments;
    if (!wndl_cxx_take(p, "I"))
        return NULL;
    if (are_outer) {
        p->levels = (struct wndl_cxx_levels){{&p->outer}, 1};
        p->outer.len = 0;
        p->outer_lists++;
    }
    p->no_arguments = false;
    struct wndl_cxx_node *list = read_arguments(p, are_outer);
    p->no_arguments = no_arguments;
    return list;
}
