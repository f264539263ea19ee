/* SPDX-License-Identifier: MIT */
/*
 * new: C++'s operators new and delete. Those of the allocator itself are called
 * and their blocks tagged. Others, such as the C++ library's, call malloc and
 * free, where blocks are tagged. Where there are none, because the C++ library
 * came with a plugin of a C program and only that sees it, they are malloc and
 * free.
 */
#include "rt/heap/hook/extras.h"
#include "rt/tags/blocks.h"
#include "rt/tags/core/current.h"
#include "rt/tags/real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

/* std::size_t as mangled by Itanium C++ ABI, 5.1. */
#if UINTPTR_MAX == UINT64_MAX
#define SIZE "m"
#else
#define SIZE "j"
#endif
#define ALIGNED "St11align_val_t"
#define NOTHROW "RKSt9nothrow_t"

enum blocks { BLOCKS, ALIGNED_BLOCKS };

/*
 * All are called with three arguments, the most that any has. Functions with
 * fewer ignore the others in the System V ABIs.
 */
struct arguments {
    uintptr_t first, second, third;
};

typedef void *maker(uintptr_t, uintptr_t, uintptr_t);
typedef void ender(uintptr_t, uintptr_t, uintptr_t);

/* The next operator of a name. */
enum found { UNKNOWN, NONE, OTHERS, ALLOCATORS };

static struct operator
{
    const char *name;
    enum blocks blocks;
    _Atomic(void *) real;
    _Atomic int found; /* enum found, written last */
}
operators[] = {
#define ROW(tag, blocks, name) {name, blocks, NULL, UNKNOWN},
    WNDL_RT_NEW_OPERATORS(ROW, ROW)};

static enum found look_up(struct operator* o)
{
    if (!wndl_rt_tags_resolve())
        return NONE;
    void *real = dlsym(RTLD_NEXT, o->name);
    enum found found = NONE;
    if (real != NULL)
        found = wndl_rt_tags_is_allocators(real) ? ALLOCATORS : OTHERS;
    atomic_store_explicit(&o->real, real, memory_order_relaxed);
    atomic_store_explicit(&o->found, (int)found, memory_order_release);
    return found;
}

static enum found find(struct operator* o)
{
    const int found = atomic_load_explicit(&o->found, memory_order_acquire);
    return found == UNKNOWN ? look_up(o) : (enum found)found;
}

/* ---- new */

static void *make_by_malloc(const struct operator* o, const struct arguments *a)
{
    const size_t size = a->first == 0 ? 1 : a->first;
    if (o->blocks == BLOCKS)
        return malloc(size);
    const size_t over = a->second - 1;
    return size > SIZE_MAX - over
               ? NULL
               : aligned_alloc(a->second, (size + over) & ~over);
}

/* The real operator calls the handler for want of memory, and throws. */
static void *make_as_caller(
    const struct operator* o, const struct arguments *a, const void *caller)
{
    Dl_info info;
    void *handle = dladdr(caller, &info) == 0
                       ? NULL
                       : dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    maker *real = handle == NULL ? NULL : (maker *)dlsym(handle, o->name);
    if (real == NULL)
        abort();
    return real(a->first, a->second, a->third);
}

static bool is_marked(const void *block)
{
    const wndl_rt_mark *at = wndl_rt_mark_at(block, false);
    return at != NULL && atomic_load(at) != 0;
}

/* It may have called malloc, by an import that leads to our hook. */
static void *make_tagged(
    const struct operator* o, const struct arguments *a, uint32_t tag)
{
    maker *real = (maker *)atomic_load(&o->real);
    void *block = real(wndl_rt_tagged_size(a->first), a->second, a->third);
    return block == NULL || is_marked(block) ? block
                                             : wndl_rt_tagged_new(block, tag);
}

static void *make(
    struct operator* o, const struct arguments *a, const void *caller)
{
    const enum found found = find(o);
    const uint32_t tag = wndl_rt_tag_current();
    if (found == NONE) {
        void *block = make_by_malloc(o, a);
        return block == NULL ? make_as_caller(o, a, caller) : block;
    }
    if (found == ALLOCATORS && tag != 0)
        return make_tagged(o, a, tag);
    return ((maker *)atomic_load_explicit(&o->real, memory_order_relaxed))(
        a->first, a->second, a->third);
}

/* ---- delete */

static void end(struct operator* o, const struct arguments *a)
{
    void *block = (void *)a->first;
    const enum found found = find(o);
    if (found == NONE) {
        free(block);
        return;
    }
    if (found == ALLOCATORS && block != NULL)
        (void)wndl_rt_tagged_end_any(block);
    ((ender *)atomic_load_explicit(&o->real, memory_order_relaxed))(
        a->first, a->second, a->third);
}

#define NEW_HOOK(tag, blocks, name)                                            \
    WNDL_RT_TAGS_HOOK void *wndl_rt_tags_##tag(                                \
        uintptr_t, uintptr_t, uintptr_t) __asm__(name);                        \
    void *wndl_rt_tags_##tag(                                                  \
        uintptr_t first, uintptr_t second, uintptr_t third)                    \
    {                                                                          \
        return make(&operators[WNDL_RT_FUNCTION_##tag],                        \
            &(struct arguments){first, second, third},                         \
            __builtin_return_address(0));                                      \
    }

#define DELETE_HOOK(tag, blocks, name)                                         \
    WNDL_RT_TAGS_HOOK void wndl_rt_tags_##tag(                                 \
        uintptr_t, uintptr_t, uintptr_t) __asm__(name);                        \
    void wndl_rt_tags_##tag(                                                   \
        uintptr_t first, uintptr_t second, uintptr_t third)                    \
    {                                                                          \
        end(&operators[WNDL_RT_FUNCTION_##tag],                                \
            &(struct arguments){first, second, third});                        \
    }

WNDL_RT_NEW_OPERATORS(NEW_HOOK, DELETE_HOOK)
