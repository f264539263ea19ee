/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/stack_hash.h"

#include "base/hash.h"
#include "unwind/core/frame.h"

struct wndl_rt_stack_hash wndl_rt_nodes_hash(
    struct wndl_rt_nodes *nodes, const struct wndl_resumed *stack)
{
    const wndl_frame_word *frames = (const wndl_frame_word *)stack->walk.frames;
    size_t at = stack->changed;
    struct wndl_rt_stack_hash *hash = &nodes->hashes[stack->walk.count - at];
    struct wndl_rt_stack_hash h = *hash;
    if (at == stack->walk.count)
        h = (struct wndl_rt_stack_hash){nodes->known.age, nodes->known.age};
    while (at > 0) {
        uint64_t frame = frames[--at];
        stack->carried[at] = 0;
        h.a = (h.a + frame) * WNDL_GOLDEN;
        h.b = (h.b + frame) * UINT64_C(0xd6e8feb86659fd93);
        *++hash = h;
    }
    return h;
}
