/* SPDX-License-Identifier: MIT */
#include "cli/stack/names.h"

#include "collect/proc/proc.h"
#include "os/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY_PATH = 32 };

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

/*
 * Files of generated code count if they were written after its start. Those of
 * the process of a core file may be another's by now: it has no number here.
 */
static bool add_process(
    struct wndl_profile *profile, const struct wndl_snapshot *snapshot)
{
    struct wndl_proc_stat stat;
    const bool is_live = snapshot->core == NULL;
    struct wndl_process *process = wndl_vec_push(&profile->processes);
    if (process == NULL)
        return false;
    *process = (struct wndl_process){
        .parent = WNDL_NO_INDEX,
        .pid = is_live ? snapshot->pid : 0,
        .executable = bytes_of(snapshot->executable),
    };
    if (is_live && wndl_proc_stat((pid_t)snapshot->pid, &stat))
        profile->realtime =
            wndl_clock_realtime_ns() - wndl_proc_age(stat.start);
    return true;
}

/* A file in memory: gives a path to contents that have none. Or -1. */
static int memory_file(struct wndl_bytes contents)
{
    int fd = memfd_create("windlass-image", MFD_CLOEXEC);
    if (fd < 0 ||
        write(fd, contents.data, contents.size) == (ssize_t)contents.size)
        return fd;
    close(fd);
    return -1;
}

/*
 * The path at which an image is read. One of them may be in *memory. A file
 * that is not the one that was mapped has no names for it.
 */
static const char *path_of(const struct wndl_snapshot_image *image, int *memory,
    char room[MEMORY_PATH])
{
    if (image->opened != NULL)
        return image->opened;
    if (image->contents.size != 0 && *memory < 0)
        *memory = memory_file(image->contents);
    if (image->contents.size == 0 || *memory < 0)
        return image->trouble == NULL ? image->path : "";
    snprintf(room, MEMORY_PATH, "/proc/self/fd/%d", *memory);
    return room;
}

static bool add_images(struct wndl_profile *profile,
    const struct wndl_snapshot *snapshot, int *memory)
{
    for (size_t i = 0; i < snapshot->images.len; i++) {
        const struct wndl_snapshot_image *from =
            wndl_vec_at(&snapshot->images, i);
        struct wndl_image *image = wndl_vec_push(&profile->images);
        char room[MEMORY_PATH];
        const char *path = path_of(from, memory, room);
        if (image == NULL ||
            !wndl_profile_text(profile, bytes_of(path), &image->path) ||
            !wndl_profile_text(profile, from->build_id, &image->build_id))
            return false;
    }
    return true;
}

static uint64_t key_of(const struct wndl_snapshot_frame *frame)
{
    return frame->address << 1 | frame->interrupted;
}

static bool add_frame(struct wndl_stack_names *names,
    const struct wndl_snapshot *snapshot,
    const struct wndl_snapshot_frame *frame)
{
    uint32_t index;
    uint64_t *slot = wndl_map_put(&names->frames, key_of(frame));
    struct wndl_frame_key key = {.image = WNDL_NO_INDEX,
        .exact = frame->interrupted ? WNDL_EXACT_INTERRUPTED : WNDL_EXACT_NOT,
        .address = frame->address};
    if (frame->image != 0) {
        const struct wndl_snapshot_image *image =
            wndl_vec_at(&snapshot->images, frame->image - 1);
        key.image = frame->image - 1;
        key.process = WNDL_NO_INDEX;
        key.address -= image->module.start;
    }
    if (slot == NULL || !wndl_profile_frame(&names->profile, key, &index))
        return false;
    *slot = index + 1;
    return true;
}

static bool add_frames(
    struct wndl_stack_names *names, const struct wndl_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->threads.len; i++) {
        const struct wndl_snapshot_thread *thread =
            wndl_vec_at(&snapshot->threads, i);
        for (size_t k = 0; k < thread->frame_count; k++) {
            if (!add_frame(names, snapshot, &thread->frames[k]))
                return false;
        }
    }
    return true;
}

static enum wndl_status find_names(struct wndl_stack_names *names,
    const struct wndl_snapshot *snapshot, int *memory,
    const struct wndl_symbol_sources *sources, struct wndl_error *err)
{
    if (!wndl_profile_init(&names->profile, wndl_mem_libc()))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    wndl_map_init(&names->frames, &names->profile.arena);
    bool is_whole = add_process(&names->profile, snapshot) &&
                    add_images(&names->profile, snapshot, memory) &&
                    add_frames(names, snapshot);
    if (!is_whole || !wndl_symbolized_init(&names->symbolized, &names->profile,
                         wndl_mem_libc())) {
        wndl_profile_free(&names->profile);
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    }
    enum wndl_status status =
        wndl_symbolize_profile(&names->symbolized, sources, NULL, err);
    if (status != WNDL_OK)
        wndl_stack_names_free(names);
    return status;
}

enum wndl_status wndl_stack_names_find(struct wndl_stack_names *names,
    const struct wndl_snapshot *snapshot,
    const struct wndl_symbol_sources *sources, struct wndl_error *err)
{
    int memory = -1;
    enum wndl_status status =
        find_names(names, snapshot, &memory, sources, err);
    if (memory >= 0)
        close(memory);
    return status;
}

void wndl_stack_names_free(struct wndl_stack_names *names)
{
    wndl_symbolized_free(&names->symbolized);
    wndl_profile_free(&names->profile);
}

static const struct wndl_span *span_of(const struct wndl_stack_names *names,
    const struct wndl_snapshot_frame *frame)
{
    const uint64_t *index = wndl_map_get(&names->frames, key_of(frame));
    return index == NULL ? NULL
                         : wndl_vec_at(&names->symbolized.spans, *index - 1);
}

size_t wndl_stack_place_count(const struct wndl_stack_names *names,
    const struct wndl_snapshot_frame *frame)
{
    const struct wndl_span *span = names == NULL ? NULL : span_of(names, frame);
    return span == NULL || span->count == 0 ? 1 : span->count;
}

struct wndl_stack_place wndl_stack_place(const struct wndl_stack_names *names,
    const struct wndl_snapshot_frame *frame, size_t index)
{
    const struct wndl_span *span = names == NULL ? NULL : span_of(names, frame);
    if (span == NULL || index >= span->count)
        return (struct wndl_stack_place){.function = "", .file = ""};
    const struct wndl_symbolized *s = &names->symbolized;
    const struct wndl_location *location =
        wndl_symbolized_location(s, span, (uint32_t)index);
    const struct wndl_function *function =
        wndl_vec_at(&s->functions, location->function);
    return (struct wndl_stack_place){
        .function = function->unnamed
                        ? ""
                        : wndl_intern_text(&s->strings, function->name),
        .file = wndl_intern_text(&s->strings, location->file),
        .line = location->line,
        .inlined = location->inlined,
    };
}
