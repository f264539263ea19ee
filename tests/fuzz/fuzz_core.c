/* SPDX-License-Identifier: MIT */
/*
 * fuzz_core: a core file without its binaries: headers, notes, memory, the
 * build-ids of what it had mapped, and walks of its threads through modules
 * that have no rules.
 */
#include "snapshot/core_images.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES = 32, MODULES = 16, THREADS = 16, MAPPINGS = 64 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void use_memory(
    const struct wndl_core_file *core, struct wndl_core_memory *memory)
{
    uint8_t bytes[24];
    for (size_t i = 0; i < core->segments.len && i < MAPPINGS; i++) {
        const struct wndl_core_segment *s = wndl_vec_at(&core->segments, i);
        require(s->start < s->end);
        (void)wndl_core_memory_read(memory, s->start, bytes, sizeof bytes);
        (void)wndl_core_memory_read(memory, s->end - 8, bytes, sizeof bytes);
        const struct wndl_bytes all = wndl_core_bytes_at(core, s->start);
        if (all.size != 0)
            (void)*(volatile const uint8_t *)&all.data[all.size - 1];
    }
}

static void use_build_id(
    const struct wndl_core_file *core, const struct wndl_core_mapping *mapping)
{
    const struct wndl_bytes head = wndl_core_bytes_at(core, mapping->start);
    const struct wndl_bytes id = wndl_core_build_id(head);
    if (id.size != 0)
        require(
            id.data >= head.data && id.data + id.size <= head.data + head.size);
}

/* Those of the mappings, which must not overlap. */
static size_t make_modules(const struct wndl_core_notes *notes,
    struct wndl_remote_module modules[MODULES])
{
    size_t count = 0;
    uint64_t end = 0;
    for (size_t i = 0; i < notes->mappings.len && count < MODULES; i++) {
        const struct wndl_core_mapping *m = wndl_vec_at(&notes->mappings, i);
        require(m->start < m->end && m->path.data[m->path.size] == '\0');
        if (m->start < end)
            continue;
        end = m->end;
        modules[count++] = (struct wndl_remote_module){
            .start = m->start, .end = m->end, .bias = m->start};
    }
    return count;
}

static void walk_all(const struct wndl_core_file *core,
    const struct wndl_core_notes *notes, struct wndl_core_memory *memory)
{
    struct wndl_remote_module modules[MODULES];
    const struct wndl_remote remote = {.read = wndl_core_memory_read,
        .context = memory,
        .modules = modules,
        .module_count = make_modules(notes, modules),
        .machine = core->machine};
    for (size_t i = 0; i < notes->threads.len && i < THREADS; i++) {
        const struct wndl_core_thread *t = wndl_vec_at(&notes->threads, i);
        const struct wndl_regs regs = wndl_regs_start(&t->regs);
        struct wndl_frame frames[FRAMES];
        struct wndl_walk walk = {.frames = frames, .max_frames = FRAMES};
        wndl_unwind_remote(&remote, &regs, &walk);
        require(walk.count >= 1 && walk.count <= FRAMES);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct wndl_bytes bytes = {data, size};
    struct wndl_error damage = {0}, err = {0};
    struct wndl_core_file core;
    struct wndl_core_notes notes;
    struct wndl_core_memory memory;
    struct wndl_arena arena;
    uint64_t extent;
    wndl_arena_init(&arena, wndl_mem_libc());
    (void)!wndl_core_extent(bytes, &extent, &err);
    if (wndl_core_file_read(&core, &arena, bytes, &damage, &err) == WNDL_OK &&
        wndl_core_notes_read(&notes, &arena, &core, &damage, &err) == WNDL_OK) {
        wndl_core_memory_init(&memory, &arena, &core);
        use_memory(&core, &memory);
        for (size_t i = 0; i < notes.mappings.len && i < MAPPINGS; i++)
            use_build_id(&core, wndl_vec_at(&notes.mappings, i));
        walk_all(&core, &notes, &memory);
    } else {
        require(err.what[0] != '\0');
    }
    wndl_arena_free(&arena);
    return 0;
}
