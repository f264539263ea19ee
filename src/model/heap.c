/* SPDX-License-Identifier: MIT */
#include "model/heap.h"

struct wndl_process_heap *wndl_profile_heap(
    struct wndl_profile *p, uint32_t process)
{
    struct wndl_process_heap *heap = wndl_vec_push(&p->heaps);
    if (heap == NULL)
        return NULL;
    struct wndl_arena *arena = &p->arena;
    heap->process = process;
    heap->kept = WNDL_NO_INDEX;
    wndl_vec_init(&heap->sites, arena, sizeof(struct wndl_alloc_site));
    wndl_vec_init(&heap->tags, arena, sizeof(struct wndl_alloc_tag));
    wndl_vec_init(&heap->moments, arena, sizeof(struct wndl_heap_moment));
    wndl_vec_init(&heap->memory, arena, sizeof(struct wndl_heap_memory));
    wndl_vec_init(&heap->places, arena, sizeof(struct wndl_heap_place));
    wndl_vec_init(&heap->snapshots, arena, sizeof(struct wndl_heap_snapshot));
    wndl_vec_init(&heap->counts, arena, sizeof(struct wndl_alloc_counts));
    wndl_vec_init(&heap->lived, arena, sizeof(struct wndl_alloc_lived));
    wndl_vec_init(&heap->reported, arena, sizeof(struct wndl_alloc_reported));
    wndl_vec_init(&heap->leaks, arena, sizeof(struct wndl_alloc_leaks));
    wndl_vec_init(&heap->growths, arena, sizeof(struct wndl_alloc_growth));
    wndl_vec_init(&heap->wrongs, arena, sizeof(struct wndl_alloc_wrong));
    wndl_vec_init(&heap->together, arena, sizeof(struct wndl_alloc_together));
    wndl_vec_init(&heap->scan, arena, sizeof(uint8_t));
    wndl_vec_init(&heap->scan_sites, arena, sizeof(uint32_t));
    wndl_vec_init(&heap->scan_nodes, arena, sizeof(uint32_t));
    wndl_vec_init(&heap->contents, arena, sizeof(struct wndl_bytes));
    wndl_vec_init(&heap->contents_read, arena, sizeof(struct wndl_bytes));
    return heap;
}

const struct wndl_heap_snapshot *wndl_heap_kept(
    const struct wndl_process_heap *heap)
{
    return heap->kept == WNDL_NO_INDEX
               ? NULL
               : wndl_vec_at(&heap->snapshots, heap->kept);
}

bool wndl_heap_knows_lived(
    const struct wndl_process_heap *heap, uint32_t snapshot)
{
    const struct wndl_heap_snapshot *s =
        wndl_vec_at(&heap->snapshots, snapshot);
    if (s->cut || heap->lived_step == 0)
        return false;
    return snapshot == heap->kept || snapshot % heap->lived_step == 0;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

void wndl_heap_memory_divide(
    const struct wndl_heap_memory *memory, uint64_t parts[WNDL_RESIDENT_PARTS])
{
    const uint64_t *resident = memory->sum.resident;
    const uint64_t arenas = resident[WNDL_MEMORY_HEAP];
    const uint64_t mapped = resident[WNDL_MEMORY_MAPPED];
    const uint64_t alone =
        at_most(at_most(memory->live_mapped, memory->live), mapped);
    const uint64_t rest =
        memory->live - at_most(memory->live_mapped, memory->live);
    const uint64_t inside = at_most(rest, arenas);
    const uint64_t elsewhere = at_most(rest - inside, mapped - alone);
    parts[WNDL_RESIDENT_LIVE] = alone + inside + elsewhere;
    parts[WNDL_RESIDENT_KEPT] = arenas - inside;
    parts[WNDL_RESIDENT_MAPPED] = mapped - alone - elsewhere;
    parts[WNDL_RESIDENT_STACKS] = resident[WNDL_MEMORY_STACKS];
    parts[WNDL_RESIDENT_CODE] = resident[WNDL_MEMORY_CODE];
    parts[WNDL_RESIDENT_DATA] = resident[WNDL_MEMORY_DATA];
    parts[WNDL_RESIDENT_SHARED] = resident[WNDL_MEMORY_SHARED];
    parts[WNDL_RESIDENT_WINDLASS] = resident[WNDL_MEMORY_WINDLASS];
    parts[WNDL_RESIDENT_OTHER] = resident[WNDL_MEMORY_OTHER];
}

double wndl_alloc_weight(
    const struct wndl_process_heap *heap, const struct wndl_alloc_site *site)
{
    uint64_t size = site->requested == 0 ? 1 : site->requested;
    return size >= heap->sample_below
               ? 1
               : (double)heap->sample_below / (double)size;
}

uint64_t wndl_heap_count(
    const struct wndl_alloc_counts *counts, enum wndl_heap_set set)
{
    switch (set) {
    case WNDL_HEAP_SET_LIVE:
        return wndl_alloc_live(counts);
    case WNDL_HEAP_SET_PEAK:
        return counts->at_peak;
    case WNDL_HEAP_SET_ALL:
        return counts->allocs;
    case WNDL_HEAP_SET_TEMPORARY:
        return counts->temporary;
    case WNDL_HEAP_SETS:
        break;
    }
    return 0;
}

/* A difference of numbers from a file; 0 if the second is larger. */
static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

uint64_t wndl_heap_live_blocks(const struct wndl_heap_snapshot *snapshot)
{
    return less(snapshot->totals[WNDL_HEAP_TOTAL_ALLOCS],
        snapshot->totals[WNDL_HEAP_TOTAL_FREES]);
}

uint64_t wndl_heap_live_bytes(const struct wndl_heap_snapshot *snapshot)
{
    return less(snapshot->totals[WNDL_HEAP_TOTAL_USABLE],
        snapshot->totals[WNDL_HEAP_TOTAL_USABLE_FREED]);
}

const char *wndl_heap_missed_text(unsigned reason)
{
    static const char *const texts[WNDL_HEAP_MISSED_REASONS] = {
        "made while the recorder was busy or had to pause",
        "too many different sites and sizes",
        "too many different stacks",
        "no memory to remember them",
        "too many threads",
        "another reason",
    };
    return texts[reason < WNDL_HEAP_MISSED_OTHER ? reason
                                                 : WNDL_HEAP_MISSED_OTHER];
}

const char *wndl_snapshot_trigger_text(unsigned why)
{
    static const char *const texts[WNDL_SNAPSHOT_TRIGGERS] = {
        "when the process ended",
        "asked for by windlass ctl",
        "asked for by the program",
        "by --snapshot-every",
        "at a new peak",
        "when the recording was stopped",
        "for another reason",
    };
    return texts[why < WNDL_SNAPSHOT_OTHER ? why : WNDL_SNAPSHOT_OTHER];
}
