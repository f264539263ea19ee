/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory_heap.h: what the allocator knows of the heap, below
 * windlass/memory.h. Include that one.
 *
 * glibc counts a block with its header, and blocks in the caches of threads as
 * allocated. How many there are is estimated: the chunks of the first arena are
 * walked, in copies, and what is so found is taken for all arenas.
 */
#ifndef WINDLASS_MEMORY_HEAP_H
#define WINDLASS_MEMORY_HEAP_H

#include <windlass/memory_put.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Private: glibc's struct mallinfo2. */
struct wndl_memory_mallinfo {
    size_t arena, ordblks, smblks, hblks, hblkhd;
    size_t usmblks, fsmblks, uordblks, fordblks, keepcost;
};

/* Private: functions of allocators, where there are any. */
extern struct wndl_memory_mallinfo wndl_memory_mallinfo2(void) __asm__(
    "mallinfo2") __attribute__((weak));
/* Private. */
extern int wndl_memory_mallctl(const char *name, void *old, size_t *old_size,
    void *value, size_t size) __asm__("mallctl") __attribute__((weak));
/* Private. */
extern int wndl_memory_tcmalloc(const char *name, size_t *value) __asm__(
    "MallocExtension_GetNumericProperty") __attribute__((weak));
/* Private. */
extern void wndl_memory_mimalloc(size_t *elapsed, size_t *user, size_t *system,
    size_t *rss, size_t *peak_rss, size_t *commit, size_t *peak_commit,
    size_t *faults) __asm__("mi_process_info") __attribute__((weak));
/* Private. */
extern size_t wndl_memory_malloc_usable_size(void *block) __asm__(
    "malloc_usable_size") __attribute__((weak));

/* Private. */
static inline size_t wndl_memory_usable(const void *block)
{
    return block == NULL || wndl_memory_malloc_usable_size == NULL
               ? 0
               : wndl_memory_malloc_usable_size((void *)(uintptr_t)block);
}

/* Private: bytes of the heap. */
struct wndl_memory_heap {
    int64_t allocated;
    int64_t unused;      /* free, for later blocks */
    int64_t bookkeeping; /* of the allocator itself */
    int64_t caches;      /* free, for one thread */
    int is_estimated;
};

/* ---- glibc: the chunks of the first arena */

/* Private: chunks in use. */
struct wndl_memory_chunks {
    uint64_t count;
    uint64_t bytes;
    uint64_t cached; /* those of them in the cache of the first thread */
    uint64_t cached_bytes;
};

/* Private: a copy of a part of the heap. */
struct wndl_memory_window {
    size_t start;
    size_t size;
    size_t words[4096 / sizeof(size_t)];
};

/*
 * Private: reads a word of the own memory; 0 if it is gone. The allocator may
 * change it meanwhile.
 */
static inline int wndl_memory_peek(
    struct wndl_memory_window *window, size_t at, size_t *value)
{
    struct {
        const void *base;
        size_t size;
    } from, to;
    if (at < window->start ||
        at - window->start + sizeof *value > window->size) {
        const long self = wndl_memlog_call(SYS_getpid);
        long got;
        from.base = (const void *)(uintptr_t)at;
        to.base = window->words;
        to.size = sizeof window->words;
        from.size = 4096 - at % 4096; /* the page after it may be gone */
        got = wndl_memlog_call(
            SYS_process_vm_readv, self, &to, 1L, &from, 1L, 0L);
        window->start = at;
        window->size = got < 0 ? 0 : (size_t)got;
        if (window->size < sizeof *value)
            return 0;
    }
    memcpy(value, (const char *)window->words + (at - window->start),
        sizeof *value);
    return 1;
}

/*
 * Private: adds what a thread's cache holds, if the chunk at `at` is one of
 * glibc 2.30 or later: 64 counts and 64 lists, of chunks of 32 bytes and more.
 */
static inline void wndl_memory_add_cache(struct wndl_memory_window *window,
    size_t at, struct wndl_memory_chunks *sum)
{
    enum { LISTS = 64, MOST = 127, LEAST = 32, STEP = 16 };
    uint64_t count = 0;
    uint64_t bytes = 0;
    unsigned i;
    for (i = 0; i < LISTS; i++) {
        size_t four = 0; /* counts */
        size_t list = 0;
        unsigned held;
        if (!wndl_memory_peek(window, at + 16 + i / 4 * 8, &four) ||
            !wndl_memory_peek(window, at + 16 + 2 * LISTS + i * 8, &list))
            return;
        held = (unsigned)(four >> (i % 4 * 16) & 0xffff);
        if (held > MOST || (held == 0) != (list == 0) || list % STEP != 0)
            return;
        count += held;
        bytes += (uint64_t)held * (LEAST + i * STEP);
    }
    sum->cached += count;
    sum->cached_bytes += bytes;
}

/*
 * Private: where the first chunk is: the cache of the first thread, as a rule
 * at the start. Static programs have their thread-local storage before it.
 */
static inline size_t wndl_memory_first_chunk(size_t start, size_t end)
{
    enum { WORD = sizeof(size_t), CACHE = 0x291, FARTHEST = 65536 };
    struct wndl_memory_window window = {0, 0, {0}};
    size_t size = 0;
    size_t at;
    for (at = start; at < end && at - start < FARTHEST; at += 2 * WORD) {
        if (!wndl_memory_peek(&window, at + WORD, &size))
            break;
        if (size == CACHE)
            return at;
    }
    return start;
}

/* Private: walks the chunks of [at, end), of which the first 32 MiB. */
static inline void wndl_memory_walk(
    size_t at, size_t end, struct wndl_memory_chunks *sum)
{
    enum { WORD = sizeof(size_t), CACHE = 0x290, MOST = 32 << 20 };
    struct wndl_memory_window here = {0, 0, {0}};
    struct wndl_memory_window lists = {0, 0, {0}};
    const size_t last = end - at < MOST ? end : at + MOST;
    size_t size = 0;
    size_t next = 0;
    memset(sum, 0, sizeof *sum);
    while (at < last && wndl_memory_peek(&here, at + WORD, &size)) {
        size &= ~(size_t)7;
        if (size < 4 * WORD || size % (2 * WORD) != 0 ||
            size > end - at - 2 * WORD ||
            !wndl_memory_peek(&here, at + size + WORD, &next))
            return;
        if ((next & 1) != 0) { /* the chunk before it is in use */
            sum->count++;
            sum->bytes += size;
            if (WORD == 8 && size == CACHE)
                wndl_memory_add_cache(&lists, at, sum);
        }
        at += size;
    }
}

/* Private. */
static inline int wndl_memory_ask_glibc(
    struct wndl_memory_heap *heap, size_t start, size_t end)
{
    const int64_t word = (int64_t)sizeof(size_t);
    struct wndl_memory_mallinfo info;
    struct wndl_memory_chunks chunks = {0, 0, 0, 0};
    double headers = 0; /* bytes of them, for a byte of chunks */
    int64_t large;
    if (wndl_memory_mallinfo2 == NULL)
        return 0;
    info = wndl_memory_mallinfo2();
    if (start < end)
        wndl_memory_walk(wndl_memory_first_chunk(start, end), end, &chunks);
    if (chunks.bytes != 0)
        headers =
            (double)((uint64_t)word * chunks.count) / (double)chunks.bytes;
    large = 2 * word * (int64_t)info.hblks;
    heap->is_estimated = 1;
    heap->unused = (int64_t)info.fordblks;
    heap->caches = (int64_t)chunks.cached_bytes - word * (int64_t)chunks.cached;
    heap->bookkeeping = (int64_t)((double)info.uordblks * headers) + large;
    heap->allocated = (int64_t)info.uordblks + (int64_t)info.hblkhd -
                      heap->bookkeeping - heap->caches;
    return info.uordblks + info.hblkhd != 0;
}

/* ---- other allocators */

/* Private: a number of jemalloc; -1 if it has none. */
static inline int64_t wndl_memory_jemalloc(const char *name)
{
    size_t value = 0;
    size_t size = sizeof value;
    return wndl_memory_mallctl(name, &value, &size, NULL, 0) == 0
               ? (int64_t)value
               : -1;
}

/* Private. */
static inline int wndl_memory_ask_jemalloc(struct wndl_memory_heap *heap)
{
    uint64_t epoch = 1;
    int64_t active;
    if (wndl_memory_mallctl == NULL ||
        wndl_memory_mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) != 0)
        return 0;
    heap->allocated = wndl_memory_jemalloc("stats.allocated");
    active = wndl_memory_jemalloc("stats.active");
    heap->bookkeeping = wndl_memory_jemalloc("stats.metadata");
    if (heap->allocated < 0 || active < 0 || heap->bookkeeping < 0)
        return 0;
    heap->unused = active - heap->allocated;
    return 1;
}

/* Private. */
static inline int wndl_memory_ask_tcmalloc(struct wndl_memory_heap *heap)
{
    size_t used = 0;
    size_t all = 0;
    size_t unmapped = 0;
    if (wndl_memory_tcmalloc == NULL ||
        !wndl_memory_tcmalloc("generic.current_allocated_bytes", &used) ||
        !wndl_memory_tcmalloc("generic.heap_size", &all) ||
        !wndl_memory_tcmalloc("tcmalloc.pageheap_unmapped_bytes", &unmapped))
        return 0;
    heap->allocated = (int64_t)used;
    heap->unused = (int64_t)(all - unmapped - used);
    return 1;
}

/* Private: all that mimalloc says. 0: it is not there. */
static inline int wndl_memory_put_mimalloc(struct wndl_memory_sink *sink)
{
    size_t n[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (wndl_memory_mimalloc == NULL)
        return 0;
    wndl_memory_mimalloc(
        &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]);
    wndl_memory_put_bytes(sink, "heap-committed", WNDL_MEMORY_OTHER,
        (int64_t)n[5],
        "Memory that mimalloc has committed. It does not say how much of it "
        "is in blocks, so what is unclassified is not known.");
    return 1;
}

/* ---- the reports */

/* Private: a report of the heap, or a part of its overhead. */
static inline void wndl_memory_put_heap_part(struct wndl_memory_sink *sink,
    int is_estimated, const char *path, int64_t amount, const char *description)
{
    struct wndl_memory_report report = {
        path, WNDL_MEMORY_NONHEAP, WNDL_MEMORY_BYTES, amount, description, 0};
    if (strncmp(path, "explicit/", 9) != 0)
        report.kind = WNDL_MEMORY_OTHER;
    if (is_estimated)
        report.marks = WNDL_MEMORY_ESTIMATED;
    if (amount != 0)
        wndl_memory_put(sink, &report);
}

/*
 * Private: [start, end) is the memory before the program's break; `recorded`
 * are the usable bytes of all blocks, or -1.
 */
static inline void wndl_memory_put_heap(
    struct wndl_memory_sink *sink, size_t start, size_t end, int64_t recorded)
{
    struct wndl_memory_heap heap;
    memset(&heap, 0, sizeof heap);
    if (!wndl_memory_ask_jemalloc(&heap) && !wndl_memory_ask_tcmalloc(&heap) &&
        (wndl_memory_put_mimalloc(sink) ||
            !wndl_memory_ask_glibc(&heap, start, end)))
        memset(&heap, 0, sizeof heap); /* they are left out */
    wndl_memory_put_heap_part(sink, recorded < 0 && heap.is_estimated,
        "heap-allocated", recorded < 0 ? heap.allocated : recorded,
        "Usable bytes of all blocks of the heap.");
    wndl_memory_put_heap_part(sink, heap.is_estimated,
        "explicit/heap-overhead/unused", heap.unused,
        "Memory of the allocator that is in no block.");
    wndl_memory_put_heap_part(sink, heap.is_estimated,
        "explicit/heap-overhead/bookkeeping", heap.bookkeeping,
        "Headers and tables of the allocator.");
    wndl_memory_put_heap_part(sink, heap.is_estimated,
        "explicit/heap-overhead/thread-caches", heap.caches,
        "Free blocks that the allocator keeps for one thread.");
}

#ifdef __cplusplus
}
#endif

#endif
