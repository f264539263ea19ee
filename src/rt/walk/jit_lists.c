/* SPDX-License-Identifier: MIT */
#include "rt/walk/jit_lists.h"

#include "os/raw.h"
#include "rt/core/read_parts.h"
#include "rt/core/rt.h"
#include "rt/walk/jit_registry.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum {
    MAX_LISTS = WNDL_SHM_DESCRIPTORS,
    MOST_CODE = 8192,
    MOST_FILES = 4096,
    ROOM = 4 << 20,    /* for records of all code */
    SCRATCH = 1 << 20, /* for one file */
    GLANCE = 1024,
    REST = 50, /* rest after a change, in times of its duration */
};

typedef struct wndl_jit_gdb_descriptor descriptor;
typedef struct wndl_jit_gdb_entry entry;

/*
 * A list. A change is detected by reading its descriptor, and the entry that
 * changed last: code that replaces other code may have the same entry.
 */
struct jit_list {
    uint64_t address; /* of the descriptor */
    struct iovec of_entry, of_frame;
    uint8_t last[GLANCE];
    size_t last_size;
};

/* Used by the holder of `busy`. */
static struct {
    _Atomic uint32_t busy;
    _Atomic uint64_t hooked[MAX_LISTS]; /* hooked descriptors; any thread */
    struct wndl_jit *jit;
    uint8_t *room; /* ROOM for each side, then SCRATCH */
    uint64_t rest; /* no change is read before: CLOCK_MONOTONIC ns */
    struct jit_list lists[MAX_LISTS];
} state;

/* ---- reading memory that may be unmapped */

static struct iovec part(uint64_t address, size_t size)
{
    return (struct iovec){(void *)(uintptr_t)address, size};
}

static bool read_at(uint64_t address, void *to, size_t size)
{
    const struct iovec from = part(address, size);
    return wndl_rt_read_parts(to, size, &from, 1) == size;
}

static bool is_hooked(uint64_t address)
{
    for (size_t i = 0; i < MAX_LISTS; i++) {
        if (atomic_load(&state.hooked[i]) == address)
            return true;
    }
    return false;
}

static size_t glance(const struct jit_list *list, uint8_t to[GLANCE])
{
    const struct iovec parts[] = {part(list->address, sizeof(descriptor)),
        list->of_entry, list->of_frame};
    if (is_hooked(list->address))
        return 0;
    return wndl_rt_read_parts(to, GLANCE, parts, sizeof parts / sizeof *parts);
}

static bool has_changed(struct jit_list *list)
{
    uint8_t now[GLANCE];
    size_t size = glance(list, now);
    return size != list->last_size || memcmp(now, list->last, size) != 0;
}

/* ---- registering a list */

struct taking {
    struct wndl_jit_change change;
    uint8_t *records, *scratch;
    size_t used, scratch_used;
    uint64_t last; /* address of the last one read */
    size_t files;
};

static const uint8_t *take(void *context, uint64_t address, size_t size)
{
    struct taking *t = context;
    uint8_t *to = t->scratch + t->scratch_used;
    if (size > SCRATCH - t->scratch_used || !read_at(address, to, size))
        return NULL;
    t->scratch_used += size;
    t->last = address;
    return to;
}

/* The place of its records; empty if it is not registered. */
static struct iovec take_file(struct taking *t, const entry *e)
{
    struct wndl_jit_source source;
    const struct wndl_jit_file file = {
        (uintptr_t)e->file, e->file_size, take, t};
    t->scratch_used = 0;
    if (wndl_jit_gdb_file(&file, &source) != WNDL_OK)
        return part(0, 0);
    struct wndl_bytes *records = &source.frame.bytes;
    if (records->size > ROOM - t->used)
        return part(0, 0);
    memcpy(t->records + t->used, records->data, records->size);
    records->data = t->records + t->used;
    if (wndl_jit_replace_add(&t->change, &source) != WNDL_OK)
        return part(0, 0);
    t->used += records->size;
    return part(t->last, records->size);
}

static void limit(struct iovec *frame)
{
    const size_t most = GLANCE - sizeof(descriptor) - sizeof(entry);
    if (frame->iov_len > most)
        frame->iov_len = most;
}

static void take_list(struct taking *t, struct jit_list *list)
{
    descriptor d;
    entry e;
    list->of_entry = list->of_frame = part(0, 0);
    list->last_size = 0;
    if (is_hooked(list->address) || !read_at(list->address, &d, sizeof d))
        return;
    /* One of another version is noted, too, as unchanged. */
    const entry *first = d.version == WNDL_JIT_GDB_VERSION ? d.first : NULL;
    for (const entry *at = first; at != NULL; at = e.next) {
        if (t->files++ >= MOST_FILES || !read_at((uintptr_t)at, &e, sizeof e))
            break;
        struct iovec frame = take_file(t, &e);
        if (at != d.relevant)
            continue;
        limit(&frame);
        list->of_entry = part((uintptr_t)at, sizeof e);
        list->of_frame = frame;
    }
    size_t size = glance(list, list->last);
    if (size >= sizeof d && memcmp(list->last, &d, sizeof d) == 0)
        list->last_size = size;
}

static bool make_registry(void)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    size_t size = wndl_jit_size(MOST_CODE);
    uint8_t *memory = wndl_raw_map(
        size + 2 * ROOM + SCRATCH, PROT_READ | PROT_WRITE, flags, -1);
    if (memory == NULL)
        return false;
    /* After a fork in between the child has no registry, not half of one. */
    struct wndl_jit *jit = wndl_jit_init(memory, MOST_CODE);
    state.room = memory + size;
    wndl_rt_jit_look_first(jit);
    atomic_signal_fence(memory_order_seq_cst);
    state.jit = jit;
    return true;
}

static void take_all(void)
{
    struct taking t = {.scratch = state.room + 2 * ROOM};
    if (!wndl_jit_replace_begin(state.jit, &t.change))
        return;
    t.records = state.room + (size_t)t.change.side * ROOM;
    for (size_t i = 0; i < MAX_LISTS && state.lists[i].address != 0; i++)
        take_list(&t, &state.lists[i]);
    wndl_jit_replace_end(state.jit, &t.change);
}

/* The collector may have found more. */
static bool has_any_changed(void)
{
    bool changed = false;
    for (size_t i = 0; i < MAX_LISTS; i++) {
        struct jit_list *list = &state.lists[i];
        list->address = atomic_load(&wndl_rt.shm->descriptors[i]);
        if (list->address == 0)
            break;
        changed = changed || has_changed(list);
    }
    return changed;
}

static void look(uint64_t now)
{
    if (now < state.rest || !has_any_changed() ||
        (state.jit == NULL && !make_registry()))
        return;
    uint64_t start = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    take_all();
    uint64_t end = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    state.rest = end + REST * (end - start);
}

void wndl_rt_jit_lists_read(uint64_t now)
{
    if (atomic_load_explicit(
            &wndl_rt.shm->descriptors[0], memory_order_relaxed) == 0 ||
        wndl_rt_is_careful() || atomic_exchange(&state.busy, 1) != 0)
        return;
    look(now);
    atomic_store(&state.busy, 0);
}

void wndl_rt_jit_lists_skip(const void *address)
{
    for (size_t i = 0; i < MAX_LISTS; i++) {
        uint64_t free = 0;
        if (atomic_compare_exchange_strong(
                &state.hooked[i], &free, (uintptr_t)address) ||
            free == (uintptr_t)address)
            return;
    }
}

void wndl_rt_jit_lists_after_fork(void)
{
    if (state.jit != NULL)
        wndl_jit_after_fork(state.jit);
    for (size_t i = 0; i < MAX_LISTS; i++)
        state.lists[i] = (struct jit_list){0};
    state.rest = 0;
    atomic_store(&state.busy, 0);
}
