/* SPDX-License-Identifier: MIT */
/*
 * memory: hooks of the calls that map memory and give it back. What allocators
 * of the libc do inside does not come here.
 */
#include "os/raw.h"
#include "rt/memlog/calls.h"
#include "rt/memlog/real.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_A_SECOND = 1000 };

#define TYPE(name, role)                                                       \
    {                                                                          \
        name, role, MOST_A_SECOND, {{NULL, NULL}},                             \
        {                                                                      \
            0, 0                                                               \
        }                                                                      \
    }

static struct wndl_memlog_type type_mapped = TYPE("mmap", WNDL_MEMLOG_MAPPED);
static struct wndl_memlog_type type_file =
    TYPE("mmap of a file", WNDL_MEMLOG_MAPPED);
static struct wndl_memlog_type type_code =
    TYPE("mmap of code", WNDL_MEMLOG_CODE);
static struct wndl_memlog_type type_unmapped =
    TYPE("munmap", WNDL_MEMLOG_UNMAPPED);
static struct wndl_memlog_type type_grown = TYPE("mremap", WNDL_MEMLOG_MAPPED);
static struct wndl_memlog_type type_shrunk =
    TYPE("mremap to less", WNDL_MEMLOG_UNMAPPED);
static struct wndl_memlog_type type_brk = TYPE("brk", WNDL_MEMLOG_MAPPED);
static struct wndl_memlog_type type_brk_back =
    TYPE("brk to less", WNDL_MEMLOG_UNMAPPED);
static struct wndl_memlog_type type_advised =
    TYPE("madvise", WNDL_MEMLOG_DISCARDED);
static struct wndl_memlog_type type_trimmed =
    TYPE("malloc_trim", WNDL_MEMLOG_COLLECTION);
/* Address space without memory is no cause of growth: it has no role. */
static struct wndl_memlog_type type_reserved = {"reserved", WNDL_MEMLOG_OTHER,
    MOST_A_SECOND, {{"address", "address"}, {"size", "bytes"}}, {0, 0}};
static struct wndl_memlog_type type_huge = {"madvise huge pages",
    WNDL_MEMLOG_OTHER, MOST_A_SECOND,
    {{"address", "address"}, {"size", "bytes"}}, {0, 0}};

static void log_range(struct wndl_memlog_type *type, const void *address,
    uint64_t size, const void *caller)
{
    const int64_t numbers[] = {(int64_t)(uintptr_t)address, (int64_t)size};
    wndl_calls_log(type, numbers, 2, caller);
    wndl_calls_report(false);
}

/* ---- mmap, munmap, mremap */

static struct wndl_memlog_type *type_of_mapping(int protection, int flags)
{
    if (protection == PROT_NONE)
        return &type_reserved;
    if ((protection & PROT_EXEC) != 0)
        return &type_code;
    return (flags & MAP_ANONYMOUS) != 0 ? &type_mapped : &type_file;
}

/* While the real mmap() is looked for. */
static void *map_raw(void *address, size_t size, const int how[3], off_t offset)
{
    const long first[] = {(long)address, (long)size, how[0], how[1]};
    const long at = wndl_raw6(SYS_mmap, first, how[2], (long)offset);
    if (at >= 0 || at <= -4096)
        return (void *)at;
    errno = (int)-at;
    return MAP_FAILED;
}

WNDL_CALLS_HOOK void *mmap(
    void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    const struct wndl_calls_real *real = wndl_calls_real();
    const int how[] = {protection, flags, fd};
    void *at = real->mmap == NULL
                   ? map_raw(address, size, how, offset)
                   : real->mmap(address, size, protection, flags, fd, offset);
    if (at != MAP_FAILED && wndl_calls_is_large(size))
        log_range(type_of_mapping(protection, flags), at, size,
            __builtin_return_address(0));
    return at;
}

/* The same function where off_t has 64 bits: this object is built there. */
WNDL_CALLS_HOOK void *mmap64(void *address, size_t size, int protection,
    int flags, int fd, off64_t offset) __attribute__((alias("mmap")));

WNDL_CALLS_HOOK int munmap(void *address, size_t size)
{
    const struct wndl_calls_real *real = wndl_calls_real();
    int result;
    if (real->munmap != NULL)
        result = real->munmap(address, size);
    else
        result = (int)wndl_raw3(SYS_munmap, (long)address, (long)size, 0);
    if (result == 0 && wndl_calls_is_large(size))
        log_range(&type_unmapped, address, size, __builtin_return_address(0));
    return result;
}

WNDL_CALLS_HOOK void *mremap(
    void *address, size_t before, size_t after, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *wanted =
        (flags & MREMAP_FIXED) != 0 ? va_arg(list, void *) : (void *)NULL;
    va_end(list);
    void *at = wndl_calls_real()->mremap(address, before, after, flags, wanted);
    const bool is_more = after > before;
    const size_t moved = is_more ? after - before : before - after;
    if (at != MAP_FAILED && wndl_calls_is_large(moved))
        log_range(is_more ? &type_grown : &type_shrunk,
            (char *)at + (is_more ? before : after), moved,
            __builtin_return_address(0));
    return at;
}

/* ---- brk: many small steps are a large one */

static _Atomic int64_t brk_moved;

static void note_break(char *end, int64_t moved, const void *caller)
{
    const int64_t sum =
        atomic_fetch_add_explicit(&brk_moved, moved, memory_order_relaxed) +
        moved;
    const uint64_t size = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    if (!wndl_calls_is_large(size))
        return;
    atomic_fetch_sub_explicit(&brk_moved, sum, memory_order_relaxed);
    log_range(sum < 0 ? &type_brk_back : &type_brk, sum < 0 ? end : end - size,
        size, caller);
}

WNDL_CALLS_HOOK void *sbrk(intptr_t moved)
{
    char *before = wndl_calls_real()->sbrk(moved);
    if (moved != 0 && before != (char *)-1)
        note_break(before + moved, moved, __builtin_return_address(0));
    return before;
}

WNDL_CALLS_HOOK int brk(void *address)
{
    const struct wndl_calls_real *real = wndl_calls_real();
    char *before = real->sbrk(0);
    const int result = real->brk(address);
    if (result == 0 && before != (char *)-1)
        note_break(
            address, (char *)address - before, __builtin_return_address(0));
    return result;
}

/* ---- what is given back */

WNDL_CALLS_HOOK int madvise(void *address, size_t size, int advice)
{
    const int result = wndl_calls_real()->madvise(address, size, advice);
    if (result != 0 || !wndl_calls_is_large(size))
        return result;
    if (advice == MADV_HUGEPAGE)
        log_range(&type_huge, address, size, __builtin_return_address(0));
    else if (advice == MADV_DONTNEED || advice == MADV_FREE ||
             advice == MADV_REMOVE)
        log_range(&type_advised, address, size, __builtin_return_address(0));
    return result;
}

WNDL_CALLS_HOOK int malloc_trim(size_t pad)
{
    const int64_t before = wndl_calls_resident();
    const uint64_t start = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    const int result = wndl_calls_real()->malloc_trim(pad);
    const int64_t numbers[] = {before, wndl_calls_resident(),
        (int64_t)(wndl_raw_clock_ns(CLOCK_MONOTONIC) - start)};
    wndl_calls_log(&type_trimmed, numbers, 3, __builtin_return_address(0));
    return result;
}
