/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory_counter.h: an allocator that counts, for libraries that take
 * one, and for windlass/memory_count.h. Nothing is linked.
 *
 *     static struct wndl_memory_counter blocks;
 *     WNDL_MEMORY_COUNTING(codec, blocks)
 *
 *     codec_init(codec_malloc, codec_realloc, codec_free);
 *
 * The counter is the sum of usable sizes, which is what the heap holds. Any
 * thread may use it; no function changes errno but as malloc does.
 */
#ifndef WINDLASS_MEMORY_COUNTER_H
#define WINDLASS_MEMORY_COUNTER_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Live bytes and blocks. Zero at first. */
struct wndl_memory_counter {
    int64_t bytes;
    int64_t blocks;
};

/* Private. */
extern size_t wndl_memory_counter_usable(void *block) __asm__(
    "malloc_usable_size");
/* Private: declared whatever standard the source is compiled for. */
extern int wndl_memory_counter_memalign(
    void **block, size_t alignment, size_t size) __asm__("posix_memalign");

/* The live bytes of a counter, as a reporter reports them. */
static inline int64_t wndl_memory_counter_bytes(
    const struct wndl_memory_counter *counter)
{
    return __atomic_load_n(&counter->bytes, __ATOMIC_RELAXED);
}

/* The live blocks of a counter. */
static inline int64_t wndl_memory_counter_blocks(
    const struct wndl_memory_counter *counter)
{
    return __atomic_load_n(&counter->blocks, __ATOMIC_RELAXED);
}

/* Private: counts a block, or with `sign` -1 its end. Returns it. */
static inline void *wndl_memory_counter_add(
    struct wndl_memory_counter *counter, void *block, int sign)
{
    if (block != NULL) {
        __atomic_fetch_add(&counter->bytes,
            sign * (int64_t)wndl_memory_counter_usable(block),
            __ATOMIC_RELAXED);
        __atomic_fetch_add(&counter->blocks, sign, __ATOMIC_RELAXED);
    }
    return block;
}

/* malloc(), counted. */
static inline void *wndl_memory_count_malloc(
    struct wndl_memory_counter *counter, size_t size)
{
    return wndl_memory_counter_add(counter, malloc(size), 1);
}

/* calloc(), counted. */
static inline void *wndl_memory_count_calloc(
    struct wndl_memory_counter *counter, size_t count, size_t size)
{
    return wndl_memory_counter_add(counter, calloc(count, size), 1);
}

/* free(), counted. */
static inline void wndl_memory_count_free(
    struct wndl_memory_counter *counter, void *block)
{
    wndl_memory_counter_add(counter, block, -1);
    free(block);
}

/* realloc(), counted. If it fails, the old block stays counted. */
static inline void *wndl_memory_count_realloc(
    struct wndl_memory_counter *counter, void *block, size_t size)
{
    const int64_t before =
        block == NULL ? 0 : (int64_t)wndl_memory_counter_usable(block);
    const int was_block = block != NULL;
    void *moved = realloc(block, size);
    if (moved != NULL || (was_block && size == 0)) { /* which frees it */
        __atomic_fetch_sub(&counter->bytes, before, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&counter->blocks, was_block, __ATOMIC_RELAXED);
    }
    return wndl_memory_counter_add(counter, moved, 1);
}

/* reallocarray(), counted. */
static inline void *wndl_memory_count_reallocarray(
    struct wndl_memory_counter *counter, void *block, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return wndl_memory_count_realloc(counter, block, count * size);
}

/* posix_memalign(), counted. */
static inline int wndl_memory_count_memalign(
    struct wndl_memory_counter *counter, void **block, size_t alignment,
    size_t size)
{
    const int result = wndl_memory_counter_memalign(block, alignment, size);
    if (result == 0)
        wndl_memory_counter_add(counter, *block, 1);
    return result;
}

/* aligned_alloc(), counted. */
static inline void *wndl_memory_count_aligned(
    struct wndl_memory_counter *counter, size_t alignment, size_t size)
{
    void *block = NULL;
    int result;
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    result = wndl_memory_count_memalign(counter, &block, alignment, size);
    if (result != 0)
        errno = result;
    return result == 0 ? block : NULL;
}

/* strndup(), counted. */
static inline char *wndl_memory_count_strndup(
    struct wndl_memory_counter *counter, const char *text, size_t size)
{
    const char *end = (const char *)memchr(text, '\0', size);
    const size_t length = end == NULL ? size : (size_t)(end - text);
    char *copy = (char *)wndl_memory_count_malloc(counter, length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

/* strdup(), counted. */
static inline char *wndl_memory_count_strdup(
    struct wndl_memory_counter *counter, const char *text)
{
    return wndl_memory_count_strndup(counter, text, strlen(text));
}

#ifdef __cplusplus
}
#endif

/*
 * Defines NAME_malloc, NAME_calloc, NAME_realloc and NAME_free, static
 * functions with the counter `counter`.
 */
#define WNDL_MEMORY_COUNTING(name, counter)                                    \
    static inline void *name##_malloc(size_t size)                             \
    {                                                                          \
        return wndl_memory_count_malloc(&(counter), size);                     \
    }                                                                          \
    static inline void *name##_calloc(size_t count, size_t size)               \
    {                                                                          \
        return wndl_memory_count_calloc(&(counter), count, size);              \
    }                                                                          \
    static inline void *name##_realloc(void *block, size_t size)               \
    {                                                                          \
        return wndl_memory_count_realloc(&(counter), block, size);             \
    }                                                                          \
    static inline void name##_free(void *block)                                \
    {                                                                          \
        wndl_memory_count_free(&(counter), block);                             \
    }

#endif
