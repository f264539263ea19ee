/* SPDX-License-Identifier: MIT */
#include "rt/tree.h"

#include "rt/rt.h"

enum { PAGE_SHIFT = 12 };

/* A code page is remembered once its module is listed. */
static bool note_module(struct wndl_rt_known *known, uint64_t address)
{
    uint64_t page = address >> PAGE_SHIFT;
    uint64_t *here = &known->pages[page % WNDL_RT_PAGES];
    if (*here == page)
        return true;
    if (!wndl_rt_module_note(address))
        return false;
    *here = page;
    return true;
}

enum wndl_loss wndl_rt_tree_add_frame(
    struct wndl_rt_known *known, const struct wndl_frame *frame, uint32_t *node)
{
    if (!note_module(known, frame->address))
        return WNDL_LOSS_MODULES_FULL;
    uint64_t epoch = (uint64_t)known->epoch << WNDL_KEY_EPOCH_SHIFT;
    *node = wndl_stacktree_insert(
        wndl_rt.tree, *node, wndl_rt_tree_key(frame, epoch));
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
        loss = wndl_rt_tree_add_frame(known, &walk->frames[--at], node);
        stack->carried[at] = loss == 0 ? *node : 0;
    }
    while (at > 0)
        stack->carried[--at] = 0;
    return loss;
}
