/* SPDX-License-Identifier: MIT */
#include "rt/tags/real.h"

#include "os/dlfind.h"
#include "rt/core/kept_size.h"
#include "rt/tags/marks.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

enum { EARLY = 64 * 1024 };

static _Alignas(16) uint8_t early[EARLY];
static _Atomic size_t early_used;
static _Atomic bool is_resolved;
static __thread bool is_resolving;

/* ---- before malloc is known */

void *wndl_rt_tags_allocate_early(size_t alignment, size_t size)
{
    const size_t wanted = (size + alignment + 15) & ~(size_t)15;
    if (wanted < size || wanted > EARLY)
        return NULL;
    const size_t at = atomic_fetch_add(&early_used, wanted);
    wndl_rt_marks_use_pieces();
    if (at > EARLY - wanted)
        return NULL;
    const uintptr_t start = (uintptr_t)early + at;
    return (void *)((start + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

bool wndl_rt_tags_is_early(const void *block)
{
    return (uintptr_t)block - (uintptr_t)early < EARLY;
}

size_t wndl_rt_tags_early_readable(const void *block)
{
    return EARLY - (size_t)((const uint8_t *)block - early);
}

static void *first_malloc(size_t size)
{
    return wndl_rt_tags_resolve() ? wndl_rt_tags_real.malloc(size)
                                  : wndl_rt_tags_allocate_early(16, size);
}

static void *first_calloc(size_t count, size_t size)
{
    size_t all;
    if (wndl_rt_tags_resolve())
        return wndl_rt_tags_real.calloc(count, size);
    return __builtin_mul_overflow(count, size, &all)
               ? NULL
               : wndl_rt_tags_allocate_early(16, all);
}

static void *first_realloc(void *block, size_t size)
{
    return wndl_rt_tags_resolve() ? wndl_rt_tags_real.realloc(block, size)
                                  : wndl_rt_tags_allocate_early(16, size);
}

static void first_free(void *block)
{
    if (wndl_rt_tags_resolve())
        wndl_rt_tags_real.free(block);
}

static void *first_aligned_alloc(size_t alignment, size_t size)
{
    return wndl_rt_tags_resolve()
               ? wndl_rt_tags_real.aligned_alloc(alignment, size)
               : wndl_rt_tags_allocate_early(alignment, size);
}

static void *first_memalign(size_t alignment, size_t size)
{
    return wndl_rt_tags_resolve()
               ? wndl_rt_tags_real.memalign(alignment, size)
               : wndl_rt_tags_allocate_early(alignment, size);
}

static int first_posix_memalign(void **to, size_t alignment, size_t size)
{
    return wndl_rt_tags_resolve()
               ? wndl_rt_tags_real.posix_memalign(to, alignment, size)
               : ENOMEM;
}

static void *first_valloc(size_t size)
{
    return wndl_rt_tags_resolve() ? wndl_rt_tags_real.valloc(size) : NULL;
}

static void *first_pvalloc(size_t size)
{
    return wndl_rt_tags_resolve() ? wndl_rt_tags_real.pvalloc(size) : NULL;
}

static int first_pthread_create(pthread_t *thread,
    const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    return wndl_rt_tags_resolve() ? wndl_rt_tags_real.pthread_create(
                                        thread, attributes, routine, argument)
                                  : EAGAIN;
}

static int first_thrd_create(
    thrd_t *thread, thrd_start_t routine, void *argument)
{
    return wndl_rt_tags_resolve()
               ? wndl_rt_tags_real.thrd_create(thread, routine, argument)
               : thrd_error;
}

static int first_mlockall(int flags)
{
    return wndl_rt_tags_resolve() ? wndl_rt_tags_real.mlockall(flags) : -1;
}

static size_t unknown_size(void *block)
{
    (void)block;
    return 0;
}

struct wndl_rt_tags_real wndl_rt_tags_real = {
    .malloc = first_malloc,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .free = first_free,
    .usable = unknown_size,
    .aligned_alloc = first_aligned_alloc,
    .posix_memalign = first_posix_memalign,
    .memalign = first_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
    .pthread_create = first_pthread_create,
    .thrd_create = first_thrd_create,
    .mlockall = first_mlockall,
};

/* ---- looking for them */

#define ROW(name)                                                              \
    {                                                                          \
#name, offsetof(struct wndl_rt_tags_real, name)                        \
    }

static const struct {
    const char *name;
    size_t offset;
} table[] = {
    ROW(malloc), /* the first: dlsym() may call it */
    ROW(calloc),
    ROW(realloc),
    ROW(free),
    ROW(aligned_alloc),
    ROW(posix_memalign),
    ROW(memalign),
    ROW(valloc),
    ROW(pvalloc),
    ROW(pthread_create),
    ROW(thrd_create),
    ROW(mlockall),
};

static bool are_in_one(const void *a, const void *b)
{
    struct wndl_dlmodule of_a, of_b;
    return wndl_dlfind((uintptr_t)a, &of_a) &&
           wndl_dlfind((uintptr_t)b, &of_b) && of_a.map_start == of_b.map_start;
}

bool wndl_rt_tags_is_allocators(const void *function)
{
    return are_in_one((const void *)wndl_rt_tags_real.malloc, function);
}

bool wndl_rt_tags_is_first(const void *exported)
{
    return are_in_one(dlsym(RTLD_DEFAULT, "malloc"), exported);
}

/* The result for one of its blocks is taken to hold for all. */
static bool keeps_sizes(void)
{
#ifdef __aarch64__
    return false; /* that word may have another tag than the block */
#else
    const void *version = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    if (version == NULL || !wndl_rt_tags_is_allocators(version))
        return false;
    void *block = wndl_rt_tags_real.malloc(1);
    size_t kept;
    const bool keeps = block != NULL && wndl_rt_kept_size(block, &kept) &&
                       kept == wndl_rt_tags_real.usable(block);
    wndl_rt_tags_real.free(block);
    return keeps;
#endif
}

static void find_sizes(void)
{
    void *found = dlsym(RTLD_NEXT, "malloc_usable_size");
    if (found == NULL || !wndl_rt_tags_is_allocators(found))
        return;
    wndl_rt_tags_real.usable = (size_t(*)(void *))found;
    __atomic_store_n(
        &wndl_rt_tags_real.keeps_sizes, keeps_sizes(), __ATOMIC_RELAXED);
}

/* Two threads may do this at the same time: they write the same values. */
bool wndl_rt_tags_resolve(void)
{
    if (atomic_load_explicit(&is_resolved, memory_order_acquire))
        return true;
    if (is_resolving)
        return false;
    is_resolving = true;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        void *found = dlsym(RTLD_NEXT, table[i].name);
        if (found != NULL)
            __atomic_store_n(
                (void **)((char *)&wndl_rt_tags_real + table[i].offset), found,
                __ATOMIC_RELAXED);
    }
    find_sizes();
    atomic_store_explicit(&is_resolved, true, memory_order_release);
    is_resolving = false;
    return true;
}
