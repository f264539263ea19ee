/* SPDX-License-Identifier: MIT */
/*
 * contents: hands the contents of blocks over to the collector, a window after
 * the other, so that they need no memory of their own size.
 */
#ifndef WNDL_RT_HEAP_LEAKS_CONTENTS_H
#define WNDL_RT_HEAP_LEAKS_CONTENTS_H

#include "rt/heap/leaks/areas.h"

/*
 * Hands over the words of all blocks, in the order of their addresses: of each
 * as many as were requested whole. A block whose site is not known has none.
 * Memory that cannot be read is zero. `window` is WNDL_HEAP_WINDOW bytes at
 * `offset` of the shared scan; `copied` is room of WNDL_RT_COPIED bytes. If
 * the collector does not take a window in time, the rest is left out.
 */
void wndl_rt_contents_hand_over(struct wndl_rt_areas *areas, uint8_t *window,
    uint64_t offset, uintptr_t *copied);

#endif
