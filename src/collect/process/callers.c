/* SPDX-License-Identifier: MIT */
#include "collect/process/callers.h"

#include "collect/code/calls.h"

#include <stdio.h>

enum { MAPS_ROOM = 64 * 1024, PROC_PATH = 32 };

/* ---- the binaries of images */

struct reading {
    struct wndl_binaries *binaries;
    struct wndl_binaries_user user;
    bool is_any; /* the map is not empty */
};

static bool take_mapping(void *context, const struct wndl_mapping *mapping)
{
    struct reading *r = context;
    r->is_any = true;
    if (mapping->executable)
        (void)wndl_binaries_get(r->binaries, r->user, mapping);
    return true;
}

/* Brings all that the process maps into the cache. */
static void read_maps(struct wndl_collector_process *p)
{
    struct reading r = {p->binaries, {p->pid, p->machine}, false};
    uint8_t room[MAPS_ROOM];
    char path[PROC_PATH];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)p->pid);
    (void)wndl_maps_each(
        path, (struct wndl_bytes){room, sizeof room}, take_mapping, &r);
    p->maps_ended = !r.is_any;
}

static struct wndl_binary *find_binary(
    struct wndl_collector_process *p, uint32_t index)
{
    const struct wndl_recording_image *image =
        wndl_recording_announced(p->recording, index);
    if (image == NULL || image->path == NULL)
        return NULL;
    struct wndl_binary *found =
        wndl_binaries_find(p->binaries, image->path, image->build_id);
    if (found != NULL || p->emulated || p->maps_ended)
        return found;
    read_maps(p);
    return wndl_binaries_find(p->binaries, image->path, image->build_id);
}

/*
 * NULL for code in no file, or in an unknown one. It is searched once, but not
 * in a process that cannot show it: another one may.
 */
static struct wndl_binary *binary_of(
    struct wndl_collector_process *p, uint64_t image)
{
    struct wndl_vec *all = &p->binaries->by_image;
    if (image == 0)
        return NULL;
    while (all->len < image) {
        if (wndl_vec_push(all) == NULL)
            return NULL;
    }
    struct wndl_image_binary *slot = wndl_vec_at(all, image - 1);
    if (!slot->is_searched)
        slot->binary = find_binary(p, (uint32_t)(image - 1));
    slot->is_searched =
        slot->binary != NULL || (!p->emulated && !p->maps_ended);
    return slot->binary;
}

/* ---- one step */

static uint8_t how_of(uint64_t key)
{
    return key >> WNDL_KEY_HOW_SHIFT & 7;
}

/* `back` is 1 for a return address of which the call is meant. */
static struct wndl_call_place place_of(struct wndl_collector_process *p,
    const struct wndl_placed_node *node, unsigned back)
{
    struct wndl_binary *binary = binary_of(p, node->image);
    const uint64_t base = binary == NULL ? 0 : binary->start;
    return (struct wndl_call_place){binary, base + node->address - back};
}

static bool is_checked(struct wndl_collector_process *p,
    const struct wndl_placed_node *node, const struct wndl_placed_node *caller)
{
    const bool is_exact = (node->key >> WNDL_KEY_INTERRUPTED_SHIFT & 1) != 0;
    if (p->binaries == NULL || caller->image == 0)
        return false;
    const struct wndl_call_step step = {
        .to = place_of(p, caller, 0),
        .from = place_of(p, node, !is_exact),
    };
    return wndl_calls_lead(p->binaries, &step);
}

/* ---- guessed stacks: a bit for each node */

static bool is_guessed(const struct wndl_collector_process *p, uint32_t node)
{
    return node / 8 < p->guessed.size &&
           (p->guessed.data[node / 8] >> node % 8 & 1) != 0;
}

/* Without memory for it, no further stack is called complete. */
static void note_guessed(struct wndl_collector_process *p, uint32_t node)
{
    while (p->guessed.size <= node / 8 && !p->guessed.failed)
        wndl_buf_byte(&p->guessed, 0);
    if (node / 8 < p->guessed.size)
        p->guessed.data[node / 8] |= (uint8_t)(1 << node % 8);
}

/* ---- public */

bool wndl_callers_meet(struct wndl_collector_process *p, uint32_t number,
    uint32_t parent, const struct wndl_placed_node *node,
    const struct wndl_placed_node *caller)
{
    const uint8_t how = parent == 0 ? WNDL_HOW_CONTEXT : how_of(caller->key);
    const bool checked = how == WNDL_HOW_FP && is_checked(p, node, caller);
    if (((how == WNDL_HOW_FP || how == WNDL_HOW_SCAN) && !checked) ||
        is_guessed(p, parent))
        note_guessed(p, number);
    return checked;
}

uint8_t wndl_callers_end(
    const struct wndl_collector_process *p, uint32_t leaf, uint32_t end)
{
    const bool is_sure = !is_guessed(p, leaf) && !p->guessed.failed;
    return (
        uint8_t)(end == WNDL_END_COMPLETE && !is_sure ? WNDL_END_FP_ROOT : end);
}
