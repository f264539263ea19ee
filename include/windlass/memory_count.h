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
 * and no source may have a member or variable of these names that is called.
 */
#ifndef WINDLASS_MEMORY_COUNT_H
#define WINDLASS_MEMORY_COUNT_H

#ifndef WNDL_MEMORY_COUNT
#error "define WNDL_MEMORY_COUNT as the name of a struct wndl_memory_counter"
#endif

/* All that declares the functions comes before their names change. */
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
