/* SPDX-License-Identifier: MIT */
/*
 * The trie of exports: a node has the export of the name that leads to it, and
 * edges, each with a piece of name, to the nodes below.
 */
#include "obj/macho/impl.h"

#include <string.h>

/* Kinds and flags of an export. */
enum { KIND = 0x3, ABSOLUTE = 0x2, REEXPORT = 0x8 };

/* As long as any name that we read. */
enum { LONGEST_NAME = 1 << 16 };

/*
 * A node that is still to be visited. Its name is the first `length` bytes of
 * its parent's, and then the edge.
 */
struct pending {
    uint64_t node;
    struct wndl_bytes edge;
    uint32_t length;
};

struct walk {
    struct wndl_bytes trie;
    struct wndl_vec pending;
    struct wndl_arena *arena; /* of names */
    uint8_t name[LONGEST_NAME];
};

static bool push_edges(struct walk *w, struct wndl_cursor *c, uint32_t length)
{
    uint8_t edges = wndl_cursor_u8(c);
    size_t first = w->pending.len;
    for (uint8_t i = 0; i < edges && !c->failed; i++) {
        struct pending *next = wndl_vec_push(&w->pending);
        if (next == NULL)
            return false;
        next->edge = wndl_cursor_cstr(c);
        next->node = wndl_cursor_uleb(c);
        next->length = length;
    }
    if (c->failed)
        w->pending.len = first;
    return true;
}

/*
 * Sets the address. False for an export in another library, or one without an
 * address.
 */
static bool read_terminal(struct wndl_cursor terminal, uint64_t *offset)
{
    uint64_t flags = wndl_cursor_uleb(&terminal);
    if ((flags & REEXPORT) != 0 || (flags & KIND) == ABSOLUTE)
        return false;
    *offset = wndl_cursor_uleb(&terminal);
    return !terminal.failed;
}

typedef enum wndl_status add_function(
    void *context, const struct wndl_macho_export *exported);

/* MALFORMED: the rest may be read all the same. */
static enum wndl_status visit(
    struct walk *w, const struct pending *at, add_function *add, void *context)
{
    struct wndl_cursor c = wndl_cursor_at(w->trie, at->node, false);
    uint64_t size = wndl_cursor_uleb(&c);
    struct wndl_cursor terminal = wndl_cursor_sub(&c, size);
    size_t length = at->length + at->edge.size;
    if (c.failed || length >= LONGEST_NAME)
        return WNDL_MALFORMED;
    if (at->edge.size != 0)
        memcpy(w->name + at->length, at->edge.data, at->edge.size);
    struct wndl_macho_export exported;
    enum wndl_status status = WNDL_OK;
    if (size != 0 && read_terminal(terminal, &exported.offset)) {
        exported.name = wndl_arena_copy(w->arena, w->name, length);
        status = exported.name == NULL ? WNDL_NOMEM : add(context, &exported);
    }
    if (status == WNDL_OK && !push_edges(w, &c, (uint32_t)length))
        return WNDL_NOMEM;
    return status == WNDL_OK && c.failed ? WNDL_MALFORMED : status;
}

/*
 * A node takes two bytes at least, and is below one other. A walk that visits
 * more nodes, or more bytes of names, than a trie of that size can have is in a
 * cycle.
 */
static enum wndl_status walk(struct walk *w, add_function *add, void *context)
{
    uint64_t left = w->trie.size / 2 + 1;
    uint64_t names = 64 * (uint64_t)w->trie.size + LONGEST_NAME;
    bool damaged = false;
    while (w->pending.len != 0) {
        struct pending at =
            *(struct pending *)wndl_vec_at(&w->pending, w->pending.len - 1);
        w->pending.len--;
        uint64_t length = at.length + at.edge.size;
        if (left-- == 0 || names < length)
            return WNDL_MALFORMED;
        names -= length;
        enum wndl_status status = visit(w, &at, add, context);
        if (status != WNDL_OK && status != WNDL_MALFORMED)
            return status;
        damaged = damaged || status != WNDL_OK;
    }
    return damaged ? WNDL_MALFORMED : WNDL_OK;
}

static enum wndl_status walk_from_root(
    struct walk *w, struct wndl_bytes trie, add_function *add, void *context)
{
    struct wndl_arena scratch;
    wndl_arena_init(&scratch, w->arena->mem);
    w->trie = trie;
    wndl_vec_init(&w->pending, &scratch, sizeof(struct pending));
    enum wndl_status status =
        wndl_vec_push(&w->pending) == NULL ? WNDL_NOMEM : walk(w, add, context);
    wndl_arena_free(&scratch);
    return status;
}

enum wndl_status wndl_macho_visit_exports(const struct wndl_object *object,
    struct wndl_arena *arena, add_function *add, void *context,
    struct wndl_error *err)
{
    const struct wndl_macho *m = object->macho;
    const struct wndl_macho_part *part = &m->exports;
    if (part->size == 0)
        return WNDL_OK;
    struct wndl_bytes trie =
        wndl_bytes_slice(m->bytes, part->offset, part->size);
    if (trie.size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED, "exports",
            m->offset + part->offset, "they reach past the end of the file");
    struct walk *w = wndl_mem_zalloc(arena->mem, sizeof *w);
    if (w == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the symbols");
    w->arena = arena;
    enum wndl_status status = walk_from_root(w, trie, add, context);
    wndl_mem_free(arena->mem, w);
    if (status == WNDL_MALFORMED)
        return wndl_fail_at(err, status, "exports", m->offset + part->offset,
            "nodes of the trie are damaged or go in circles");
    return status;
}
