/* SPDX-License-Identifier: MIT */
/*
 * All memory of a process whose heap is recorded. While it runs, the kernel's
 * account is read from outside, with at most a hundredth of a CPU, or a tenth
 * while the process becomes larger than ever; at its end the process has read
 * it itself (rec/heap.h).
 */
#include "collect/process/heap_impl.h"

#include "collect/memory/usage.h"
#include "os/clock.h"
#include "os/memory_places.h"

#include <stdio.h>

enum {
    SHARE = 100, /* one part of the time is spent here */
    SHARE_GROWING = 10,
    GROWTH_PARTS = 20, /* growth by 5 % matters */
    ROOM = 8 * 1024,   /* for lines with paths of PATH_MAX */
};

#define AT_LEAST UINT64_C(90000000) /* ns between two, a bit less than drains */

/* ---- blocks in mappings of their own */

/*
 * glibc maps large blocks one by one: whole pages, of which two words are a
 * header. 32-bit programs have smaller words; there such blocks count as the
 * others.
 */
static bool is_mapped_alone(const struct wndl_heap_site *site)
{
    enum { PAGE = 4096, HEADER = 16, LEAST = 128 * 1024 };
    const uint64_t usable = site->usable - 1;
    return usable >= LEAST && (usable + HEADER) % PAGE == 0;
}

/* Sites whose sums do not matter are most of them. */
static bool has_mapped(
    const struct wndl_collector_heap *heap, struct wndl_heap_part *part)
{
    bool has = false;
    wndl_heap_read(heap,
        heap->layout.sites + (size_t)part->first * sizeof part->sites[0],
        part->sites, (size_t)part->count * sizeof part->sites[0]);
    for (uint32_t i = 0; i < part->count && !has; i++)
        has = part->sites[i].usable != 0 && is_mapped_alone(&part->sites[i]);
    return has;
}

static uint64_t mapped_of_part(const struct wndl_heap_part *part)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        const struct wndl_heap_site *site = &part->sites[i];
        const struct wndl_heap_site_sum *s = &part->sums[i];
        if (site->usable != 0 && is_mapped_alone(site))
            bytes += (s->allocs - s->frees) * (site->usable - 1);
    }
    return bytes;
}

static uint64_t mapped_alone(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part)
{
    uint64_t bytes = 0;
    for (uint32_t first = 0; wndl_heap_next_part(p->heap, first, part);
         first += part->count) {
        if (!has_mapped(p->heap, part))
            continue;
        wndl_heap_sum_part(p, sum, part);
        bytes += mapped_of_part(part);
    }
    return bytes;
}

/* ---- who mapped memory */

/* NULL: no memory, or the table never was as a whole. */
static struct wndl_heap_mapped *read_mapped(
    const struct wndl_collector_heap *heap)
{
    enum { TRIES = 8 };
    struct wndl_mem *mem = wndl_mem_libc();
    struct wndl_heap_mapped *mapped = mem->resize(mem, NULL, sizeof *mapped);
    for (int i = 0; mapped != NULL && i < TRIES; i++) {
        uint32_t after;
        wndl_heap_read(heap, heap->layout.mapped, mapped, sizeof *mapped);
        wndl_heap_read(heap, heap->layout.mapped, &after, sizeof after);
        const uint32_t before = atomic_load(&mapped->changes);
        if (before == after && before % 2 == 0 &&
            mapped->count <= WNDL_HEAP_MAPPINGS &&
            mapped->places_count <= WNDL_HEAP_PLACES)
            return mapped;
    }
    wndl_mem_free(mem, mapped);
    return NULL;
}

static struct wndl_memory_places places_of(struct wndl_heap_mapped *mapped)
{
    return (struct wndl_memory_places){
        .mappings = mapped == NULL ? NULL : mapped->mappings,
        .places = mapped == NULL ? NULL : mapped->places,
        .mapping_count = mapped == NULL ? 0 : mapped->count,
        .most = mapped == NULL ? 0 : WNDL_HEAP_PLACES,
        .count = mapped == NULL ? 0 : mapped->places_count,
    };
}

/* A caller's stack is in the tree before its mapping is in the table. */
static void put_places(
    struct wndl_collector_process *p, const struct wndl_memory_places *places)
{
    wndl_collector_process_take_stacks(p, false);
    const struct wndl_heap_process process = {p->index, p->nodes};
    wndl_recording_places(
        p->recording, &process, places->places, places->count);
}

/* ---- what is written */

static void put(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_recording_memory *memory,
    const struct wndl_memory_places *places)
{
    struct wndl_heap_part *part = wndl_heap_new_part();
    if (part == NULL)
        return;
    memory->process = p->index;
    memory->live = (uint64_t)sum->live_bytes;
    memory->live_mapped = mapped_alone(p, sum, part);
    wndl_heap_free_part(part);
    wndl_recording_memory(p->recording, memory);
    put_places(p, places);
    const uint64_t resident = wndl_memory_resident(&memory->sum);
    p->heap->memory_time = memory->time;
    if (resident > p->heap->memory_most)
        p->heap->memory_most = resident;
}

static bool read_from_outside(
    pid_t pid, struct wndl_memory_sum *sum, struct wndl_memory_places *places)
{
    uint8_t room[ROOM];
    char smaps[32], pagemap[32];
    const struct wndl_memory_files files = {smaps, pagemap};
    snprintf(smaps, sizeof smaps, "/proc/%d/smaps", (int)pid);
    snprintf(pagemap, sizeof pagemap, "/proc/%d/pagemap", (int)pid);
    return wndl_memory_places_fill(
               &files, (struct wndl_bytes){room, sizeof room}, sum, places) &&
           wndl_memory_resident(sum) != 0;
}

static bool is_larger_than_ever(const struct wndl_collector_process *p)
{
    const uint64_t most = p->heap->memory_most;
    struct wndl_usage usage;
    return wndl_usage_read(p->pid, &usage) &&
           usage.resident > most + most / GROWTH_PARTS;
}

static bool is_due(const struct wndl_collector_process *p, uint64_t now)
{
    const uint64_t since = now - p->heap->memory_time;
    const uint64_t cost = p->heap->memory_cost;
    if (atomic_load(&p->heap->head->memory_time) != 0 || since < AT_LEAST ||
        since < cost * SHARE_GROWING)
        return false;
    return since >= cost * SHARE || is_larger_than_ever(p);
}

void wndl_heap_see_to_memory(
    struct wndl_collector_process *p, const struct wndl_heap_sum *sum)
{
    struct wndl_recording_memory memory = {.time = wndl_clock_monotonic_ns()};
    if (!is_due(p, memory.time))
        return;
    const uint64_t before = wndl_clock_thread_cpu_ns();
    struct wndl_heap_mapped *mapped = read_mapped(p->heap);
    struct wndl_memory_places places = places_of(mapped);
    if (read_from_outside(p->pid, &memory.sum, &places))
        put(p, sum, &memory, &places);
    wndl_mem_free(wndl_mem_libc(), mapped);
    p->heap->memory_time = memory.time;
    p->heap->memory_cost = wndl_clock_thread_cpu_ns() - before;
}

void wndl_heap_end_memory(
    struct wndl_collector_process *p, const struct wndl_heap_sum *sum)
{
    const struct wndl_heap *head = p->heap->head;
    struct wndl_recording_memory memory = {
        .time = atomic_load(&head->memory_time)};
    if (memory.time == 0)
        return;
    if (memory.time < p->heap->memory_time)
        memory.time = p->heap->memory_time;
    memory.sum = head->memory;
    struct wndl_heap_mapped *mapped = read_mapped(p->heap);
    const struct wndl_memory_places places = places_of(mapped);
    put(p, sum, &memory, &places);
    wndl_mem_free(wndl_mem_libc(), mapped);
}
