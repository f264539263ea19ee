/* SPDX-License-Identifier: MIT */
#include "rt/walk/jit_registry.h"

#include "os/raw.h"
#include "rt/core/rt.h"

#include <stdatomic.h>
#include <sys/mman.h>

/* Each registry has room for twice as many as the one before. */
enum { REGISTRIES = 7, FIRST_ROOM = 1024 };

/* Memory of copies, unmapped when all of it is free. */
struct chunk {
    size_t size, used;
    size_t copies;
};

struct copy {
    struct chunk *chunk;
    _Alignas(16) uint8_t bytes[];
};

enum { CHUNK = 16 * WNDL_RT_PAGE };

/*
 * Guarded by the lock, except `newest` and `first`. Registries are linked from
 * the last to the first, and from there to `programs`.
 */
static struct {
    _Atomic uint32_t locked;
    struct chunk *filling;
    struct wndl_jit *registries[REGISTRIES];
    _Atomic(struct wndl_jit *) programs;
    _Atomic(struct wndl_jit *) newest;
    _Atomic(struct wndl_jit *) first; /* refers to all these; or NULL */
} state;

static void lock(void)
{
    for (unsigned tries = 0; atomic_exchange(&state.locked, 1) != 0; tries++)
        wndl_raw_pause(tries);
}

static void unlock(void)
{
    atomic_store(&state.locked, 0);
}

static void *map(size_t size)
{
    return wndl_raw_map(size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

/* ---- copies */

static bool begin_chunk(size_t least)
{
    const size_t head = (sizeof(struct chunk) + 15) / 16 * 16;
    size_t size = CHUNK;
    if (least > SIZE_MAX - head - WNDL_RT_PAGE)
        return false;
    if (least > size - head)
        size = (head + least + WNDL_RT_PAGE - 1) / WNDL_RT_PAGE * WNDL_RT_PAGE;
    struct chunk *chunk = map(size);
    if (chunk == NULL)
        return false;
    if (state.filling != NULL && state.filling->copies == 0)
        wndl_raw_unmap(state.filling, state.filling->size);
    *chunk = (struct chunk){.size = size, .used = head};
    state.filling = chunk;
    return true;
}

static struct copy *make_copy(struct wndl_bytes from)
{
    if (from.size > SIZE_MAX / 2)
        return NULL;
    size_t size = (sizeof(struct copy) + from.size + 15) / 16 * 16;
    if ((state.filling == NULL ||
            size > state.filling->size - state.filling->used) &&
        !begin_chunk(size))
        return NULL;
    struct chunk *chunk = state.filling;
    struct copy *copy = (struct copy *)(void *)((uint8_t *)chunk + chunk->used);
    chunk->used += size;
    chunk->copies++;
    copy->chunk = chunk;
    __builtin_memcpy(copy->bytes, from.data, from.size);
    return copy;
}

static void free_copy(struct copy *copy)
{
    struct chunk *chunk = copy->chunk;
    chunk->copies--;
    if (chunk->copies == 0 && chunk != state.filling)
        wndl_raw_unmap(chunk, chunk->size);
}

/* ---- registries */

void wndl_rt_jit_publish(void)
{
    if (wndl_rt.shm != NULL)
        atomic_store(&wndl_rt.shm->jit, (uintptr_t)wndl_rt_jit_registry());
}

/* Registry `i`, which is made if all before it exist; or NULL. */
static struct wndl_jit *registry(size_t i)
{
    const size_t room = (size_t)FIRST_ROOM << i;
    if (state.registries[i] != NULL)
        return state.registries[i];
    void *memory = map(wndl_jit_size(room));
    if (memory == NULL)
        return NULL;
    struct wndl_jit *made = wndl_jit_init(memory, room);
    wndl_jit_look_also(
        made, i == 0 ? atomic_load(&state.programs) : state.registries[i - 1]);
    state.registries[i] = made;
    atomic_store(&state.newest, made);
    wndl_rt_jit_publish();
    return made;
}

void wndl_rt_jit_add(const struct wndl_jit_source *source)
{
    lock();
    struct wndl_jit_source kept = *source;
    struct copy *copy = make_copy(source->frame.bytes);
    enum wndl_status status = copy == NULL ? WNDL_NOMEM : WNDL_LIMIT;
    for (size_t i = 0; i < REGISTRIES && status == WNDL_LIMIT; i++) {
        struct wndl_jit *jit = registry(i);
        kept.frame.bytes.data = copy->bytes;
        status = jit == NULL ? WNDL_NOMEM : wndl_jit_add_source(jit, &kept);
    }
    if (status != WNDL_OK && copy != NULL)
        free_copy(copy);
    unlock();
}

static void remove_from(struct wndl_jit *jit, uint64_t origin)
{
    const uint8_t *bytes = NULL;
    while (wndl_jit_remove_source(jit, origin, &bytes) == WNDL_OK)
        free_copy(
            (struct copy *)(void *)(bytes - offsetof(struct copy, bytes)));
}

void wndl_rt_jit_remove(uint64_t origin)
{
    if (atomic_load(&state.newest) == NULL)
        return;
    lock();
    for (size_t i = 0; i < REGISTRIES && state.registries[i] != NULL; i++)
        remove_from(state.registries[i], origin);
    unlock();
}

struct wndl_jit *wndl_rt_jit_registry(void)
{
    struct wndl_jit *first = atomic_load(&state.first);
    struct wndl_jit *others = atomic_load(&state.newest);
    if (others == NULL)
        others = atomic_load(&state.programs);
    if (first == NULL)
        return others;
    wndl_jit_look_also(first, others);
    return first;
}

void wndl_rt_jit_look_first(struct wndl_jit *jit)
{
    atomic_store(&state.first, jit);
    wndl_rt_jit_publish();
}

void wndl_rt_jit_use(struct wndl_jit *jit)
{
    lock();
    atomic_store(&state.programs, jit);
    if (state.registries[0] != NULL)
        wndl_jit_look_also(state.registries[0], jit);
    wndl_rt_jit_publish();
    unlock();
}

/* Changes by the parent's other threads will not end here. */
void wndl_rt_jit_after_fork(void)
{
    if (atomic_load(&state.locked) != 0)
        state.filling = NULL;
    for (size_t i = 0; i < REGISTRIES && state.registries[i] != NULL; i++)
        wndl_jit_after_fork(state.registries[i]);
    unlock();
}
