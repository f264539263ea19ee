/* SPDX-License-Identifier: MIT */
#include "model/costs.h"

enum wndl_label wndl_cost_item_label(const struct wndl_cost_item *item)
{
    if (item->waiting)
        return WNDL_LABEL_WAITING;
    if (item->node == 0)
        return WNDL_LABEL_NO_STACK;
    switch (item->end) {
    case WNDL_WALK_COMPLETE:
    case WNDL_WALK_FP_ROOT:
        return WNDL_LABEL_NONE;
    case WNDL_WALK_TRUNCATED:
        return WNDL_LABEL_TRUNCATED;
    default:
        return WNDL_LABEL_LOST;
    }
}

const char *wndl_label_text(enum wndl_label label)
{
    static const char *const texts[WNDL_LABELS] = {
        [WNDL_LABEL_TRUNCATED] = "[truncated]",
        [WNDL_LABEL_LOST] = "[lost]",
        [WNDL_LABEL_NO_STACK] = "[no stack]",
        [WNDL_LABEL_WAITING] = "[waiting for a CPU]",
    };
    return texts[label];
}
