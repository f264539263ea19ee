/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/heap/alloc_fn.h"

#include "base/text.h"

/* The end of a function's name: not "malloc_stats" for "malloc". */
static bool is_whole(struct wndl_bytes text, size_t size)
{
    return text.size == size || strchr(" (<[@", text.data[size]) != NULL;
}

static bool has_text(struct wndl_bytes frame, const char *text)
{
    return memmem(frame.data, frame.size, text, strlen(text)) != NULL;
}

/* SpiderMonkey's "T* Provider<...>::pod_malloc<T>(...)". */
static bool is_pod_method(struct wndl_bytes frame)
{
    return has_text(frame, "::pod_malloc<") ||
           has_text(frame, "::pod_calloc<") ||
           has_text(frame, "::pod_realloc<");
}

bool wndl_heap_alloc_fn(struct wndl_bytes frame)
{
    static const char *const names[] = {"malloc", "calloc", "realloc",
        "reallocarray", "memalign", "aligned_alloc", "posix_memalign", "valloc",
        "pvalloc", "strdup", "__strdup", "strndup", "__strndup", "operator new",
        "g_malloc", "g_malloc0", "g_malloc_n", "g_malloc0_n", "g_realloc",
        "g_realloc_n", "g_try_malloc", "g_try_malloc0", "g_try_realloc",
        "g_strdup", "g_slice_alloc", "g_slice_alloc0", "xmalloc", "xcalloc",
        "xrealloc", "xstrdup", "moz_xmalloc", "moz_xcalloc", "moz_xrealloc",
        "moz_xmemalign", "moz_xstrdup", "moz_xstrndup", "moz_arena_malloc",
        "moz_arena_calloc", "moz_arena_realloc", "replace_malloc",
        "replace_calloc", "replace_realloc", "replace_memalign", "__rust_alloc",
        "__rust_alloc_zeroed", "__rust_realloc", "__rdl_alloc", "__rdl_realloc",
        "PyMem_Malloc", "PyMem_RawMalloc", "PyMem_Realloc", "PyMem_RawRealloc",
        "PyObject_Malloc", "PyObject_Realloc", "_PyMem_RawMalloc",
        "_PyMem_RawCalloc", "_PyMem_RawRealloc", "PyMem_Calloc",
        "PyMem_RawCalloc", "PyObject_Calloc", "_PyObject_Malloc",
        "_PyObject_Calloc", "_PyObject_Realloc", "pymalloc_alloc",
        "pymalloc_realloc", "allocate_from_new_pool", "pymalloc_pool_extend",
        "new_arena", "arena_map_get", "arena_map_mark_used",
        "_PyObject_ArenaMalloc", "replace_posix_memalign", "js_malloc",
        "js_calloc", "js_realloc", "malloc_zone_malloc", "malloc_zone_calloc",
        "malloc_zone_realloc", "vpx_malloc", "vpx_calloc", "vpx_memalign"};
    static const char *const families[] = {"std::allocator<",
        "std::allocator_traits<", "std::__new_allocator<",
        "__gnu_cxx::new_allocator<", "alloc::alloc::"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (wndl_bytes_start_with(frame, names[i]) &&
            is_whole(frame, strlen(names[i])))
            return true;
    }
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (wndl_bytes_start_with(frame, families[i]))
            return true;
    }
    return is_pod_method(frame);
}
