/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/resolve.h"

#include "os/dlfind.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/count/state.h"
#include "rt/heap/hook/extras.h"
#include "rt/heap/hook/imports.h"
#include "rt/heap/hook/sanitizer.h"
#include "rt/heap/record/operators.h"

#include <dlfcn.h>

struct wndl_rt_resolved wndl_rt_resolved;
bool wndl_rt_is_libcs[sizeof(struct wndl_rt_allocator) / WNDL_RT_MEMBER];

static __thread bool resolving;

/* The program's allocator precedes us: only imports lead here. */
static bool is_before_us;

#define ENTRY(name)                                                            \
    extern char wndl_rt_entry_##name[] __attribute__((visibility("hidden")));
ENTRY(malloc)
ENTRY(calloc)
ENTRY(realloc)
ENTRY(aligned_alloc)
ENTRY(posix_memalign)
ENTRY(memalign)
ENTRY(valloc)
ENTRY(pvalloc)
ENTRY(free)
ENTRY(reallocarray)

#define FUNCTION(name)                                                         \
    {                                                                          \
#name, offsetof(struct wndl_rt_allocator, name), wndl_rt_entry_##name  \
    }

static const struct {
    const char *name;
    size_t offset;
    void *entry;
} table[] = {
    FUNCTION(malloc), /* the first to be resolved */
    FUNCTION(calloc),
    FUNCTION(realloc),
    FUNCTION(reallocarray),
    FUNCTION(aligned_alloc),
    FUNCTION(posix_memalign),
    FUNCTION(memalign),
    FUNCTION(valloc),
    FUNCTION(pvalloc),
    FUNCTION(free),
    {"malloc_usable_size", offsetof(struct wndl_rt_allocator, usable), NULL},
};

enum { FUNCTIONS = sizeof table / sizeof table[0] };

static struct wndl_rt_import
    imports[FUNCTIONS + WNDL_RT_NEW_FUNCTIONS + WNDL_RT_MOZILLA_FUNCTIONS];
static size_t others; /* of C++ and of Mozilla, the last of these */

/* Modules that are loaded later have to be redirected, too. */
static bool leads;

/* The function that all others import. A stub that leads to ours is ours. */
static void *first_of(size_t i)
{
    void *first = dlsym(RTLD_DEFAULT, table[i].name);
    return table[i].entry != NULL && wndl_rt_is_stub(first) ? table[i].entry
                                                            : first;
}

static void resolve_one(size_t i)
{
    void *first = first_of(i);
    bool is_theirs = is_before_us && first != table[i].entry;
    void *found = is_theirs ? first : dlsym(RTLD_NEXT, table[i].name);
    bool is_led = is_theirs && table[i].entry != NULL;
    imports[i] = (struct wndl_rt_import){
        table[i].name, is_led ? first : NULL, table[i].entry, false};
    wndl_rt_is_libcs[table[i].offset / WNDL_RT_MEMBER] =
        is_before_us && !is_theirs;
    __atomic_store_n(
        (void **)((char *)&wndl_rt_resolved.next + table[i].offset), found,
        __ATOMIC_RELAXED);
}

/* It reports sizes only of the blocks of its own module's allocator. */
static size_t unknown_size(void *block)
{
    (void)block;
    return 0;
}

static bool is_in(const struct wndl_dlmodule *module, const void *function)
{
    struct wndl_dlmodule found;
    return wndl_dlfind((uintptr_t)function, &found) &&
           found.map_start == module->map_start;
}

static bool is_libc(const struct wndl_dlmodule *allocator)
{
    const void *version = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    return version != NULL && is_in(allocator, version);
}

/*
 * Some modules define only a function or two before libc's, such as aligned
 * blocks of a pool, and the free() that knows them.
 */
static bool makes_all(const struct wndl_dlmodule *allocator)
{
    const void *const makers[] = {wndl_rt_resolved.next.malloc,
        wndl_rt_resolved.next.calloc, wndl_rt_resolved.next.realloc,
        wndl_rt_resolved.next.aligned_alloc,
        wndl_rt_resolved.next.posix_memalign, wndl_rt_resolved.next.memalign,
        wndl_rt_resolved.next.valloc, wndl_rt_resolved.next.pvalloc};
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        if (makers[i] != NULL && !is_in(allocator, makers[i]))
            return false;
    }
    return true;
}

static void distrust_sizes(const struct wndl_dlmodule *allocator)
{
    if (!is_in(allocator, wndl_rt_resolved.next.usable) ||
        (is_libc(allocator) && !makes_all(allocator)))
        wndl_rt_resolved.next.usable = unknown_size;
}

/* On AArch64 that word may have another tag than the block. */
static bool may_keep_sizes(const struct wndl_dlmodule *allocator)
{
#ifdef __aarch64__
    (void)allocator;
    return false;
#else
    return is_libc(allocator);
#endif
}

/* The result for one of its blocks is taken to hold for all. */
static bool keeps_sizes(const struct wndl_dlmodule *allocator)
{
    if (!may_keep_sizes(allocator))
        return false;
    void *block = wndl_rt_resolved.next.malloc(1);
    size_t kept;
    bool keeps = block != NULL && wndl_rt_kept_size(block, &kept) &&
                 kept == wndl_rt_resolved.next.usable(block);
    wndl_rt_resolved.next.free(block);
    return keeps;
}

/* An allocator that we precede calls our malloc in its other functions. */
static void find_others(const struct wndl_dlmodule *allocator)
{
    size_t count = wndl_rt_imports_find(allocator, wndl_rt_new_functions,
        WNDL_RT_NEW_FUNCTIONS, &imports[FUNCTIONS]);
    if (is_before_us)
        count += wndl_rt_imports_find(allocator, wndl_rt_mozilla_functions,
            WNDL_RT_MOZILLA_FUNCTIONS, &imports[FUNCTIONS + count]);
    others = count;
}

_Static_assert((int)WNDL_RT_NEW_FUNCTIONS <= (int)WNDL_RT_OPERATORS, "room");

/* The library that throws has all of the operators, or nothing is known. */
static void find_operators(void)
{
    struct wndl_rt_import found[WNDL_RT_NEW_FUNCTIONS];
    struct wndl_rt_operators operators = {.makers = WNDL_RT_FUNCTION_delete,
        .count = WNDL_RT_NEW_FUNCTIONS,
        .free = wndl_rt_entry_free};
    const void *thrower = dlsym(RTLD_DEFAULT, "__cxa_throw");
    if (thrower == NULL ||
        !wndl_dlfind((uintptr_t)thrower, &operators.library) ||
        wndl_rt_imports_find(&operators.library, wndl_rt_new_functions,
            WNDL_RT_NEW_FUNCTIONS, found) != WNDL_RT_NEW_FUNCTIONS)
        return;
    for (size_t i = 0; i < WNDL_RT_NEW_FUNCTIONS; i++)
        operators.functions[i] = wndl_rt_new_functions[i].real;
    wndl_rt_operators_know(&operators);
}

/* A sanitizer's must not be asked for a size before it has started. */
static void look_at_allocator(void)
{
    struct wndl_dlmodule allocator = {0};
    if (wndl_rt_heap_is_sanitized()) {
        wndl_rt_resolved.next.usable = unknown_size;
        return;
    }
    if (wndl_dlfind((uintptr_t)wndl_rt_resolved.next.malloc, &allocator))
        find_others(&allocator);
    distrust_sizes(&allocator);
    wndl_rt_resolved.next.keeps_sizes = keeps_sizes(&allocator);
    leads = is_before_us || others != 0;
    if (!leads)
        find_operators();
}

/* Two threads may do this at the same time: they write the same values. */
static const struct wndl_rt_allocator *resolve_all(void)
{
    if (resolving)
        return NULL;
    resolving = true;
    is_before_us = first_of(0) != wndl_rt_entry_malloc;
    for (size_t i = 0; i < FUNCTIONS; i++)
        resolve_one(i);
    look_at_allocator();
    wndl_rt_blocks_follow(dlsym(RTLD_DEFAULT, "__libc_single_threaded"));
    atomic_store_explicit(
        &wndl_rt_resolved.ready, !leads, memory_order_release);
    atomic_store_explicit(
        &wndl_rt_resolved.resolved, true, memory_order_release);
    resolving = false;
    return &wndl_rt_resolved.next;
}

const struct wndl_rt_allocator *wndl_rt_resolve(void)
{
    if (leads && wndl_rt_imports_follow())
        wndl_rt_heap_set_inconsistent();
    if (atomic_load_explicit(&wndl_rt_resolved.resolved, memory_order_acquire))
        return &wndl_rt_resolved.next;
    return resolve_all();
}

bool wndl_rt_heap_lead_imports(void)
{
    (void)wndl_rt_real_allocator();
    if (leads)
        wndl_rt_imports_lead(imports, FUNCTIONS + others);
    return is_before_us;
}

bool wndl_rt_heap_knows_sizes(void)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    return a != NULL && a->usable != unknown_size;
}

bool wndl_rt_heap_is_plain(void)
{
    return atomic_load(&wndl_rt_resolved.ready) &&
           wndl_rt_resolved.next.keeps_sizes;
}
