/* SPDX-License-Identifier: MIT */
#include "out/folded.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "model/certainty.h"

#include <inttypes.h>

/* A frame's text has the same length: bytes are replaced one for one. */
static struct wndl_bytes name_of(
    const struct wndl_calltree_node *node, const struct wndl_intern *strings)
{
    struct wndl_bytes name = wndl_intern_get(strings, node->key);
    static const uint8_t unknown[] = "?";
    return name.size == 0 ? (struct wndl_bytes){unknown, 1} : name;
}

/* A name must not contain the characters that separate frames and lines. */
static uint8_t tame(uint8_t c)
{
    return c == ';' ? ':' : c >= 0x80 ? '?' : c < 0x20 || c == 0x7f ? ' ' : c;
}

static bool is_guessed(const struct wndl_calltree_node *node)
{
    return node->certainty == WNDL_GUESSED;
}

static void push_frame(struct wndl_buf *path,
    const struct wndl_calltree_node *node, struct wndl_bytes name)
{
    if (path->size != 0)
        wndl_buf_byte(path, ';');
    if (is_guessed(node))
        wndl_buf_byte(path, '~');
    for (size_t i = 0; i < name.size;) {
        size_t length = name.data[i] < 0x80
                            ? 0
                            : wndl_utf8_length(name.data + i, name.size - i);
        if (length == 0)
            wndl_buf_byte(path, tame(name.data[i++]));
        else
            wndl_buf_add(path, name.data + i, length);
        i += length;
    }
}

static void pop_frame(struct wndl_buf *path,
    const struct wndl_calltree_node *node, struct wndl_bytes name)
{
    path->size -= name.size + is_guessed(node);
    if (path->size != 0)
        path->size--;
}

/* A tree being written. */
struct folding {
    FILE *out;
    const struct wndl_calltree *tree;
    const struct wndl_intern *strings;
    uint64_t unit;
    struct wndl_buf path;
};

static uint64_t units(const struct folding *f, uint64_t time)
{
    uint64_t whole = time / f->unit;
    whole += time % f->unit >= f->unit - f->unit / 2;
    return whole == 0 ? 1 : whole;
}

static void enter_node(struct folding *f, const struct wndl_calltree_node *node)
{
    push_frame(&f->path, node, name_of(node, f->strings));
    if (node->self.samples == 0 || f->path.failed)
        return;
    fwrite(f->path.data, 1, f->path.size, f->out);
    fprintf(f->out, " %" PRIu64 "\n", units(f, node->self.time));
}

/* Down and up the tree by its links: no recursion, however deep it is. */
static void write_nodes(struct folding *f)
{
    uint32_t index = wndl_calltree_at(f->tree, 0)->first_child;
    while (index != 0 && !f->path.failed) {
        const struct wndl_calltree_node *node =
            wndl_calltree_at(f->tree, index);
        enter_node(f, node);
        if (node->first_child != 0) {
            index = node->first_child;
            continue;
        }
        pop_frame(&f->path, node, name_of(node, f->strings));
        while (node->next_sibling == 0 && node->parent != 0) {
            node = wndl_calltree_at(f->tree, node->parent);
            pop_frame(&f->path, node, name_of(node, f->strings));
        }
        index = node->next_sibling;
    }
}

bool wndl_folded_write(FILE *out, const struct wndl_calltree *tree,
    const struct wndl_intern *strings, uint64_t unit, struct wndl_mem *mem)
{
    struct folding f = {
        .out = out, .tree = tree, .strings = strings, .unit = unit};
    wndl_buf_init(&f.path, mem);
    if (tree->nodes.len != 0)
        write_nodes(&f);
    bool whole = !f.path.failed;
    wndl_buf_free(&f.path);
    return whole;
}
