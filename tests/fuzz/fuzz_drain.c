/* SPDX-License-Identifier: MIT */
/*
 * What a recorded process may have left in the memory that it shares with the
 * collector: whatever it is, the recording that comes of it can be read, and
 * has one process.
 */
#include "collect/process/process.h"
#include "wndl/read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FEW = 4 /* modules, nodes, rings */, TEXT = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rest of the input, dealt out to the tables. */
struct dealer {
    const uint8_t *data;
    size_t size;
};

static void deal(struct dealer *d, void *to, size_t size)
{
    size_t n = size < d->size ? size : d->size;
    if (n != 0)
        memcpy(to, d->data, n);
    d->data += n;
    d->size -= n;
}

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

static struct wndl_collector_process *new_process(
    struct wndl_recording *r, struct wndl_collector_totals *totals)
{
    const struct wndl_recording_process origin = {.pid = (uint32_t)getpid()};
    const struct wndl_collector_heap_request none = {0};
    int memfd;
    struct wndl_collector_process *p =
        wndl_collector_process_new(r, totals, &origin, &none, &memfd);
    if (p == NULL)
        exit(1);
    wndl_collector_process_announce(p, &origin);
    close(memfd);
    return p;
}

static void check(int fd)
{
    struct wndl_profile profile;
    off_t size = lseek(fd, 0, SEEK_END);
    void *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED || !wndl_profile_init(&profile, wndl_mem_libc()))
        exit(1);
    const struct wndl_bytes file = {bytes, (size_t)size};
    if (wndl_reader_read(&profile, file, NULL) != WNDL_OK ||
        profile.chunks_damaged != 0 || profile.processes.len != 1)
        abort();
    wndl_profile_free(&profile);
    munmap(bytes, (size_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char command[] = "fuzz";
    char *list[] = {command, NULL};
    const struct wndl_recording_meta meta = {.command = list};
    const struct wndl_recording_done done = {.processes = 1};
    struct wndl_recording r;
    struct wndl_collector_totals totals = {0};
    struct dealer d = {data, size};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    wndl_recording_open(&r, fd, &meta);
    struct wndl_collector_process *p = new_process(&r, &totals);
    deal_block(&d, p->shm);
    wndl_collector_process_drain(p, false);
    deal_block(&d, p->shm);
    wndl_collector_process_drain(p, false);
    wndl_collector_process_end(p, WNDL_ENDED_EXIT);
    wndl_collector_process_free(p);
    if (wndl_recording_close(&r, &done, NULL) != WNDL_OK)
        abort();
    wndl_recording_free(&r);
    check(fd);
    close(fd);
    return 0;
}
