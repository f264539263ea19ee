/* SPDX-License-Identifier: MIT */
#include "collect/attach/walks.h"

#include "collect/offcpu/place.h"
#include "rec/shm.h"
#include "unwind/core/frame.h"

#include <string.h>

/* ---- what is shared */

static enum wndl_walk_method method_of(uint32_t unwind)
{
    static const enum wndl_walk_method methods[] = {
        [WNDL_UNWIND_AUTO] = WNDL_WALK_ANY,
        [WNDL_UNWIND_CFI] = WNDL_WALK_CFI,
        [WNDL_UNWIND_FP] = WNDL_WALK_FP,
        [WNDL_UNWIND_SCAN] = WNDL_WALK_SCAN,
    };
    return methods[unwind < sizeof methods / sizeof *methods ? unwind : 0];
}

struct wndl_attach_shared *wndl_attach_shared_new(
    struct wndl_binaries *binaries, size_t max_frames, uint32_t unwind)
{
    struct wndl_mem *mem = wndl_mem_libc();
    struct wndl_attach_shared *shared = wndl_mem_zalloc(mem, sizeof *shared);
    if (shared == NULL)
        return NULL;
    shared->binaries = binaries;
    shared->max_frames = max_frames;
    shared->method = method_of(unwind);
    shared->frames = wndl_mem_zalloc(mem, max_frames * sizeof *shared->frames);
    if (shared->frames != NULL)
        return shared;
    wndl_attach_shared_free(shared);
    return NULL;
}

void wndl_attach_shared_free(struct wndl_attach_shared *shared)
{
    if (shared == NULL)
        return;
    wndl_mem_free(wndl_mem_libc(), shared->frames);
    wndl_mem_free(wndl_mem_libc(), shared);
}

void wndl_attach_walks_init(struct wndl_attach_walks *w, pid_t pid,
    struct wndl_attach_shared *shared, struct wndl_recording *recording)
{
    *w = (struct wndl_attach_walks){
        .pid = pid, .shared = shared, .recording = recording};
    wndl_offcpu_code_init(&w->code, pid);
    w->code.is_stale = true;
    wndl_offcpu_tree_init(&w->tree, WNDL_CHUNK_STAK);
}

void wndl_attach_walks_free(struct wndl_attach_walks *w)
{
    wndl_offcpu_code_free(&w->code);
    wndl_offcpu_tree_free(&w->tree);
}

void wndl_attach_walks_map(
    struct wndl_attach_walks *w, const struct wndl_mapping *mapping)
{
    wndl_offcpu_code_add(&w->code, w->shared->binaries, w->pid, mapping);
    w->code.is_stale = true;
}

/* ---- a walk */

struct reading {
    struct wndl_attach_walks *walks;
    const struct wndl_walk *walk;
    struct wndl_bytes stack;
    uint64_t sp;
    bool is_cut;    /* the walk asked for more than the copy */
    bool is_steady; /* then: the thread still has the outer part of its stack */
    size_t cut_from; /* then: the first frame that was found with more */
};

/*
 * Whether the outermost part of the copy is still the same in memory. Then the
 * thread has not returned from the functions there, and the stack above them
 * is as it was.
 */
static bool is_steady(const struct reading *r)
{
    enum { COMPARED = 512 };
    uint8_t now[COMPARED];
    const size_t size = r->stack.size < COMPARED ? r->stack.size : COMPARED;
    const size_t from = r->stack.size - size;
    return size != 0 &&
           wndl_process_read(r->walks->pid, r->sp + from, now, size) == size &&
           memcmp(now, r->stack.data + from, size) == 0;
}

static void note_cut(struct reading *r)
{
    if (r->is_cut)
        return;
    r->is_cut = true;
    r->cut_from = r->walk->count;
    r->is_steady = is_steady(r);
}

/*
 * The thread has run on since the copy was made. Other memory is read only if
 * it has not changed: code, and the rest of the stack if it is steady.
 */
static bool read_for_walk(
    void *context, uint64_t address, void *to, size_t size)
{
    struct reading *r = context;
    const uint64_t at = address - r->sp;
    if (at < r->stack.size && size <= r->stack.size - at) {
        memcpy(to, r->stack.data + at, size);
        return true;
    }
    const struct wndl_offcpu_code *code = &r->walks->code;
    if (wndl_offcpu_code_find(code, address) == code->count)
        note_cut(r);
    else
        return wndl_offcpu_memory_read(&r->walks->shared->memory, r->walks->pid,
            address, (struct wndl_bytes){to, size});
    return r->is_steady &&
           wndl_offcpu_memory_read(&r->walks->shared->memory, r->walks->pid,
               address, (struct wndl_bytes){to, size});
}

/* Frames that were found above the copy are as sure as checked ones. */
static void mark_outer(const struct reading *r, struct wndl_walk *walk)
{
    for (size_t i = r->cut_from; i < walk->count; i++) {
        struct wndl_frame *frame = &walk->frames[i];
        if (frame->how == WNDL_HOW_CFI) {
            frame->how = WNDL_HOW_CHECKED;
            walk->fp_frames++;
        }
    }
}

static void finish_cut(const struct reading *r, struct wndl_walk *walk)
{
    if (r->is_steady)
        mark_outer(r, walk);
    else if (walk->end == WNDL_END_BAD_READ)
        walk->end = WNDL_END_TRUNCATED;
    if (walk->end == WNDL_END_TRUNCATED)
        r->walks->shared->cut += walk->count < walk->max_frames;
}

const struct wndl_regs *wndl_attach_regs_of(
    const struct wndl_attach_record *sample, uint16_t machine,
    struct wndl_attach_regs *room)
{
    if (sample->start != NULL)
        return sample->start;
    return wndl_attach_regs_read(room, machine, sample->regs) ? &room->start
                                                              : NULL;
}

static bool walk_once(struct wndl_attach_walks *w,
    const struct wndl_attach_record *sample, struct wndl_walk *walk)
{
    struct wndl_attach_regs regs;
    struct reading reading = {.walks = w, .walk = walk, .stack = sample->stack};
    const struct wndl_remote remote = {
        .read = read_for_walk,
        .context = &reading,
        .modules = w->code.modules,
        .module_count = w->code.count,
        .machine = w->code.machine,
    };
    const struct wndl_regs *start =
        wndl_attach_regs_of(sample, w->code.machine, &regs);
    if (start == NULL)
        return false;
    reading.sp = start->sp;
    w->shared->memory.look++;
    wndl_unwind_remote(&remote, start, walk);
    if (reading.is_cut)
        finish_cut(&reading, walk);
    return true;
}

static void count_frames(
    const struct wndl_attach_walks *w, const struct wndl_walk *walk)
{
    uint64_t *by = w->shared->frames_by;
    for (size_t i = 0; by != NULL && i < walk->count; i++)
        by[walk->frames[i].how % WNDL_ATTACH_FRAMES_BY]++;
}

struct wndl_attach_walked wndl_attach_walk(
    struct wndl_attach_walks *w, const struct wndl_attach_record *sample)
{
    struct wndl_attach_shared *shared = w->shared;
    struct wndl_walk walk = {.frames = shared->frames,
        .max_frames = shared->max_frames,
        .method = shared->method};
    if (w->code.is_stale)
        (void)wndl_offcpu_code_refresh(
            &w->code, shared->binaries, w->pid, sample->time);
    wndl_offcpu_code_renew(&w->code, shared->binaries->made);
    if (!walk_once(w, sample, &walk))
        return (struct wndl_attach_walked){.end = WNDL_END_NO_RULE};
    if (wndl_offcpu_walk_is_lost(&w->code, &walk) &&
        wndl_offcpu_code_refresh(
            &w->code, shared->binaries, w->pid, sample->time))
        (void)walk_once(w, sample, &walk);
    wndl_offcpu_walk_check(shared->binaries, &w->code, &walk);
    count_frames(w, &walk);
    return (struct wndl_attach_walked){
        wndl_offcpu_walk_node(&w->code, &w->tree, w->recording, &walk),
        wndl_walk_sure_end(&walk), walk.frames, walk.count};
}
