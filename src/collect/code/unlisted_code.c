/* SPDX-License-Identifier: MIT */
#include "collect/code/unlisted_code.h"

#include "base/search.h"
#include "obj/core/object.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/maps.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAPS_ROOM = 64 * 1024, MAPPINGS_MAX = 64 * 1024 };

static const uint64_t first_pause = 50 * UINT64_C(1000000);
static const uint64_t last_pause = UINT64_C(1000000000);

/* A mapping of code; its file is read at the first lookup. */
struct mapping {
    struct wndl_mapping at; /* its path is in the arena */
    bool looked_into;
    bool is_known; /* the next two hold */
    uint32_t image;
    uint64_t rva; /* of its start */
};

void wndl_unlisted_code_init(struct wndl_unlisted_code *code,
    struct wndl_recording *recording, uint32_t process, pid_t pid)
{
    *code = (struct wndl_unlisted_code){.recording = recording,
        .process = process,
        .pid = pid,
        .pause = first_pause};
    wndl_arena_init(&code->arena, wndl_mem_libc());
    wndl_vec_init(&code->mappings, &code->arena, sizeof(struct mapping));
}

void wndl_unlisted_code_free(struct wndl_unlisted_code *code)
{
    wndl_arena_free(&code->arena);
}

/* ---- one mapping */

/* The svma of the byte at `offset` of the file. */
static bool svma_at(
    const struct wndl_object *object, uint64_t offset, uint64_t *svma)
{
    for (size_t i = 0; i < wndl_object_segment_count(object); i++) {
        struct wndl_segment s = wndl_object_segment(object, i);
        if (!s.executable || offset < s.file_offset ||
            offset - s.file_offset >= s.file_size)
            continue;
        *svma = s.addr.v + (offset - s.file_offset);
        return true;
    }
    return false;
}

static void announce(struct wndl_unlisted_code *code,
    const struct wndl_object *object, struct mapping *m)
{
    uint64_t svma;
    m->is_known = svma_at(object, m->at.offset, &svma);
    if (!m->is_known)
        return;
    m->rva = svma - wndl_object_image_base(object).v;
    m->image = wndl_recording_image(code->recording,
        (const char *)m->at.path.data, wndl_object_build_id(object));
    const struct wndl_recording_mapping mapping = {
        .process = code->process,
        .image = m->image,
        .time = wndl_clock_monotonic_ns(),
        .start = m->at.start,
        .end = m->at.end,
        .bias = m->at.start - svma,
    };
    wndl_recording_mapping(code->recording, &mapping);
}

/* Finds the mapping's image. None if another file has that name by now. */
static void look_into(struct wndl_unlisted_code *code, struct mapping *m)
{
    const char *path = (const char *)m->at.path.data;
    struct stat st;
    struct wndl_file file;
    struct wndl_object *object;
    m->looked_into = true;
    if (stat(path, &st) != 0 || st.st_ino != m->at.inode ||
        wndl_file_open(path, &file, NULL) != WNDL_OK)
        return;
    if (wndl_object_open(file.bytes, path, wndl_mem_libc(), &object, NULL) ==
        WNDL_OK) {
        announce(code, object, m);
        wndl_object_close(object);
    }
    wndl_file_close(&file);
}

/* ---- the memory map */

struct reading {
    struct wndl_arena arena;
    struct wndl_vec found; /* struct mapping */
};

/* Adds a mapping; the kernel lists them by address. */
static bool take(void *context, const struct wndl_mapping *m)
{
    struct reading *r = context;
    if (!m->executable || m->path.size == 0 || m->path.data[0] != '/')
        return true;
    char *path = wndl_arena_copy(&r->arena, m->path.data, m->path.size);
    struct mapping *slot = wndl_vec_push(&r->found);
    if (slot == NULL)
        return false;
    *slot = (struct mapping){.at = *m, .looked_into = path == NULL};
    slot->at.path.data = (const uint8_t *)path;
    return r->found.len < MAPPINGS_MAX;
}

static bool is_same(const struct wndl_vec *a, const struct wndl_vec *b)
{
    for (size_t i = 0; i < a->len && a->len == b->len; i++) {
        const struct mapping *x = wndl_vec_at(a, i), *y = wndl_vec_at(b, i);
        if (x->at.start != y->at.start || x->at.end != y->at.end ||
            x->at.offset != y->at.offset || x->at.inode != y->at.inode)
            return false;
    }
    return a->len == b->len;
}

/*
 * Reads the map. True if it has changed; after the end of the process the last
 * map is kept.
 */
static bool read_map(struct wndl_unlisted_code *code)
{
    uint8_t room[MAPS_ROOM];
    char path[32];
    struct reading r;
    wndl_arena_init(&r.arena, wndl_mem_libc());
    wndl_vec_init(&r.found, &r.arena, sizeof(struct mapping));
    snprintf(path, sizeof path, "/proc/%d/maps", (int)code->pid);
    (void)wndl_maps_each(
        path, (struct wndl_bytes){room, sizeof room}, take, &r);
    if (r.found.len == 0 || is_same(&r.found, &code->mappings)) {
        wndl_arena_free(&r.arena);
        return false;
    }
    wndl_arena_free(&code->arena);
    code->arena = r.arena;
    code->mappings = r.found;
    code->mappings.arena = &code->arena;
    return true;
}

static struct mapping *mapping_of(
    const struct wndl_unlisted_code *code, uint64_t address)
{
    struct mapping *all = code->mappings.data;
    size_t count = code->mappings.len;
    if (count == 0)
        return NULL;
    count = wndl_search_up_to(&all->at.start, sizeof *all, count, address);
    return count != 0 && address < all[count - 1].at.end ? &all[count - 1]
                                                         : NULL;
}

static void refresh(struct wndl_unlisted_code *code)
{
    uint64_t now = wndl_clock_monotonic_ns();
    if (now < code->again)
        return;
    bool is_new = read_map(code);
    code->pause = is_new                         ? first_pause
                  : code->pause < last_pause / 2 ? code->pause * 2
                                                 : last_pause;
    code->again = now + code->pause;
}

void wndl_unlisted_code_meet(struct wndl_unlisted_code *code, uint64_t address)
{
    struct mapping *m = mapping_of(code, address);
    if (m == NULL && address != 0) {
        refresh(code);
        m = mapping_of(code, address);
    }
    if (m != NULL && !m->looked_into)
        look_into(code, m);
}

bool wndl_unlisted_code_find(const struct wndl_unlisted_code *code,
    uint64_t address, struct wndl_code_place *place)
{
    const struct mapping *m = mapping_of(code, address);
    if (m == NULL || !m->is_known)
        return false;
    place->image = m->image;
    place->rva = m->rva + (address - m->at.start);
    return true;
}
