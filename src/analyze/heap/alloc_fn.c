/* SPDX-License-Identifier: MIT */
#include "analyze/heap/alloc_fn.h"

#include "base/text.h"

/* Functions that only allocate, without the types of parameters. */
static const char *const names[] = {
    /* libc */
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "strdup",
    "__strdup",
    "strndup",
    "__strndup",
    "wcsdup",
    "__wcsdup",
    "__libc_malloc",
    "__libc_calloc",
    "__libc_realloc",
    "__libc_memalign",
    "__libc_valloc",
    "__libc_pvalloc",
    "__posix_memalign",
    "__GI___libc_malloc",
    "__GI___libc_realloc",
    "__GI___libc_memalign",
    "__GI___strdup",
    "__GI___strndup",
    /* C++ */
    "operator new",
    /* macOS */
    "malloc_zone_malloc",
    "malloc_zone_calloc",
    "malloc_zone_realloc",
    "malloc_zone_memalign",
    "malloc_zone_valloc",
    "malloc_type_malloc",
    "malloc_type_calloc",
    "malloc_type_realloc",
    /* GLib */
    "g_malloc",
    "g_malloc0",
    "g_malloc_n",
    "g_malloc0_n",
    "g_realloc",
    "g_realloc_n",
    "g_aligned_alloc",
    "g_aligned_alloc0",
    "g_try_malloc",
    "g_try_malloc0",
    "g_try_malloc_n",
    "g_try_malloc0_n",
    "g_try_realloc",
    "g_try_realloc_n",
    "g_strdup",
    "g_strndup",
    "g_memdup",
    "g_memdup2",
    "g_slice_alloc",
    "g_slice_alloc0",
    "g_slice_copy",
    "g_rc_box_alloc",
    "g_rc_box_alloc0",
    "g_atomic_rc_box_alloc",
    "g_atomic_rc_box_alloc0",
    /* programs of GNU */
    "xmalloc",
    "xcalloc",
    "xrealloc",
    "xstrdup",
    "xstrndup",
    "xmemdup",
    "xzalloc",
    "xnmalloc",
    "xnrealloc",
    /* Mozilla */
    "moz_xmalloc",
    "moz_xcalloc",
    "moz_xrealloc",
    "moz_xmemalign",
    "moz_xstrdup",
    "moz_xstrndup",
    "moz_xmemdup",
    "moz_malloc",
    "moz_posix_memalign",
    "moz_arena_malloc",
    "moz_arena_calloc",
    "moz_arena_realloc",
    "moz_arena_memalign",
    "moz_arena_strdup",
    "moz_arena_strndup",
    "replace_malloc",
    "replace_calloc",
    "replace_realloc",
    "replace_memalign",
    "replace_posix_memalign",
    "replace_aligned_alloc",
    "replace_valloc",
    "replace_strdup",
    "replace_strndup",
    "replace_moz_arena_malloc",
    "replace_moz_arena_calloc",
    "replace_moz_arena_realloc",
    "replace_moz_arena_memalign",
    "js_malloc",
    "js_calloc",
    "js_realloc",
    "js_arena_malloc",
    "js_arena_calloc",
    "js_arena_realloc",
    "js_pod_malloc",
    "js_pod_calloc",
    "js_pod_realloc",
    "js_pod_arena_malloc",
    "js_pod_arena_calloc",
    "js_pod_arena_realloc",
    "vpx_malloc",
    "vpx_calloc",
    "vpx_memalign",
    "vpx_realloc",
    "aom_malloc",
    "aom_calloc",
    "aom_memalign",
    /* jemalloc */
    "je_malloc",
    "je_calloc",
    "je_realloc",
    "je_memalign",
    "je_aligned_alloc",
    "je_posix_memalign",
    "je_valloc",
    "je_pvalloc",
    "je_mallocx",
    "je_rallocx",
    "mallocx",
    "rallocx",
    "_rjem_malloc",
    "_rjem_calloc",
    "_rjem_realloc",
    "_rjem_memalign",
    "_rjem_aligned_alloc",
    "_rjem_posix_memalign",
    "_rjem_mallocx",
    "_rjem_rallocx",
    /* mimalloc */
    "mi_malloc",
    "mi_calloc",
    "mi_realloc",
    "mi_zalloc",
    "mi_mallocn",
    "mi_reallocn",
    "mi_reallocf",
    "mi_rezalloc",
    "mi_recalloc",
    "mi_malloc_small",
    "mi_zalloc_small",
    "mi_strdup",
    "mi_strndup",
    "mi_malloc_aligned",
    "mi_malloc_aligned_at",
    "mi_zalloc_aligned",
    "mi_zalloc_aligned_at",
    "mi_calloc_aligned",
    "mi_calloc_aligned_at",
    "mi_realloc_aligned",
    "mi_realloc_aligned_at",
    "mi_rezalloc_aligned",
    "mi_recalloc_aligned",
    "mi_heap_malloc",
    "mi_heap_calloc",
    "mi_heap_realloc",
    "mi_heap_zalloc",
    "mi_heap_mallocn",
    "mi_heap_reallocn",
    "mi_heap_malloc_small",
    "mi_heap_malloc_aligned",
    "mi_heap_malloc_aligned_at",
    "mi_heap_zalloc_aligned",
    "mi_heap_calloc_aligned",
    "mi_heap_realloc_aligned",
    "mi_heap_rezalloc",
    "mi_heap_recalloc",
    "mi_heap_strdup",
    "mi_heap_strndup",
    "mi_memalign",
    "mi_posix_memalign",
    "mi_aligned_alloc",
    "mi_valloc",
    "mi_pvalloc",
    "mi_reallocarray",
    "mi_new",
    "mi_new_n",
    "mi_new_nothrow",
    "mi_new_aligned",
    "mi_new_aligned_nothrow",
    "mi_new_realloc",
    "mi_new_reallocn",
    "mi_heap_alloc_new",
    "mi_heap_alloc_new_n",
    /* tcmalloc */
    "tc_malloc",
    "tc_calloc",
    "tc_realloc",
    "tc_memalign",
    "tc_posix_memalign",
    "tc_valloc",
    "tc_pvalloc",
    "tc_new",
    "tc_newarray",
    "tc_new_nothrow",
    "tc_newarray_nothrow",
    "tc_new_aligned",
    "tc_newarray_aligned",
    "tc_new_aligned_nothrow",
    "tc_newarray_aligned_nothrow",
    "tc_malloc_skip_new_handler",
    "TCMallocInternalMalloc",
    "TCMallocInternalCalloc",
    "TCMallocInternalRealloc",
    "TCMallocInternalMemalign",
    "TCMallocInternalAlignedAlloc",
    "TCMallocInternalPosixMemalign",
    "TCMallocInternalNew",
    "TCMallocInternalNewArray",
    /* Rust */
    "__rust_alloc",
    "__rust_alloc_zeroed",
    "__rust_realloc",
    "__rdl_alloc",
    "__rdl_alloc_zeroed",
    "__rdl_realloc",
    "__rg_alloc",
    "__rg_alloc_zeroed",
    "__rg_realloc",
    "__rustc::__rust_alloc",
    "__rustc::__rust_alloc_zeroed",
    "__rustc::__rust_realloc",
    "__rustc::__rdl_alloc",
    "__rustc::__rdl_alloc_zeroed",
    "__rustc::__rdl_realloc",
    /* Go */
    "_cgo_cmalloc",
    "runtime._cgo_cmalloc",
    "runtime.cmalloc",
    "runtime.mallocgc",
    "runtime.newobject",
    "runtime.newarray",
    "runtime.makeslice",
    "runtime.makeslicecopy",
    "runtime.growslice",
    "main._Cfunc__CMalloc",
    /* Node */
    "node::Malloc",
    "node::Calloc",
    "node::Realloc",
    "node::UncheckedMalloc",
    "node::UncheckedCalloc",
    "node::UncheckedRealloc",
    "node::NodeArrayBufferAllocator::Allocate",
    "node::NodeArrayBufferAllocator::AllocateUninitialized",
    "node::NodeArrayBufferAllocator::Reallocate",
    "v8::base::Malloc",
    "v8::base::Calloc",
    "v8::base::Realloc",
    "v8::base::AlignedAlloc",
    "v8::internal::AllocWithRetry",
    "v8::internal::AlignedAllocWithRetry",
    "v8::internal::Malloced::operator new",
    "uv__malloc",
    "uv__calloc",
    "uv__realloc",
    "uv__reallocf",
    "uv__strdup",
    "uv__strndup",
    /* Python */
    "PyMem_Malloc",
    "PyMem_Calloc",
    "PyMem_Realloc",
    "PyMem_RawMalloc",
    "PyMem_RawCalloc",
    "PyMem_RawRealloc",
    "PyObject_Malloc",
    "PyObject_Calloc",
    "PyObject_Realloc",
    "_PyMem_RawMalloc",
    "_PyMem_RawCalloc",
    "_PyMem_RawRealloc",
    "_PyObject_Malloc",
    "_PyObject_Calloc",
    "_PyObject_Realloc",
    "pymalloc_alloc",
    "pymalloc_realloc",
    "allocate_from_new_pool",
    "pymalloc_pool_extend",
    "new_arena",
    "arena_map_get",
    "arena_map_mark_used",
    "_PyObject_ArenaMalloc",
};

/* Methods of Mozilla's policies of allocation. */
static const char *const methods[] = {"pod_malloc", "pod_calloc", "pod_realloc",
    "pod_malloc_with_extra", "pod_calloc_with_extra", "pod_arena_malloc",
    "pod_arena_calloc", "pod_arena_realloc", "maybe_pod_malloc",
    "maybe_pod_calloc", "maybe_pod_realloc", "maybe_pod_arena_malloc",
    "maybe_pod_arena_calloc", "maybe_pod_arena_realloc", "onOutOfMemory",
    "callocCanGC", "reallocCanGC"};

static const char *const owners[] = {
    "js::", "JS::", "mozilla::", "JSRuntime", "JSContext"};

/* All functions whose names begin so. */
static const char *const families[] = {"std::allocator<",
    "std::allocator_traits<", "std::__new_allocator<", "std::__1::allocator<",
    "std::__1::allocator_traits<", "__gnu_cxx::new_allocator<",
    "alloc::alloc::", "<alloc::alloc::Global as ",
    "nsTArrayInfallibleAllocator", "nsTArrayFallibleAllocator"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The end of a function's name: not "malloc_stats" for "malloc". */
static bool is_whole(struct wndl_bytes text, size_t size)
{
    return text.size == size || strchr(" (<[@", text.data[size]) != NULL;
}

static bool is_one_of(
    struct wndl_bytes text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wndl_bytes_start_with(text, list[i]) &&
            is_whole(text, strlen(list[i])))
            return true;
    return false;
}

static bool begins_with_one_of(
    struct wndl_bytes text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wndl_bytes_start_with(text, list[i]))
            return true;
    return false;
}

/*
 * Where the qualified name begins, after the type of the result, and its last
 * part. Blanks and colons within brackets do not count.
 */
static void find_name(struct wndl_bytes frame, size_t *name, size_t *last)
{
    int depth = 0;
    *name = *last = 0;
    for (size_t i = 0; i < frame.size; i++) {
        uint8_t c = frame.data[i];
        if (c == '(' && depth == 0)
            return;
        depth += (c == '<' || c == '(') - (c == '>' || c == ')');
        if (depth != 0)
            continue;
        if (c == ' ')
            *name = *last = i + 1;
        else if (c == ':')
            *last = i + 1;
    }
}

bool wndl_heap_alloc_fn(struct wndl_bytes frame)
{
    size_t name, last;
    if (is_one_of(frame, names, COUNT(names)) ||
        begins_with_one_of(frame, families, COUNT(families)))
        return true;
    find_name(frame, &name, &last);
    struct wndl_bytes own = {frame.data + name, frame.size - name};
    struct wndl_bytes method = {frame.data + last, frame.size - last};
    if (last > name && begins_with_one_of(own, owners, COUNT(owners)))
        return is_one_of(method, methods, COUNT(methods));
    return name != 0 && is_one_of(own, names, COUNT(names));
}
