/* SPDX-License-Identifier: MIT */
#include "snapshot/snapshot.h"

#include "collect/code/calls.h"

#include <string.h>

void wndl_snapshot_init(struct wndl_snapshot *snapshot)
{
    *snapshot = (struct wndl_snapshot){.executable = "", .command = ""};
    wndl_arena_init(&snapshot->arena, wndl_mem_libc());
    wndl_vec_init(&snapshot->images, &snapshot->arena,
        sizeof(struct wndl_snapshot_image));
    wndl_vec_init(&snapshot->threads, &snapshot->arena,
        sizeof(struct wndl_snapshot_thread));
}

void wndl_snapshot_free(struct wndl_snapshot *snapshot)
{
    wndl_arena_free(&snapshot->arena);
}

const struct wndl_snapshot_image *wndl_snapshot_image_at(
    const struct wndl_snapshot *snapshot, uint64_t address)
{
    size_t low = 0, high = snapshot->images.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct wndl_snapshot_image *image =
            wndl_vec_at(&snapshot->images, middle);
        if (address < image->module.start)
            high = middle;
        else if (address >= image->module.end)
            low = middle + 1;
        else
            return image;
    }
    return NULL;
}

struct wndl_remote_module *wndl_snapshot_modules(struct wndl_snapshot *snapshot)
{
    size_t count = snapshot->images.len;
    struct wndl_remote_module *modules =
        wndl_arena_calloc(&snapshot->arena, count + 1, sizeof *modules);
    for (size_t i = 0; modules != NULL && i < count; i++) {
        const struct wndl_snapshot_image *image =
            wndl_vec_at(&snapshot->images, i);
        modules[i] = image->module;
    }
    return modules;
}

static struct wndl_snapshot_frame frame_of(
    const struct wndl_snapshot *snapshot, const struct wndl_frame *frame)
{
    const struct wndl_snapshot_image *all = snapshot->images.data;
    const struct wndl_snapshot_image *image = wndl_snapshot_image_at(
        snapshot, (uint64_t)frame->address - !frame->interrupted);
    return (struct wndl_snapshot_frame){
        .address = frame->address,
        .image = image == NULL ? 0 : (uint32_t)(image - all) + 1,
        .how = (uint8_t)frame->how,
        .interrupted = frame->interrupted,
    };
}

static struct wndl_call_place find_place(void *context, uint64_t address)
{
    const struct wndl_snapshot_image *image =
        wndl_snapshot_image_at(context, address);
    return image == NULL ? (struct wndl_call_place){NULL, address}
                         : (struct wndl_call_place){
                               image->binary, address - image->module.bias};
}

bool wndl_snapshot_keep(struct wndl_snapshot *snapshot,
    struct wndl_snapshot_thread *thread, struct wndl_walk *walk)
{
    const struct wndl_call_places places = {find_place, snapshot};
    if (snapshot->binaries != NULL)
        wndl_calls_check_walk(snapshot->binaries, &places, walk);
    thread->frames = wndl_arena_calloc(
        &snapshot->arena, walk->count + 1, sizeof *thread->frames);
    if (thread->frames == NULL)
        return false;
    for (size_t i = 0; i < walk->count; i++)
        thread->frames[i] = frame_of(snapshot, &walk->frames[i]);
    thread->frame_count = walk->count;
    thread->end = walk->end;
    return true;
}

const char *wndl_snapshot_text(struct wndl_snapshot *snapshot, const char *text)
{
    const char *copy = wndl_arena_copy(&snapshot->arena, text, strlen(text));
    return copy == NULL ? "" : copy;
}
