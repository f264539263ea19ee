/* SPDX-License-Identifier: MIT */
#include "symbolize/demangle/cxx_internal.h"

#include <string.h>

/* ---- bytes */

struct wndl_bytes wndl_cxx_number(struct wndl_cxx *p, bool is_signed)
{
    const uint8_t *start = p->at;
    const uint8_t *digits = p->at + (is_signed && wndl_cxx_look(p, 0) == 'n');
    p->at = digits;
    while (wndl_cxx_is_digit(wndl_cxx_look(p, 0)))
        p->at++;
    if (p->at == digits)
        p->at = start;
    return (struct wndl_bytes){start, (size_t)(p->at - start)};
}

bool wndl_cxx_unsigned(struct wndl_cxx *p, size_t *value)
{
    enum { MOST = 1 << 20 };
    const uint8_t *start = p->at;
    size_t number = 0;
    while (number <= MOST && wndl_cxx_is_digit(wndl_cxx_look(p, 0)))
        number = 10 * number + *p->at++ - '0';
    *value = number;
    return number <= MOST && p->at != start;
}

static int digit_of(uint8_t c, unsigned base)
{
    if (wndl_cxx_is_digit(c))
        return c - '0';
    return base == 36 && c >= 'A' && c <= 'Z' ? c - 'A' + 10 : -1;
}

bool wndl_cxx_index(struct wndl_cxx *p, unsigned base, size_t *index)
{
    enum { MOST = 1 << 20 };
    *index = 0;
    if (wndl_cxx_take(p, "_"))
        return true;
    size_t value = 0;
    const uint8_t *start = p->at;
    for (int digit; (digit = digit_of(wndl_cxx_look(p, 0), base)) >= 0; p->at++)
        if ((value = value * base + (unsigned)digit) > MOST)
            return false;
    *index = value + 1;
    return p->at != start && wndl_cxx_take(p, "_");
}

/* ---- nodes */

bool wndl_cxx_more_nodes(struct wndl_cxx *p)
{
    enum { CHUNK = 32 };
    if (!p->failed && p->nodes < WNDL_CXX_NODES) {
        p->nodes += CHUNK;
        p->spare = wndl_arena_calloc(p->arena, CHUNK, sizeof *p->spare);
        p->spare_end = p->spare == NULL ? NULL : p->spare + CHUNK;
    }
    p->failed |= p->spare == p->spare_end;
    return !p->failed;
}

struct wndl_cxx_node *wndl_cxx_bytes(struct wndl_cxx *p, struct wndl_bytes text)
{
    struct wndl_cxx_node *node = wndl_cxx_new(p, WNDL_CXX_TEXT);
    if (node != NULL)
        node->text = text;
    return node;
}

struct wndl_cxx_node *wndl_cxx_text(struct wndl_cxx *p, const char *text)
{
    return wndl_cxx_bytes(
        p, (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
}

struct wndl_cxx_node *wndl_cxx_one(
    struct wndl_cxx *p, enum wndl_cxx_kind kind, struct wndl_cxx_node *a)
{
    struct wndl_cxx_node *node = a == NULL ? NULL : wndl_cxx_new(p, kind);
    if (node != NULL)
        node->a = a;
    return node;
}

struct wndl_cxx_node *wndl_cxx_two(struct wndl_cxx *p, enum wndl_cxx_kind kind,
    struct wndl_cxx_node *a, struct wndl_cxx_node *b)
{
    struct wndl_cxx_node *node = b == NULL ? NULL : wndl_cxx_one(p, kind, a);
    if (node != NULL)
        node->b = b;
    return node;
}

struct wndl_cxx_node *wndl_cxx_around(struct wndl_cxx *p, const char *before,
    struct wndl_cxx_node *a, const char *after)
{
    size_t first = p->names.len;
    if (!wndl_cxx_push(p, wndl_cxx_text(p, before)) || !wndl_cxx_push(p, a) ||
        (*after != '\0' && !wndl_cxx_push(p, wndl_cxx_text(p, after))))
        return NULL;
    return wndl_cxx_list(p, WNDL_CXX_SEQUENCE, first);
}

struct wndl_cxx_node *wndl_cxx_join(struct wndl_cxx *p, struct wndl_cxx_node *a,
    const char *between, struct wndl_cxx_node *b)
{
    size_t first = p->names.len;
    if (!wndl_cxx_push(p, a) || !wndl_cxx_push(p, wndl_cxx_text(p, between)) ||
        !wndl_cxx_push(p, b))
        return NULL;
    return wndl_cxx_list(p, WNDL_CXX_SEQUENCE, first);
}

bool wndl_cxx_push(struct wndl_cxx *p, struct wndl_cxx_node *node)
{
    return node != NULL && !p->failed && wndl_cxx_append(&p->names, node);
}

struct wndl_cxx_list wndl_cxx_pop(struct wndl_cxx *p, size_t first)
{
    struct wndl_cxx_list list = {.count = p->names.len - first};
    if (list.count == 0)
        return list;
    list.items =
        wndl_arena_calloc(p->arena, list.count, sizeof(struct wndl_cxx_node *));
    if (list.items == NULL) {
        p->failed = true;
        list.count = 0;
    } else {
        memcpy(list.items, wndl_vec_at(&p->names, first),
            list.count * sizeof *list.items);
    }
    p->names.len = first;
    return list;
}

struct wndl_cxx_node *wndl_cxx_list(
    struct wndl_cxx *p, enum wndl_cxx_kind kind, size_t first)
{
    struct wndl_cxx_node *node = wndl_cxx_new(p, kind);
    if (node != NULL)
        node->list = wndl_cxx_pop(p, first);
    return p->failed ? NULL : node;
}

struct wndl_cxx_node *wndl_cxx_remember_at(struct wndl_cxx *p,
    struct wndl_cxx_node *node, const uint8_t *start, const uint8_t *end)
{
    if (node == NULL || p->failed)
        return NULL;
    struct wndl_vec *parts = &p->parts;
    if (parts->len == parts->cap && !wndl_vec_reserve(parts, 1))
        return NULL;
    struct wndl_cxx_part *part = wndl_vec_at(parts, parts->len++);
    *part = (struct wndl_cxx_part){node, start, end, p->scope};
    return node;
}

struct wndl_cxx_node *wndl_cxx_remember(
    struct wndl_cxx *p, struct wndl_cxx_node *node)
{
    return wndl_cxx_remember_at(p, node, NULL, NULL);
}

/* ---- whole symbols */

static bool is_of_mark(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || wndl_cxx_is_digit(c) || c == '_';
}

/*
 * A clone made by the compiler: ".part.0" and the like, each with its numbers.
 */
static struct wndl_cxx_node *read_clones(
    struct wndl_cxx *p, struct wndl_cxx_node *name)
{
    while (name != NULL && wndl_cxx_look(p, 0) == '.' &&
           is_of_mark(wndl_cxx_look(p, 1))) {
        const uint8_t *start = p->at;
        for (p->at += 2; is_of_mark(wndl_cxx_look(p, 0));)
            p->at++;
        while (wndl_cxx_look(p, 0) == '.' &&
               wndl_cxx_is_digit(wndl_cxx_look(p, 1)))
            for (p->at += 2; wndl_cxx_is_digit(wndl_cxx_look(p, 0));)
                p->at++;
        struct wndl_bytes mark = {start, (size_t)(p->at - start)};
        name = wndl_cxx_join(p, name, " [clone ",
            wndl_cxx_around(p, "", wndl_cxx_bytes(p, mark), "]"));
    }
    return name;
}

/* Clang's blocks: "_block_invoke", "_block_invoke_2". */
static struct wndl_cxx_node *read_block(struct wndl_cxx *p)
{
    struct wndl_cxx_node *in = wndl_cxx_encoding(p);
    if (in == NULL || !wndl_cxx_take(p, "_block_invoke"))
        return NULL;
    bool is_numbered = wndl_cxx_take(p, "_");
    if (wndl_cxx_number(p, false).size == 0 && is_numbered)
        return NULL;
    return wndl_cxx_around(p, "invocation function for block in ", in, "");
}

static struct wndl_cxx_node *read_symbol(struct wndl_cxx *p)
{
    struct wndl_cxx_node *node = NULL;
    if (wndl_cxx_take(p, "_Z") || wndl_cxx_take(p, "__Z"))
        node = wndl_cxx_encoding(p);
    else if (wndl_cxx_take(p, "___Z") || wndl_cxx_take(p, "____Z"))
        node = read_block(p);
    node = read_clones(p, node);
    return p->at == p->end && !p->failed ? node : NULL;
}

enum { ROOM = 8 * 1024 };

bool wndl_cxx_demangle(
    struct wndl_bytes name, size_t most, struct wndl_buf *text)
{
    /* Most names need no more than this, and no allocation. */
    _Alignas(16) uint8_t room[ROOM];
    struct wndl_arena arena;
    wndl_arena_init(&arena, text->mem);
    wndl_arena_lend(&arena, room, sizeof room);
    struct wndl_cxx p = {
        .at = name.data,
        .end = name.data + name.size,
        .arena = &arena,
        .lambda_level = -1,
    };
    struct wndl_vec *lists[] = {&p.names, &p.forwards, &p.outer};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        wndl_vec_init(lists[i], &arena, sizeof(struct wndl_cxx_node *));
    wndl_vec_init(&p.parts, &arena, sizeof(struct wndl_cxx_part));
    wndl_buf_clear(text);
    struct wndl_cxx_node *node = read_symbol(&p);
    bool whole = node != NULL && wndl_cxx_print(node, most, text);
    wndl_arena_free(&arena);
    return whole;
}
