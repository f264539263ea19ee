/* SPDX-License-Identifier: MIT */
#include "analyze/heap/alloc_fn.h"

#include "base/text.h"

/* The end of a function's name: not "malloc_stats" for "malloc". */
static bool is_whole(struct wndl_bytes text, size_t size)
{
    return text.size == size || strchr(" (<[@", text.data[size]) != NULL;
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
        "_PyMem_RawCalloc", "_PyMem_RawRealloc"};
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
    return false;
}
