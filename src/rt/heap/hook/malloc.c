/* SPDX-License-Identifier: MIT */
/*
 * The allocation functions, before those of whatever allocator there is: it is
 * the next to define them. Each leaves errno as that does.
 */
#include "os/dlfind.h"
#include "rt/core/rt.h"
#include "rt/heap/count/state.h"
#include "rt/heap/hook/entry.h"
#include "rt/heap/hook/imports.h"
#include "rt/heap/hook/mozilla.h"
#include "rt/heap/hook/new.h"
#include "rt/heap/hook/sanitizer.h"
#include "rt/heap/record/record.h"
#include "rt/heap/record/unsampled.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define CALLED_BY_ASM __attribute__((used, visibility("hidden")))

/* ---- before the real ones are known */

/* dlsym() may allocate, and the program may free that later. */
static struct {
    _Alignas(16) uint8_t bytes[64 * 1024];
    _Atomic size_t used;
} before;

static void *allocate_before(size_t alignment, size_t size)
{
    size_t room = sizeof before.bytes;
    size_t wanted = (size + alignment + 15) & ~(size_t)15;
    size_t at = atomic_fetch_add(&before.used, wanted);
    if (wanted < size || wanted > room || at > room - wanted)
        return NULL;
    uintptr_t start = (uintptr_t)before.bytes + at;
    start = (start + alignment - 1) & ~(uintptr_t)(alignment - 1);
    wndl_rt_blocks_mark(start);
    return (void *)start;
}

static bool is_from_before(const void *block)
{
    return (uintptr_t)block - (uintptr_t)before.bytes < sizeof before.bytes;
}

/* How large a block was is not known: what follows it is ours, too. */
static size_t most_from_before(const void *block)
{
    return sizeof before.bytes -
           (size_t)((const uint8_t *)block - before.bytes);
}

/* ---- the real ones */

/* What each call looks at is in one line of the cache: up to `keeps_sizes`. */
static struct {
    _Alignas(64) _Atomic bool resolved;
    _Atomic bool ready; /* and no module has to be looked at before a call */
    struct wndl_rt_allocator next;
} here;
static __thread bool resolving;
_Static_assert(
    offsetof(struct wndl_rt_allocator, keeps_sizes) < 64 - sizeof(void *),
    "what each call looks at is in one line");

/* The program's allocator stands before us: only imports lead here. */
static bool is_before_us;

/* Of those it does not have, the libc's are called, as without us. */
enum { MEMBER = sizeof(void (*)(void)) };
static bool is_libcs[sizeof(struct wndl_rt_allocator) / MEMBER];
#define IS_LIBCS(name)                                                         \
    is_libcs[offsetof(struct wndl_rt_allocator, name) / MEMBER]

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
    FUNCTION(malloc), /* is looked at first */
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

/* Modules that are loaded later have to be led to us, too. */
static bool leads;

/* What all others import. Where a stub leads is ours. */
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
    is_libcs[table[i].offset / MEMBER] = is_before_us && !is_theirs;
    __atomic_store_n((void **)((char *)&here.next + table[i].offset), found,
        __ATOMIC_RELAXED);
}

/* It tells of no other allocator's blocks than those of its own module. */
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

/* Some modules have only a function or two before the libc's: aligned blocks
 * of a pool, and the free() that knows them. */
static bool makes_all(const struct wndl_dlmodule *allocator)
{
    const void *const makers[] = {here.next.malloc, here.next.calloc,
        here.next.realloc, here.next.aligned_alloc, here.next.posix_memalign,
        here.next.memalign, here.next.valloc, here.next.pvalloc};
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        if (makers[i] != NULL && !is_in(allocator, makers[i]))
            return false;
    }
    return true;
}

static void doubt_sizes(const struct wndl_dlmodule *allocator)
{
    if (!is_in(allocator, here.next.usable) ||
        (is_libc(allocator) && !makes_all(allocator)))
        here.next.usable = unknown_size;
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

/* What it says of a block of its own is believed of all. */
static bool keeps_sizes(const struct wndl_dlmodule *allocator)
{
    if (!may_keep_sizes(allocator))
        return false;
    void *block = here.next.malloc(1);
    size_t kept;
    bool keeps = block != NULL && wndl_rt_kept_size(block, &kept) &&
                 kept == here.next.usable(block);
    here.next.free(block);
    return keeps;
}

/* An allocator that we stand before calls our malloc in the others. */
static void find_others(const struct wndl_dlmodule *allocator)
{
    size_t count = wndl_rt_imports_find(allocator, wndl_rt_new_functions,
        WNDL_RT_NEW_FUNCTIONS, &imports[FUNCTIONS]);
    if (is_before_us)
        count += wndl_rt_imports_find(allocator, wndl_rt_mozilla_functions,
            WNDL_RT_MOZILLA_FUNCTIONS, &imports[FUNCTIONS + count]);
    others = count;
}

/* A sanitizer's may not be asked for a size before it has started. */
static void look_at_allocator(void)
{
    struct wndl_dlmodule allocator = {0};
    if (wndl_rt_heap_is_sanitized()) {
        here.next.usable = unknown_size;
        return;
    }
    if (wndl_dlfind((uintptr_t)here.next.malloc, &allocator))
        find_others(&allocator);
    doubt_sizes(&allocator);
    here.next.keeps_sizes = keeps_sizes(&allocator);
    leads = is_before_us || others != 0;
}

/* Two threads may do this at once: they write the same values. */
static const struct wndl_rt_allocator *resolve(void)
{
    if (resolving)
        return NULL;
    resolving = true;
    is_before_us = first_of(0) != wndl_rt_entry_malloc;
    for (size_t i = 0; i < FUNCTIONS; i++)
        resolve_one(i);
    look_at_allocator();
    wndl_rt_blocks_follow(dlsym(RTLD_DEFAULT, "__libc_single_threaded"));
    atomic_store_explicit(&here.ready, !leads, memory_order_release);
    atomic_store_explicit(&here.resolved, true, memory_order_release);
    resolving = false;
    return &here.next;
}

/* NULL while they are being looked for. */
static __attribute__((noinline)) const struct wndl_rt_allocator *find_real(void)
{
    if (leads && wndl_rt_imports_follow())
        wndl_rt_heap_doubt();
    if (atomic_load_explicit(&here.resolved, memory_order_acquire))
        return &here.next;
    return resolve();
}

static inline const struct wndl_rt_allocator *real(void)
{
    if (WNDL_RT_LIKELY(atomic_load_explicit(&here.ready, memory_order_acquire)))
        return &here.next;
    return find_real();
}

/* ---- recording */

static size_t usable_of(
    const struct wndl_rt_allocator *a, void *block, size_t requested)
{
    size_t usable = wndl_rt_usable(a, block);
    return usable < requested ? requested : usable;
}

static WNDL_RT_NOINLINE void *record_passed(
    const struct wndl_rt_allocator *a, void *block, size_t size)
{
    if (block != NULL)
        wndl_rt_heap_passed(block, size, usable_of(a, block, size));
    return block;
}

static WNDL_RT_NOINLINE void *record_taken(struct wndl_rt_heap_thread *t,
    void *block, size_t requested, size_t usable, const struct wndl_regs *regs)
{
    wndl_rt_heap_born_taken(t, &(struct wndl_rt_birth){
                                   .block = block,
                                   .requested = requested,
                                   .usable = usable,
                                   .regs = regs,
                               });
    wndl_rt_heap_leave();
    return block;
}

static inline __attribute__((always_inline)) void *record_inline(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_allocator *a,
    void *block, size_t size, const struct wndl_regs *regs)
{
    if (!WNDL_RT_LIKELY(t != NULL))
        return record_passed(a, block, size);
    if (block != NULL) {
        size_t usable = usable_of(a, block, size);
        if (wndl_rt_heap_takes(t, size))
            return record_taken(t, block, size, usable, regs);
        wndl_rt_heap_count_birth(
            t, block, (struct wndl_rt_sizes){size, usable}, 0);
    }
    wndl_rt_heap_leave();
    return block;
}

static void *record(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_allocator *a, void *block, size_t size,
    const struct wndl_regs *regs)
{
    return record_inline(t, a, block, size, regs);
}

/* The program's allocator can neither free it nor tell its size. */
static void *record_libcs(
    void *block, size_t size, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = block == NULL ? NULL : wndl_rt_heap_enter();
    if (t == NULL)
        return block;
    wndl_rt_heap_born(t, &(struct wndl_rt_birth){
                             .block = wndl_rt_other_key(block, WNDL_RT_LIBCS),
                             .requested = size,
                             .usable = size,
                             .regs = regs,
                             .is_told = true,
                         });
    wndl_rt_heap_leave();
    return block;
}

void *wndl_rt_hook_malloc(size_t, const struct wndl_regs *) CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("malloc", "wndl_rt_hook_malloc", 1);

static WNDL_RT_NOINLINE void *allocate(
    size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    if (a == NULL)
        return allocate_before(16, size);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return record_inline(t, a, a->malloc(size), size, regs);
}

/* What `t`, which has entered quickly, has got. */
static inline __attribute__((always_inline)) void *record_quickly(
    struct wndl_rt_heap_thread *t, void *block, size_t size,
    const struct wndl_regs *regs)
{
    size_t usable;
    if (!WNDL_RT_LIKELY(block != NULL && wndl_rt_kept_size(block, &usable) &&
                        wndl_rt_lane_only_counts_birth(&t->lane, usable)))
        return record(t, &here.next, block, size, regs);
    if (!WNDL_RT_LIKELY(
            !wndl_rt_heap_draws(t, size, wndl_rt_heap->sample_below)))
        return record_taken(t, block, size, usable, regs);
    wndl_rt_heap_count_plain_birth(
        t, block, (struct wndl_rt_sizes){size, usable});
    wndl_rt_heap_leave();
    return block;
}

static WNDL_RT_NOINLINE void *allocate_quickly(
    struct wndl_rt_heap_thread *t, size_t size, const struct wndl_regs *regs)
{
    return record_quickly(t, here.next.malloc(size), size, regs);
}

void *wndl_rt_hook_malloc(size_t size, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter_quickly(size);
    return t == NULL ? allocate(size, regs) : allocate_quickly(t, size, regs);
}

void *wndl_rt_hook_calloc(
    size_t, size_t, const struct wndl_regs *) CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("calloc", "wndl_rt_hook_calloc", 2);

static WNDL_RT_NOINLINE void *clear(
    size_t count, size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    size_t all;
    if (a == NULL)
        return __builtin_mul_overflow(count, size, &all)
                   ? NULL
                   : allocate_before(16, all);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return record(t, a, a->calloc(count, size), count * size, regs);
}

static WNDL_RT_NOINLINE void *clear_quickly(struct wndl_rt_heap_thread *t,
    size_t count, size_t size, const struct wndl_regs *regs)
{
    return record_quickly(t, here.next.calloc(count, size), count * size, regs);
}

void *wndl_rt_hook_calloc(
    size_t count, size_t size, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter_quickly(count * size);
    return t == NULL ? clear(count, size, regs)
                     : clear_quickly(t, count, size, regs);
}

void *wndl_rt_hook_aligned_alloc(
    size_t, size_t, const struct wndl_regs *) CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("aligned_alloc", "wndl_rt_hook_aligned_alloc", 2);

void *wndl_rt_hook_aligned_alloc(
    size_t alignment, size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    if (a == NULL)
        return allocate_before(alignment, size);
    if (IS_LIBCS(aligned_alloc))
        return record_libcs(a->aligned_alloc(alignment, size), size, regs);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return record(t, a, a->aligned_alloc(alignment, size), size, regs);
}

void *wndl_rt_hook_memalign(
    size_t, size_t, const struct wndl_regs *) CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("memalign", "wndl_rt_hook_memalign", 2);

void *wndl_rt_hook_memalign(
    size_t alignment, size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    if (a == NULL)
        return allocate_before(alignment, size);
    if (IS_LIBCS(memalign))
        return record_libcs(a->memalign(alignment, size), size, regs);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return record(t, a, a->memalign(alignment, size), size, regs);
}

void *wndl_rt_hook_valloc(size_t, const struct wndl_regs *) CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("valloc", "wndl_rt_hook_valloc", 1);

void *wndl_rt_hook_valloc(size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    if (a == NULL)
        return NULL;
    if (IS_LIBCS(valloc))
        return record_libcs(a->valloc(size), size, regs);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return record(t, a, a->valloc(size), size, regs);
}

void *wndl_rt_hook_pvalloc(size_t, const struct wndl_regs *) CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("pvalloc", "wndl_rt_hook_pvalloc", 1);

void *wndl_rt_hook_pvalloc(size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    if (a == NULL)
        return NULL;
    if (IS_LIBCS(pvalloc))
        return record_libcs(a->pvalloc(size), size, regs);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    return record(t, a, a->pvalloc(size), size, regs);
}

int wndl_rt_hook_posix_memalign(
    void **, size_t, size_t, const struct wndl_regs *) CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("posix_memalign", "wndl_rt_hook_posix_memalign", 3);

int wndl_rt_hook_posix_memalign(
    void **to, size_t alignment, size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    if (a == NULL)
        return ENOMEM;
    if (IS_LIBCS(posix_memalign)) {
        int failed = a->posix_memalign(to, alignment, size);
        (void)record_libcs(failed == 0 ? *to : NULL, size, regs);
        return failed;
    }
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    int result = a->posix_memalign(to, alignment, size);
    (void)record(t, a, result == 0 ? *to : NULL, size, regs);
    return result;
}

/* ---- the other end */

void wndl_rt_hook_free(void *, const struct wndl_regs *) CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("free", "wndl_rt_hook_free", 1);

static inline __attribute__((always_inline)) void end_inline(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_allocator *a,
    void *block, const struct wndl_regs *regs)
{
    wndl_rt_heap_end(t, a, block, regs);
    a->free(block);
    wndl_rt_heap_leave();
}

/* Of `t`, which has entered quickly. */
static WNDL_RT_NOINLINE void end(
    struct wndl_rt_heap_thread *t, void *block, const struct wndl_regs *regs)
{
    if (block != NULL && !is_from_before(block))
        end_inline(t, &here.next, block, regs);
    else
        wndl_rt_heap_leave();
}

static WNDL_RT_NOINLINE void release(void *block, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    if (block == NULL || a == NULL || is_from_before(block))
        return;
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t != NULL) {
        end_inline(t, a, block, regs);
        return;
    }
    if (!wndl_rt_new_is_deleting(block))
        wndl_rt_heap_passed_free(a, block);
    a->free(block);
}

/* Blocks from before the real ones are known have marks. */
void wndl_rt_hook_free(void *block, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter_quickly(0);
    size_t usable;
    if (t == NULL) {
        release(block, regs);
        return;
    }
    if (!WNDL_RT_LIKELY(block != NULL &&
                        !wndl_rt_blocks_maybe((uintptr_t)block) &&
                        wndl_rt_kept_size(block, &usable) &&
                        wndl_rt_lane_only_counts_death(&t->lane, usable))) {
        end(t, block, regs);
        return;
    }
    wndl_rt_heap_count_plain_death(t, block, usable);
    here.next.free(block);
    wndl_rt_heap_leave();
}

static void *move_from_before(void *block, size_t size)
{
    const struct wndl_rt_allocator *a = real();
    void *moved = a == NULL ? allocate_before(16, size) : a->malloc(size);
    if (moved == NULL || block == NULL)
        return moved;
    size_t most = most_from_before(block);
    memcpy(moved, block, size < most ? size : most);
    if (a != NULL)
        wndl_rt_heap_passed(moved, size, usable_of(a, moved, size));
    return moved;
}

/* `by`: NULL for the allocator's realloc. */
static void *move(const struct wndl_rt_allocator *a,
    const struct wndl_rt_mover *by, void *block, size_t size)
{
    return by == NULL ? a->realloc(block, size)
                      : by->move(by->context, block, size);
}

static void *pass_realloc(const struct wndl_rt_allocator *a,
    const struct wndl_rt_mover *by, void *block, size_t size)
{
    if (block != NULL)
        wndl_rt_heap_passed_free(a, block);
    void *moved = move(a, by, block, size);
    if (moved != NULL)
        wndl_rt_heap_passed(moved, size, usable_of(a, moved, size));
    return moved;
}

static void *reallocate(const struct wndl_rt_allocator *a,
    const struct wndl_rt_mover *by, void *block, size_t size,
    const struct wndl_regs *regs)
{
    if (a == NULL || is_from_before(block))
        return move_from_before(block, size);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL)
        return pass_realloc(a, by, block, size);
    if (block == NULL)
        return record(t, a, move(a, by, block, size), size, regs);
    struct wndl_rt_death death;
    wndl_rt_heap_take(a, block, &death);
    void *moved = move(a, by, block, size);
    if (moved == NULL && size != 0) {
        wndl_rt_heap_keep(t, &death);
        wndl_rt_heap_leave();
        return NULL;
    }
    wndl_rt_heap_replaced(t, &death, regs);
    if (moved != NULL) {
        wndl_rt_heap_born(t, &(struct wndl_rt_birth){.block = moved,
                                 .requested = size,
                                 .usable = usable_of(a, moved, size),
                                 .regs = regs});
        wndl_rt_heap_regrown(t, &death);
    }
    wndl_rt_heap_leave();
    return moved;
}

void *wndl_rt_hook_realloc(
    void *, size_t, const struct wndl_regs *) CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("realloc", "wndl_rt_hook_realloc", 2);

void *wndl_rt_hook_realloc(
    void *block, size_t size, const struct wndl_regs *regs)
{
    return reallocate(real(), NULL, block, size, regs);
}

void *wndl_rt_hook_reallocarray(
    void *, size_t, size_t, const struct wndl_regs *) CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("reallocarray", "wndl_rt_hook_reallocarray", 3);

/* Many allocators have none, and the libc's would come back to us. */
void *wndl_rt_hook_reallocarray(
    void *block, size_t count, size_t size, const struct wndl_regs *regs)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(real(), NULL, block, all, regs);
}

/* ---- by C++ and Mozilla */

void *wndl_rt_heap_made(void *block, size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    if (a == NULL)
        return block;
    return record(wndl_rt_heap_enter(), a, block, size, regs);
}

struct wndl_rt_heap_thread *wndl_rt_heap_ended(
    void *block, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    if (block == NULL || a == NULL)
        return NULL;
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL)
        wndl_rt_heap_passed_free(a, block);
    else
        wndl_rt_heap_end(t, a, block, regs);
    return t;
}

void *wndl_rt_heap_moved(const struct wndl_rt_mover *mover, void *block,
    size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = real();
    return a == NULL ? mover->move(mover->context, block, size)
                     : reallocate(a, mover, block, size, regs);
}

/* ---- the process */

bool wndl_rt_heap_lead_imports(void)
{
    (void)real();
    if (leads)
        wndl_rt_imports_lead(imports, FUNCTIONS + others);
    return is_before_us;
}

bool wndl_rt_heap_knows_sizes(void)
{
    const struct wndl_rt_allocator *a = real();
    return a != NULL && a->usable != unknown_size;
}

bool wndl_rt_heap_is_plain(void)
{
    return atomic_load(&here.ready) && here.next.keeps_sizes;
}
