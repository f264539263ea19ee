/* SPDX-License-Identifier: MIT */
/*
 * The tree as text. A type is printed in two halves, before and after the name
 * that it is of: "void (*" and ")(int)". A pack of parameters prints the one
 * whose turn it is; an expansion takes turns until its packs are at an end.
 */
#include "symbolize/demangle/cxx_internal.h"

#include <string.h>

enum { MOST_STEPS = 1 << 20, MOST_DEPTH = 2000, NO_TURN = -1 };

struct print {
    struct wndl_buf *out;
    size_t most;
    unsigned steps;
    unsigned depth;
    bool failed;
    int turn, turns; /* of an expansion; turns: NO_TURN until a pack is met */
};

static inline void put(struct print *print, struct wndl_bytes text)
{
    struct wndl_buf *out = print->out;
    if (text.size > print->most - out->size ||
        wndl_buf_reserve(out, text.size) == NULL) {
        print->failed = true;
        return;
    }
    memcpy(out->data + out->size, text.data, text.size);
    out->size += text.size;
}

static inline __attribute__((always_inline)) void put_text(
    struct print *print, const char *text)
{
    put(print, (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
}

static uint8_t last_byte(const struct print *print)
{
    const struct wndl_buf *out = print->out;
    return out->size == 0 ? 0 : out->data[out->size - 1];
}

static bool enter(struct print *print)
{
    print->failed |= ++print->depth > MOST_DEPTH || ++print->steps > MOST_STEPS;
    return !print->failed;
}

static void left(struct print *print, struct wndl_cxx_node *node);
static void right(struct print *print, struct wndl_cxx_node *node);

static void both(struct print *print, struct wndl_cxx_node *node);

/* ---- packs */

static struct wndl_cxx_node *current(
    struct print *print, struct wndl_cxx_node *pack)
{
    if (print->turns == NO_TURN) {
        print->turns = (int)pack->list.count;
        print->turn = 0;
    }
    return (size_t)print->turn < pack->list.count
               ? pack->list.items[print->turn]
               : NULL;
}

static struct wndl_cxx_node *follow(
    struct print *print, struct wndl_cxx_node *node)
{
    while (node != NULL) {
        print->failed |= ++print->steps > MOST_STEPS;
        if (print->failed)
            return NULL;
        if (node->kind == WNDL_CXX_PACK)
            node = current(print, node);
        else if (node->kind == WNDL_CXX_FORWARD)
            node = node->a;
        else
            break;
    }
    return node;
}

/*
 * The node that a pack or a forward reference stands for; NULL when the pack is
 * at an end. A loop that a reference leads back into goes through here.
 */
static inline struct wndl_cxx_node *real(
    struct print *print, struct wndl_cxx_node *node)
{
    return node != NULL && node->kind != WNDL_CXX_PACK &&
                   node->kind != WNDL_CXX_FORWARD
               ? node
               : follow(print, node);
}

static void expand(struct print *print, struct wndl_cxx_node *node)
{
    int turn = print->turn;
    int turns = print->turns;
    size_t start = print->out->size;
    print->turns = NO_TURN;
    both(print, node->a);
    if (print->turns == NO_TURN)
        put_text(print, "...");
    else if (print->turns == 0)
        print->out->size = start;
    for (int i = 1; i < print->turns && !print->failed; i++) {
        put_text(print, ", ");
        print->turn = i;
        both(print, node->a);
    }
    print->turn = turn;
    print->turns = turns;
}

/* ---- lists */

static void put_list(struct print *print, const struct wndl_cxx_list *list)
{
    bool first = true;
    for (size_t i = 0; i < list->count && !print->failed; i++) {
        size_t before = print->out->size;
        if (!first)
            put_text(print, ", ");
        size_t start = print->out->size;
        both(print, list->items[i]);
        if (print->out->size == start)
            print->out->size = before;
        else
            first = false;
    }
}

static void put_arguments(struct print *print, struct wndl_cxx_node *list)
{
    if (last_byte(print) == '<')
        put_text(print, " ");
    put_text(print, "<");
    put_list(print, &list->list);
    put_text(print, last_byte(print) == '>' ? " >" : ">");
}

static void put_quals(struct print *print, uint8_t quals)
{
    if ((quals & WNDL_CXX_CONST) != 0)
        put_text(print, " const");
    if ((quals & WNDL_CXX_VOLATILE) != 0)
        put_text(print, " volatile");
    if ((quals & WNDL_CXX_RESTRICT) != 0)
        put_text(print, " restrict");
    if ((quals & WNDL_CXX_LREF) != 0)
        put_text(print, " &");
    if ((quals & WNDL_CXX_RREF) != 0)
        put_text(print, " &&");
}

/* ---- names */

/* Without scopes and arguments: what a constructor is called. */
static void put_last(struct print *print, struct wndl_cxx_node *node)
{
    static const char std[] = "std::";
    while ((node = real(print, node)) != NULL) {
        switch (node->kind) {
        case WNDL_CXX_SCOPED:
            node = node->b;
            continue;
        case WNDL_CXX_TEMPLATE:
        case WNDL_CXX_ATTACHED:
        case WNDL_CXX_TAGGED:
            node = node->a;
            continue;
        case WNDL_CXX_STD: {
            struct wndl_bytes text =
                node->b == NULL ? node->text : node->b->text;
            const uint8_t *end = memchr(text.data, '<', text.size);
            size_t size = end == NULL ? text.size : (size_t)(end - text.data);
            put(print, (struct wndl_bytes){text.data + sizeof std - 1,
                           size - (sizeof std - 1)});
            return;
        }
        default:
            both(print, node);
            return;
        }
    }
}

static void put_tagged(struct print *print, struct wndl_cxx_node *node)
{
    both(print, node->a);
    put_text(print, "[abi:");
    put(print, node->text);
    put_text(print, "]");
}

static void put_module(struct print *print, struct wndl_cxx_node *node)
{
    if (node->a != NULL)
        both(print, node->a);
    if (node->flag)
        put_text(print, ":");
    else if (node->a != NULL)
        put_text(print, ".");
    both(print, node->b);
}

/* ---- the two halves of types */

/* The kinds of types that bracket the declarator of a pointer to them. */
static bool is_bracketed(struct print *print, struct wndl_cxx_node *node)
{
    while (
        (node = real(print, node)) != NULL && node->kind == WNDL_CXX_QUALIFIED)
        node = node->a;
    return node != NULL &&
           (node->kind == WNDL_CXX_ARRAY || node->kind == WNDL_CXX_FUNCTION);
}

/* Whether there is something after the name. */
static bool has_right(struct print *print, struct wndl_cxx_node *node)
{
    while ((node = real(print, node)) != NULL) {
        switch (node->kind) {
        case WNDL_CXX_ARRAY:
        case WNDL_CXX_FUNCTION:
            return true;
        case WNDL_CXX_QUALIFIED:
        case WNDL_CXX_POINTER:
        case WNDL_CXX_REFERENCE:
            node = node->a;
            break;
        case WNDL_CXX_MEMBER:
            node = node->b;
            break;
        default:
            return false;
        }
    }
    return false;
}

/* "& &&" is "&". The innermost type, and whether all are "&&". */
static struct wndl_cxx_node *collapse(
    struct print *print, struct wndl_cxx_node *node, bool *is_rvalue)
{
    struct wndl_cxx_node *last = node;
    *is_rvalue = true;
    while (node != NULL && node->kind == WNDL_CXX_REFERENCE) {
        *is_rvalue &= node->text.size == 2;
        last = node->a;
        node = real(print, last);
    }
    return last;
}

static void point(
    struct print *print, struct wndl_cxx_node *to, const char *text)
{
    left(print, to);
    bool bracketed = is_bracketed(print, to);
    if (bracketed)
        put_text(print, last_byte(print) == ' ' ? "(" : " (");
    put_text(print, text);
}

static void end_point(struct print *print, struct wndl_cxx_node *to)
{
    if (is_bracketed(print, to))
        put_text(print, ")");
    right(print, to);
}

static void put_member(struct print *print, struct wndl_cxx_node *node)
{
    left(print, node->b);
    if (is_bracketed(print, node->b))
        put_text(print, last_byte(print) == ' ' ? "(" : " (");
    else
        put_text(print, " ");
    both(print, node->a);
    put_text(print, "::*");
}

static void put_result(struct print *print, struct wndl_cxx_node *result)
{
    if (result == NULL)
        return;
    left(print, result);
    if (!has_right(print, result))
        put_text(print, " ");
}

static void put_parameters(struct print *print, struct wndl_cxx_node *node)
{
    put_text(
        print, node->kind == WNDL_CXX_ENCODING && node->flag ? "(this " : "(");
    put_list(print, &node->list);
    put_text(print, ")");
}

static void end_function(struct print *print, struct wndl_cxx_node *node)
{
    put_parameters(print, node);
    if (node->kind == WNDL_CXX_FUNCTION) {
        put_quals(print, node->quals);
        if (node->b != NULL)
            both(print, node->b);
        right(print, node->a);
        return;
    }
    if (node->a != NULL)
        right(print, node->a);
    put_quals(print, node->quals);
    both(print, node->c);
}

/* The qualifiers that a template's argument does not have itself. */
static uint8_t own_quals(struct print *print, struct wndl_cxx_node *node)
{
    struct wndl_cxx_node *of = real(print, node->a);
    return of != NULL && of->kind == WNDL_CXX_QUALIFIED
               ? node->quals & (uint8_t)~of->quals
               : node->quals;
}

static void put_left(struct print *print, struct wndl_cxx_node *node)
{
    bool is_rvalue;
    struct wndl_cxx_node *to;
    switch ((enum wndl_cxx_kind)node->kind) {
    case WNDL_CXX_TEXT:
        put(print, node->text);
        return;
    case WNDL_CXX_STD:
        put(print, node->flag ? node->b->text : node->text);
        return;
    case WNDL_CXX_SEQUENCE:
        for (size_t i = 0; i < node->list.count && !print->failed; i++)
            both(print, node->list.items[i]);
        return;
    case WNDL_CXX_LIST:
    case WNDL_CXX_ARGUMENTS:
        put_list(print, &node->list);
        return;
    case WNDL_CXX_SCOPED:
        both(print, node->a);
        put_text(print, "::");
        both(print, node->b);
        return;
    case WNDL_CXX_TAGGED:
        put_tagged(print, node);
        return;
    case WNDL_CXX_ATTACHED:
        both(print, node->a);
        put_text(print, "@");
        both(print, node->b);
        return;
    case WNDL_CXX_TEMPLATE:
        both(print, node->a);
        put_arguments(print, node->b);
        return;
    case WNDL_CXX_DTOR:
        put_text(print, "~");
        put_last(print, node->a);
        return;
    case WNDL_CXX_CTOR:
        put_last(print, node->a);
        return;
    case WNDL_CXX_QUALIFIED:
        left(print, node->a);
        put_quals(print, own_quals(print, node));
        return;
    case WNDL_CXX_POINTER:
        point(print, node->a, "*");
        return;
    case WNDL_CXX_REFERENCE:
        to = collapse(print, node, &is_rvalue);
        point(print, to, is_rvalue ? "&&" : "&");
        return;
    case WNDL_CXX_MEMBER:
        put_member(print, node);
        return;
    case WNDL_CXX_ARRAY:
        left(print, node->a);
        return;
    case WNDL_CXX_FUNCTION:
        put_result(print, node->a);
        return;
    case WNDL_CXX_ENCODING:
        put_result(print, node->a);
        both(print, node->b);
        return;
    case WNDL_CXX_EXPANSION:
        expand(print, node);
        return;
    case WNDL_CXX_MODULE:
        put_module(print, node);
        return;
    case WNDL_CXX_PACK:
    case WNDL_CXX_FORWARD:
        return; /* real() has followed them */
    }
}

static void put_right(struct print *print, struct wndl_cxx_node *node)
{
    bool is_rvalue;
    switch (node->kind) {
    case WNDL_CXX_QUALIFIED:
        right(print, node->a);
        return;
    case WNDL_CXX_POINTER:
        end_point(print, node->a);
        return;
    case WNDL_CXX_REFERENCE:
        end_point(print, collapse(print, node, &is_rvalue));
        return;
    case WNDL_CXX_MEMBER:
        end_point(print, node->b);
        return;
    case WNDL_CXX_ARRAY:
        put_text(print, last_byte(print) == ']' ? "[" : " [");
        both(print, node->b);
        put_text(print, "]");
        right(print, node->a);
        return;
    case WNDL_CXX_FUNCTION:
    case WNDL_CXX_ENCODING:
        end_function(print, node);
        return;
    default:
        return;
    }
}

static void left(struct print *print, struct wndl_cxx_node *node)
{
    if (enter(print)) {
        node = real(print, node);
        if (node != NULL)
            put_left(print, node);
    }
    print->depth--;
}

static void right(struct print *print, struct wndl_cxx_node *node)
{
    if (enter(print)) {
        node = real(print, node);
        if (node != NULL)
            put_right(print, node);
    }
    print->depth--;
}

static void both(struct print *print, struct wndl_cxx_node *node)
{
    if (enter(print)) {
        node = real(print, node);
        if (node != NULL)
            put_left(print, node);
        if (node != NULL && node->kind >= WNDL_CXX_FIRST_WITH_RIGHT)
            put_right(print, node);
    }
    print->depth--;
}

bool wndl_cxx_print(
    struct wndl_cxx_node *node, size_t most, struct wndl_buf *out)
{
    struct print print = {.out = out, .most = most, .turns = NO_TURN};
    both(&print, node);
    return !print.failed && !out->failed && out->size != 0;
}
