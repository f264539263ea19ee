/* SPDX-License-Identifier: MIT */
#include "collect/offcpu/place.h"

#include "collect/code/calls.h"

bool wndl_offcpu_walk_is_lost(
    const struct wndl_offcpu_code *code, const struct wndl_walk *walk)
{
    for (size_t i = 0; i < walk->count; i++) {
        const struct wndl_frame *f = &walk->frames[i];
        uint64_t pc = f->address - !f->interrupted;
        if (wndl_offcpu_code_find(code, pc) == code->count)
            return true;
    }
    return walk->end == WNDL_END_BAD_PC || walk->end == WNDL_END_NO_RULE;
}

static struct wndl_call_place find_place(void *context, uint64_t address)
{
    const struct wndl_offcpu_code *code = context;
    const size_t at = wndl_offcpu_code_find(code, address);
    if (at == code->count)
        return (struct wndl_call_place){NULL, address};
    return (struct wndl_call_place){
        code->binaries[at], address - code->modules[at].bias};
}

void wndl_offcpu_walk_check(struct wndl_binaries *binaries,
    struct wndl_offcpu_code *code, struct wndl_walk *walk)
{
    const struct wndl_call_places places = {find_place, code};
    wndl_calls_check_walk(binaries, &places, walk);
}

static uint32_t image_of(
    struct wndl_recording *recording, struct wndl_binary *binary)
{
    if (binary->image == 0)
        binary->image =
            wndl_recording_image(recording, binary->path, binary->build_id) + 1;
    return binary->image;
}

/* The frame as the tree has it. */
static struct wndl_offcpu_frame place_of(const struct wndl_offcpu_code *code,
    struct wndl_recording *recording, const struct wndl_frame *frame)
{
    struct wndl_offcpu_frame place = {
        .address = frame->address,
        .flags = (uint32_t)(frame->interrupted | frame->how << 1),
    };
    size_t at =
        wndl_offcpu_code_find(code, frame->address - !frame->interrupted);
    if (at < code->count) {
        place.image = image_of(recording, code->binaries[at]);
        place.address -= code->modules[at].start;
    }
    return place;
}

uint32_t wndl_offcpu_walk_node(const struct wndl_offcpu_code *code,
    struct wndl_offcpu_tree *tree, struct wndl_recording *recording,
    const struct wndl_walk *walk)
{
    uint32_t node = 0;
    for (size_t i = walk->count; i > 0; i--) {
        struct wndl_offcpu_frame frame =
            place_of(code, recording, &walk->frames[i - 1]);
        node = wndl_offcpu_tree_node(tree, node, &frame);
        if (node == 0)
            return 0;
    }
    return node;
}
