/* SPDX-License-Identifier: MIT */
/*
 * extras: the functions that allocators may have beside the standard's. They
 * are C++'s operators, and those of Mozilla's allocator in Firefox's
 * executable, by which most of Firefox allocates (mfbt/mozmemory and
 * memory/mozalloc there). Mozilla's strdup and strndup are among them, because
 * they call no malloc that we could see.
 */
#ifndef WNDL_RT_HEAP_HOOK_EXTRAS_H
#define WNDL_RT_HEAP_HOOK_EXTRAS_H

#include "rt/core/rt.h"
#include "rt/heap/hook/imports.h"

/*
 * NEW(tag, blocks, name) and DELETE(tag, blocks, name). In the names SIZE,
 * ALIGNED and NOTHROW stand for mangled types.
 */
#define WNDL_RT_NEW_OPERATORS(NEW, DELETE)                                     \
    NEW(new, BLOCKS, "_Znw" SIZE)                                              \
    NEW(new_array, BLOCKS, "_Zna" SIZE)                                        \
    NEW(new_nothrow, BLOCKS, "_Znw" SIZE NOTHROW)                              \
    NEW(new_array_nothrow, BLOCKS, "_Zna" SIZE NOTHROW)                        \
    NEW(new_aligned, ALIGNED_BLOCKS, "_Znw" SIZE ALIGNED)                      \
    NEW(new_array_aligned, ALIGNED_BLOCKS, "_Zna" SIZE ALIGNED)                \
    NEW(new_aligned_nothrow, ALIGNED_BLOCKS, "_Znw" SIZE ALIGNED NOTHROW)      \
    NEW(new_array_aligned_nothrow, ALIGNED_BLOCKS,                             \
        "_Zna" SIZE ALIGNED NOTHROW)                                           \
    DELETE(delete, BLOCKS, "_ZdlPv")                                           \
    DELETE(delete_array, BLOCKS, "_ZdaPv")                                     \
    DELETE(delete_nothrow, BLOCKS, "_ZdlPv" NOTHROW)                           \
    DELETE(delete_array_nothrow, BLOCKS, "_ZdaPv" NOTHROW)                     \
    DELETE(delete_sized, BLOCKS, "_ZdlPv" SIZE)                                \
    DELETE(delete_array_sized, BLOCKS, "_ZdaPv" SIZE)                          \
    DELETE(delete_aligned, ALIGNED_BLOCKS, "_ZdlPv" ALIGNED)                   \
    DELETE(delete_array_aligned, ALIGNED_BLOCKS, "_ZdaPv" ALIGNED)             \
    DELETE(delete_sized_aligned, ALIGNED_BLOCKS, "_ZdlPv" SIZE ALIGNED)        \
    DELETE(delete_array_sized_aligned, ALIGNED_BLOCKS, "_ZdaPv" SIZE ALIGNED)  \
    DELETE(delete_aligned_nothrow, ALIGNED_BLOCKS, "_ZdlPv" ALIGNED NOTHROW)   \
    DELETE(delete_array_aligned_nothrow, ALIGNED_BLOCKS,                       \
        "_ZdaPv" ALIGNED NOTHROW)

/*
 * MAKE: name, bytes requested. MOVE: name, block, bytes requested. END: name,
 * block. Functions of arenas have the arena first. They refuse overflows
 * themselves.
 */
#define WNDL_RT_MOZILLA(MAKE, MOVE, END)                                       \
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

#define WNDL_RT_NUMBER(name, ...) WNDL_RT_FUNCTION_##name,

enum {
    WNDL_RT_NEW_OPERATORS(WNDL_RT_NUMBER, WNDL_RT_NUMBER) WNDL_RT_NEW_FUNCTIONS,
};
enum {
    WNDL_RT_MOZILLA(WNDL_RT_NUMBER, WNDL_RT_NUMBER, WNDL_RT_NUMBER)
        WNDL_RT_MOZILLA_FUNCTIONS,
};

extern WNDL_RT_HIDDEN struct wndl_rt_extra
    wndl_rt_new_functions[WNDL_RT_NEW_FUNCTIONS];

/* For an allocator whose own calls of malloc are not seen. */
extern WNDL_RT_HIDDEN struct wndl_rt_extra
    wndl_rt_mozilla_functions[WNDL_RT_MOZILLA_FUNCTIONS];

#endif
