/* SPDX-License-Identifier: MIT */
/*
 * What a recorded process may have left in the memory that it shares with the
 * collector: whatever it is, the recording that comes of it can be read, and
 * has one process.
 */
#include "fuzz_recording.h"

enum { FEW = 4 /* modules, nodes, rings */, TEXT = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t deal_byte(struct dealer *d)
{
    uint8_t byte = 0;
    deal(d, &byte, 1);
    return byte;
}

static void deal_nodes(struct dealer *d, struct wndl_shm *shm)
{
    uint32_t node = 0;
    for (int i = 0; i < FEW; i++) {
        uint64_t key = 0;
        deal(d, &key, sizeof key);
        uint32_t parent = deal_byte(d) % 2 == 0 ? node : 0;
        node = wndl_stacktree_insert((void *)shm->tree, parent, key | 1);
    }
}

/* A ring has a size, its bytes, and sometimes a position of its own. */
static void deal_ring(struct dealer *d, struct wndl_shm *shm, uint32_t slot)
{
    uint8_t bytes[UINT8_MAX];
    size_t size = deal_byte(d);
    size = size < d->size ? size : d->size;
    deal(d, bytes, size);
    atomic_fetch_or(&shm->ring_used[0], UINT64_C(1) << slot);
    (void)wndl_ring_put(&shm->rings[slot], bytes, size);
    uint8_t shift = deal_byte(d);
    if (shift >= 128)
        atomic_store(&shm->rings[slot].head, UINT64_C(1) << (shift - 128) % 64);
}

static void deal_block(struct dealer *d, struct wndl_shm *shm)
{
    atomic_store(&shm->module_count,
        deal_byte(d) * UINT32_C(0x01010101) >> deal_byte(d) % 32);
    deal(d, shm->modules, FEW * sizeof shm->modules[0]);
    deal(d, shm->strings, TEXT);
    deal_nodes(d, shm);
    deal(d, (void *)shm->lost, sizeof shm->lost);
    for (uint32_t slot = 0; slot < FEW; slot++)
        deal_ring(d, shm, slot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct wndl_collector_heap_request none = {0};
    struct dealer d = {data, size};
    struct wndl_profile profile;
    struct fuzzed f;
    begin_recording(&f, &none);
    deal_block(&d, f.process->shm);
    wndl_collector_process_drain(f.process, false);
    deal_block(&d, f.process->shm);
    wndl_collector_process_drain(f.process, false);
    end_recording(&f, &profile);
    if (profile.processes.len != 1)
        abort();
    wndl_profile_free(&profile);
    return 0;
}
