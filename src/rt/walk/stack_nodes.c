/* SPDX-License-Identifier: MIT */
#include "rt/walk/stack_nodes.h"

#include "rt/core/rt.h"
#include "rt/walk/modules.h"

enum { PAGE_SHIFT = 12 };

/* The owner at its place in a key. */
static uint64_t owner_part(uint64_t known)
{
    return known >> WNDL_KEY_OWNER_SHIFT << WNDL_KEY_OWNER_SHIFT;
}

/*
 * Notes a module. A code page is remembered once its module is listed, with the
 * owner of its keys: nodes of a module stay the same if others are unloaded.
 */
static bool note_module(
    struct wndl_rt_known *known, uint64_t address, uint64_t *owner)
{
    uint64_t page = address >> PAGE_SHIFT;
    uint64_t *here = &known->pages[page % WNDL_RT_PAGES];
    uint32_t number = wndl_key_no_row(known->age);
    if ((*here ^ owner_part(*here)) != page) {
        if (!wndl_rt_module_note(address, &number))
            return false;
        *here = page | (uint64_t)number << WNDL_KEY_OWNER_SHIFT;
    }
    *owner = owner_part(*here);
    return true;
}

/* The node of a frame. *node is its caller's at first. */
static enum wndl_loss add_frame(
    struct wndl_rt_known *known, const struct wndl_frame *frame, uint32_t *node)
{
    uint64_t owner;
    if (!note_module(known, frame->address, &owner))
        return WNDL_LOSS_MODULES_FULL;
    *node = wndl_stacktree_insert(
        wndl_rt.tree, *node, wndl_rt_tree_key(frame, owner));
    return *node == 0 ? WNDL_LOSS_TREE_FULL : 0;
}

enum wndl_loss wndl_rt_tree_add(struct wndl_rt_known *known,
    const struct wndl_resumed *stack, uint32_t *node)
{
    const struct wndl_walk *walk = &stack->walk;
    enum wndl_loss loss = 0;
    size_t at = stack->changed;
    while (at < walk->count && stack->carried[at] == 0)
        at++;
    *node = at < walk->count ? stack->carried[at] : 0;
    while (at > 0 && loss == 0) {
        loss = add_frame(known, &walk->frames[--at], node);
        stack->carried[at] = loss == 0 ? *node : 0;
    }
    while (at > 0)
        stack->carried[--at] = 0;
    return loss;
}
