/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory_count.h: counts what a library allocates, without a change
 * to its sources:
 *
 *     cc -include windlass/memory_count.h -DWNDL_MEMORY_COUNT=zlib_count ...
 *
 * In those sources malloc, calloc, realloc, free, strdup and their kind then
 * keep the counter zlib_count, the sum of the usable sizes of blocks that are
 * theirs. Another source of the program defines it, and reports it:
 *
 *     #include <windlass/memory_counter.h>
 *     struct wndl_memory_counter zlib_count;
 *
 *     wndl_memory_yield_bytes(sink, "explicit/zlib", WNDL_MEMORY_HEAP,
 *         wndl_memory_counter_bytes(&zlib_count), "Blocks of zlib.");
 *
 * A counter is right only if no other part of the program frees blocks of the
 * library, and the library none of others. A reporter that measures is better
 * wherever it can reach the blocks. Blocks of C++'s operator new are not
 * counted, nor calls by a pointer to malloc or free that the library hands on,
 * and no source may have a member or variable of these names that is called,
 * nor call them as std::malloc. Blocks that asprintf(), getline(), realpath(),
 * getcwd() and the like allocate are not counted, but their free() is: with
 * them the counter is too low.
 */
#ifndef WINDLASS_MEMORY_COUNT_H
#define WINDLASS_MEMORY_COUNT_H

#ifndef WNDL_MEMORY_COUNT
#error "define WNDL_MEMORY_COUNT as the name of a struct wndl_memory_counter"
#endif

/* The declarations come before the names change. */
#ifdef __cplusplus
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#endif
#include <malloc.h>
#ifdef __has_include
#if __has_include(<mm_malloc.h>)
#include <mm_malloc.h>
#endif
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/memory_counter.h>

#ifdef __cplusplus
extern "C" struct wndl_memory_counter WNDL_MEMORY_COUNT;
#else
extern struct wndl_memory_counter WNDL_MEMORY_COUNT;
#endif

#define malloc(size) wndl_memory_count_malloc(&WNDL_MEMORY_COUNT, size)
#define calloc(count, size)                                                    \
    wndl_memory_count_calloc(&WNDL_MEMORY_COUNT, count, size)
#define realloc(block, size)                                                   \
    wndl_memory_count_realloc(&WNDL_MEMORY_COUNT, block, size)
#define reallocarray(block, count, size)                                       \
    wndl_memory_count_reallocarray(&WNDL_MEMORY_COUNT, block, count, size)
#define aligned_alloc(alignment, size)                                         \
    wndl_memory_count_aligned(&WNDL_MEMORY_COUNT, alignment, size)
#define posix_memalign(block, alignment, size)                                 \
    wndl_memory_count_memalign(&WNDL_MEMORY_COUNT, block, alignment, size)
#undef strdup
#define strdup(text) wndl_memory_count_strdup(&WNDL_MEMORY_COUNT, text)
#undef strndup
#define strndup(text, size)                                                    \
    wndl_memory_count_strndup(&WNDL_MEMORY_COUNT, text, size)
#define free(block) wndl_memory_count_free(&WNDL_MEMORY_COUNT, block)

#endif
