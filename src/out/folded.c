/* SPDX-License-Identifier: MIT */
#include "out/folded.h"

#include "base/buf.h"

#include <inttypes.h>

/* A frame's text has this length too: bytes are replaced one for one. */
static struct wndl_bytes name_of(
    const struct wndl_calltree_node *node, const struct wndl_intern *strings)
{
    struct wndl_bytes name = wndl_intern_get(strings, node->key);
    static const uint8_t unknown[] = "?";
    return name.size == 0 ? (struct wndl_bytes){unknown, 1} : name;
}

/* What separates frames and lines must not be inside a name. */
static void push_frame(struct wndl_buf *path, struct wndl_bytes name)
{
    if (path->size != 0)
        wndl_buf_byte(path, ';');
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        wndl_buf_byte(path, c == ';' ? ':' : c < 0x20 || c == 0x7f ? ' ' : c);
    }
}

static void pop_frame(struct wndl_buf *path, struct wndl_bytes name)
{
    path->size -= name.size;
    if (path->size != 0)
        path->size--;
}

static void enter(FILE *out, struct wndl_buf *path,
    const struct wndl_calltree_node *node, const struct wndl_intern *strings)
{
    push_frame(path, name_of(node, strings));
    if (node->self.samples == 0 || path->failed)
        return;
    fwrite(path->data, 1, path->size, out);
    fprintf(out, " %" PRIu64 "\n", node->self.samples);
}

/* Down and up the tree by its links: no recursion, however deep it is. */
static void write_nodes(FILE *out, struct wndl_buf *path,
    const struct wndl_calltree *tree, const struct wndl_intern *strings)
{
    uint32_t index = wndl_calltree_at(tree, 0)->first_child;
    while (index != 0 && !path->failed) {
        const struct wndl_calltree_node *node = wndl_calltree_at(tree, index);
        enter(out, path, node, strings);
        if (node->first_child != 0) {
            index = node->first_child;
            continue;
        }
        pop_frame(path, name_of(node, strings));
        while (node->next_sibling == 0 && node->parent != 0) {
            node = wndl_calltree_at(tree, node->parent);
            pop_frame(path, name_of(node, strings));
        }
        index = node->next_sibling;
    }
}

bool wndl_folded_write(FILE *out, const struct wndl_calltree *tree,
    const struct wndl_intern *strings, struct wndl_mem *mem)
{
    struct wndl_buf path;
    wndl_buf_init(&path, mem);
    if (tree->nodes.len != 0)
        write_nodes(out, &path, tree, strings);
    bool whole = !path.failed;
    wndl_buf_free(&path);
    return whole;
}
