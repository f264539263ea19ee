/* SPDX-License-Identifier: MIT */
/*
 * fuzz_jit: what just-in-time compilers register: the bytes as .eh_frame, and
 * as a file told to GDB; then a walk from somewhere in what came of it. And as
 * another process's memory, that begins with a registry.
 */
#include "unwind/jit/registry.h"
#include "unwind/jit/registry_layout.h"

#include <stdlib.h>
#include <string.h>
#include <windlass/jit.h>
#include <windlass/unwind.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 64, FRAMES = 16 };

struct gdb_entry {
    struct gdb_entry *next, *previous;
    const uint8_t *file;
    uint64_t size;
};

struct gdb_descriptor {
    uint32_t version, action;
    struct gdb_entry *relevant, *first;
};

static _Alignas(64) uint8_t unwinder_room[1 << 20];
static uint64_t stack[64];

static void walk(struct wndl_jit *jit, uint64_t ip)
{
    struct wndl_unwinder *u = wndl_unwinder_init(unwinder_room);
    const struct wndl_stack_range range = {
        (uintptr_t)stack, (uintptr_t)(stack + 64)};
    const struct wndl_regs regs = {.ip = ip,
        .sp = (uintptr_t)stack,
        .fp = (uintptr_t)(stack + 8),
        .bx = (uintptr_t)(stack + 16),
        .valid = 15};
    struct wndl_frame frames[FRAMES];
    struct wndl_walk w = {.frames = frames, .max_frames = FRAMES, .jit = jit};
    for (size_t i = 0; i < 64; i++)
        stack[i] = i % 3 == 0 ? ip + i : (uintptr_t)(stack + i + 1);
    wndl_unwind_regs(u, &regs, &range, 1, &w);
    if (w.count < 1 || w.count > FRAMES)
        abort();
}

/* Addresses that the bytes name: where code may have been registered. */
static void walk_from_all(
    struct wndl_jit *jit, const uint8_t *data, size_t size)
{
    uint64_t ip;
    for (size_t i = 0; i + sizeof ip <= size && i < 256; i += 4) {
        memcpy(&ip, data + i, sizeof ip);
        walk(jit, ip + 1);
    }
}

/* ---- another process */

enum { BASE = 0x10000 };

struct memory {
    uint8_t *bytes;
    size_t size;
};

static bool read_there(void *context, uint64_t address, void *to, size_t size)
{
    const struct memory *m = context;
    if (address < BASE || address - BASE > m->size ||
        size > m->size - (address - BASE))
        return false;
    memcpy(to, m->bytes + (address - BASE), size);
    return true;
}

/* It is of our version, and its tables are in this memory. */
static void make_registry(struct memory *m)
{
    struct wndl_jit jit;
    memcpy(&jit, m->bytes, sizeof jit);
    jit.version = WNDL_JIT_VERSION;
    for (int side = 0; side < 2; side++) {
        jit.counts[side] %= 64;
        jit.entries[side] = (void *)(BASE + sizeof jit);
    }
    memcpy(m->bytes, &jit, sizeof jit);
}

static void walk_there(const uint8_t *data, size_t size)
{
    struct wndl_frame frames[FRAMES];
    struct memory m = {malloc(size), size};
    if (size < sizeof(struct wndl_jit) || m.bytes == NULL) {
        free(m.bytes);
        return;
    }
    memcpy(m.bytes, data, size);
    make_registry(&m);
    const struct wndl_remote remote = {
        .read = read_there, .context = &m, .jit = BASE, .find_fp = true};
    uint64_t ip;
    for (size_t i = 0; i + sizeof ip <= size && i < 512; i += 8) {
        memcpy(&ip, data + i, sizeof ip);
        const struct wndl_regs regs = {
            .ip = ip, .sp = BASE + 64, .fp = BASE + 128, .valid = 7};
        struct wndl_walk w = {.frames = frames, .max_frames = FRAMES};
        wndl_unwind_remote(&remote, &regs, &w);
        if (w.count < 1 || w.count > FRAMES)
            abort();
    }
    free(m.bytes);
}

/* A file of which less and less can be had. */
static const uint8_t *take_some(void *left, uint64_t address, size_t size)
{
    (void)size;
    return (*(int *)left)-- > 0 ? (const uint8_t *)(uintptr_t)address : NULL;
}

static void replace_all(struct wndl_jit *jit, const uint8_t *data, size_t size)
{
    struct wndl_jit_change change;
    if (!wndl_jit_replace_begin(jit, &change))
        abort();
    for (int parts = 1; parts < 6; parts++) {
        int left = parts;
        struct wndl_jit_source source;
        const struct wndl_jit_file file = {
            (uintptr_t)data, size, take_some, &left};
        if (wndl_jit_gdb_file(&file, &source) == WNDL_OK)
            (void)!wndl_jit_replace_add(&change, &source);
    }
    wndl_jit_replace_end(jit, &change);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    walk_there(data, size);
    if (wndl_unwinder_size() > sizeof unwinder_room)
        abort();
    struct wndl_jit *jit = wndl_jit_init(calloc(1, wndl_jit_size(MAX)), MAX);
    if (wndl_jit_add_frames(jit, data, size) == WNDL_OK)
        walk_from_all(jit, data, size);
    (void)!wndl_jit_remove(jit, 0, UINT64_MAX);
    struct gdb_entry entry = {.file = data, .size = size};
    struct gdb_descriptor descriptor = {1, 1, &entry, NULL};
    if (wndl_jit_follow_gdb(jit, &descriptor) == WNDL_OK)
        walk_from_all(jit, data, size);
    descriptor.action = 2;
    (void)!wndl_jit_follow_gdb(jit, &descriptor);
    replace_all(jit, data, size);
    walk_from_all(jit, data, size);
    free(jit);
    return 0;
}
