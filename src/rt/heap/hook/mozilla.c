/* SPDX-License-Identifier: MIT */
/* mozilla: the functions of Mozilla's allocator (extras.h). */
#include "rt/heap/count/thread.h"
#include "rt/heap/hook/entry.h"
#include "rt/heap/hook/extras.h"
#include "rt/heap/hook/own.h"

#include <stdint.h>
#include <string.h>

/* The bytes requested by a call, from its arguments `a`, `b` and `c`. */
#define ARRAY(count, size) ((count) * (size))
#define TEXT (strlen((const char *)a) + 1)
#define START_OF_TEXT (length_of((const char *)a, b) + 1)

/* ---- the allocator's own */

/* All are called with three arguments, like C++'s operators. */
typedef void *function(uintptr_t, uintptr_t, uintptr_t);
#define CALL_REAL(name, a, b, c)                                               \
    ((function *)wndl_rt_mozilla_functions[WNDL_RT_FUNCTION_##name].real)(     \
        a, b, c)

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

/* ---- requested bytes */

static size_t length_of(const char *text, size_t most)
{
    const char *end = memchr(text, 0, most);
    return end == NULL ? most : (size_t)(end - text);
}

#define HOOK(name)                                                             \
    void *wndl_rt_hook_##name(uintptr_t, uintptr_t, uintptr_t,                 \
        const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;                       \
    WNDL_RT_HEAP_ENTRY("wndl_rt_mozilla_" #name, "wndl_rt_hook_" #name, 3);    \
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

WNDL_RT_MOZILLA(MAKE_HOOK, MOVE_HOOK, END_HOOK)
