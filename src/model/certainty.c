/* SPDX-License-Identifier: MIT */
#include "model/certainty.h"

enum wndl_certainty wndl_certainty_of_how(uint8_t how)
{
    /* The numbers of windlass/unwind.h. */
    enum { HOW_CONTEXT = 0, HOW_CFI = 1, HOW_CHECKED = 6 };
    switch (how) {
    case HOW_CONTEXT:
    case HOW_CFI:
        return WNDL_CERTAIN;
    case HOW_CHECKED:
        return WNDL_CHECKED;
    default:
        return WNDL_GUESSED;
    }
}

enum wndl_certainty wndl_certainty_of_stack(
    const struct wndl_profile *p, uint32_t node)
{
    enum wndl_certainty least = WNDL_CERTAIN;
    while (node != 0) {
        const struct wndl_node *at = wndl_vec_at(&p->nodes, node);
        const struct wndl_frame_key *frame = wndl_vec_at(&p->frames, at->frame);
        const enum wndl_certainty own = wndl_certainty_of_how(frame->how);
        least = own > least ? own : least;
        node = at->parent;
    }
    return least;
}

const char *wndl_certainty_name(enum wndl_certainty certainty)
{
    static const char *const names[] = {
        [WNDL_CERTAIN] = "certain",
        [WNDL_CHECKED] = "checked",
        [WNDL_GUESSED] = "guessed",
    };
    return names[certainty];
}
