/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/mozilla.h"

#include "rt/heap/count/thread.h"
#include "rt/heap/hook/entry.h"
#include "rt/heap/record/record.h"

#include <stdint.h>
#include <string.h>

#define CALLED_BY_ASM __attribute__((used, visibility("hidden")))

/* What a call asks for, by its arguments `a`, `b` and `c`. */
#define ARRAY(count, size) ((count) * (size))
#define TEXT (strlen((const char *)a) + 1)
#define START_OF_TEXT (length_of((const char *)a, b) + 1)

/*
 * name, bytes requested
 * name, block, bytes requested
 * name, block
 * Those of arenas have the arena first. Overflows are refused by them.
 */
#define FUNCTIONS(MAKE, MOVE, END)                                             \
    MAKE(moz_xmalloc, a)                                                       \
    MAKE(moz_xcalloc, ARRAY(a, b))                                             \
    MAKE(moz_xmemalign, b)                                                     \
    MAKE(moz_xmemdup, b)                                                       \
    MAKE(moz_xstrdup, TEXT)                                                    \
    MAKE(moz_xstrndup, START_OF_TEXT)                                          \
    MAKE(strdup, TEXT)                                                         \
    MAKE(strndup, START_OF_TEXT)                                               \
    MAKE(moz_arena_malloc, b)                                                  \
    MAKE(moz_arena_calloc, ARRAY(b, c))                                        \
    MAKE(moz_arena_memalign, c)                                                \
    MOVE(moz_xrealloc, a, b)                                                   \
    MOVE(moz_arena_realloc, b, c)                                              \
    END(moz_arena_free, b)

/* ---- the allocator's own */

#define REAL(name, ...) static void *real_##name;
FUNCTIONS(REAL, REAL, REAL)

/* All are handed on with three arguments, as hook_new.c's are. */
typedef void *function(uintptr_t, uintptr_t, uintptr_t);
#define CALL_REAL(name, a, b, c) ((function *)real_##name)(a, b, c)

static void *move_anywhere(void *none, void *block, size_t size)
{
    (void)none;
    return CALL_REAL(moz_xrealloc, (uintptr_t)block, size, 0);
}

static void *move_in_arena(void *arena, void *block, size_t size)
{
    return CALL_REAL(
        moz_arena_realloc, *(uintptr_t *)arena, (uintptr_t)block, size);
}

#define MOVER_OF_moz_xrealloc move_anywhere
#define MOVER_OF_moz_arena_realloc move_in_arena

/* ---- before them */

static size_t length_of(const char *text, size_t most)
{
    const char *end = memchr(text, 0, most);
    return end == NULL ? most : (size_t)(end - text);
}

#define HOOK(name)                                                             \
    void *wndl_rt_hook_##name(uintptr_t, uintptr_t, uintptr_t,                 \
        const struct wndl_regs *) CALLED_BY_ASM;                               \
    WNDL_RT_HEAP_ENTRY("wndl_rt_mozilla_" #name, "wndl_rt_hook_" #name, 3);    \
    extern char wndl_rt_entry_wndl_rt_mozilla_##name[]                         \
        __attribute__((visibility("hidden")));                                 \
    void *wndl_rt_hook_##name(                                                 \
        uintptr_t a, uintptr_t b, uintptr_t c, const struct wndl_regs *regs)

#define MAKE_HOOK(name, requested)                                             \
    HOOK(name)                                                                 \
    {                                                                          \
        return wndl_rt_heap_made(CALL_REAL(name, a, b, c), requested, regs);   \
    }

#define MOVE_HOOK(name, block, requested)                                      \
    HOOK(name)                                                                 \
    {                                                                          \
        (void)c;                                                               \
        const struct wndl_rt_mover mover = {MOVER_OF_##name, &a};              \
        return wndl_rt_heap_moved(&mover, (void *)block, requested, regs);     \
    }

#define END_HOOK(name, block)                                                  \
    HOOK(name)                                                                 \
    {                                                                          \
        struct wndl_rt_heap_thread *t =                                        \
            wndl_rt_heap_ended((void *)block, regs);                           \
        (void)CALL_REAL(name, a, b, c);                                        \
        if (t != NULL)                                                         \
            wndl_rt_heap_leave();                                              \
        return NULL;                                                           \
    }

FUNCTIONS(MAKE_HOOK, MOVE_HOOK, END_HOOK)

const struct wndl_rt_extra wndl_rt_mozilla_functions[] = {
#define ROW(name, ...)                                                         \
    {#name, &real_##name, wndl_rt_entry_wndl_rt_mozilla_##name},
    FUNCTIONS(ROW, ROW, ROW)};

_Static_assert(
    sizeof wndl_rt_mozilla_functions / sizeof *wndl_rt_mozilla_functions ==
        WNDL_RT_MOZILLA_FUNCTIONS,
    "there is room for all");
