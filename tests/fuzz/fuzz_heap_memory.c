/* SPDX-License-Identifier: MIT */
/*
 * What a recorded process may have left in the memory of its heap: whatever it
 * is, the recording that comes of it can be read, and has a heap.
 */
#include "collect/process/heap_impl.h"
#include "fuzz_recording.h"

enum { PAIRS = 16, FEW = 8 /* growths and wrong frees */ };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(uint8_t *memory, const uint8_t *data, size_t size)
{
    struct wndl_heap *head = (void *)memory;
    struct wndl_heap_layout layout = wndl_heap_layout(PAIRS);
    struct dealer d = {data, size};
    size_t stripe = wndl_round_up_page(PAIRS * sizeof(struct wndl_heap_count));
    deal(&d, memory + layout.sites, PAIRS * sizeof(struct wndl_heap_site));
    for (size_t i = 0; i < 2; i++)
        deal(&d, memory + layout.counts + i * stripe,
            PAIRS * sizeof(struct wndl_heap_count));
    deal(&d, head->stripe, 2 * sizeof head->stripe[0]);
    deal(&d, memory + offsetof(struct wndl_heap, start_tsc),
        offsetof(struct wndl_heap, stripe) -
            offsetof(struct wndl_heap, start_tsc));
    deal(&d, memory + layout.leaks, PAIRS * sizeof(struct wndl_heap_leaks));
    deal(&d, head->growths, FEW * sizeof head->growths[0]);
    deal(&d, head->wrongs, FEW * sizeof head->wrongs[0]);
    head->start_time |= 1; /* it has begun */
}

/* The process's own view of its heap's part. */
static uint8_t *map_heap(const struct fuzzed *f, size_t size)
{
    uint8_t *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
        f->process->heap->fd, (off_t)wndl_heap_offset(WNDL_SHM_NODES));
    if (memory == MAP_FAILED)
        exit(1);
    return memory;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct wndl_collector_heap_request request = {
        .flags = WNDL_HEAP_ON | WNDL_HEAP_CUMULATIVE | WNDL_HEAP_LEAKS,
        .sites = PAIRS,
        .nodes = WNDL_SHM_NODES,
        .every = 1,
        .at_peaks = true};
    const size_t heap_size = wndl_heap_layout(PAIRS).size;
    struct wndl_profile profile;
    struct fuzzed f;
    begin_recording(&f, &request);
    uint8_t *memory = map_heap(&f, heap_size);
    (void)wndl_stacktree_insert((void *)f.process->shm->tree, 0, 0x1000);
    fill(memory, data, size);
    wndl_collector_process_drain(f.process, false);
    end_recording(&f, &profile);
    munmap(memory, heap_size);
    if (profile.heaps.len != 1)
        abort();
    wndl_profile_free(&profile);
    return 0;
}
