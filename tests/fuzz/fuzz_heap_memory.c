/* SPDX-License-Identifier: MIT */
/*
 * What a recorded process may have left in the memory of its heap: whatever it
 * is, the recording that comes of it can be read, and has a heap.
 */
#include "collect/process/heap_impl.h"
#include "wndl/read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAIRS = 16, FEW = 8 /* growths and wrong frees */ };

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

static struct wndl_collector_process *new_process(
    struct wndl_recording *r, struct wndl_collector_totals *totals)
{
    const struct wndl_recording_process origin = {.pid = (uint32_t)getpid()};
    const struct wndl_collector_heap_request request = {
        .flags = WNDL_HEAP_ON | WNDL_HEAP_CUMULATIVE | WNDL_HEAP_LEAKS,
        .sites = PAIRS,
        .nodes = WNDL_SHM_NODES,
        .every = 1,
        .at_peaks = true};
    int memfd;
    struct wndl_collector_process *p =
        wndl_collector_process_new(r, totals, &origin, &request, &memfd);
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
        profile.chunks_damaged != 0 || profile.heaps.len != 1)
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
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    wndl_recording_open(&r, fd, &meta);
    struct wndl_collector_process *p = new_process(&r, &totals);
    struct wndl_heap_layout layout = wndl_heap_layout(PAIRS);
    uint8_t *memory = mmap(NULL, layout.size, PROT_READ | PROT_WRITE,
        MAP_SHARED, p->heap->fd, (off_t)wndl_heap_offset(WNDL_SHM_NODES));
    if (memory == MAP_FAILED)
        exit(1);
    (void)wndl_stacktree_insert((void *)p->shm->tree, 0, 0x1000);
    fill(memory, data, size);
    wndl_collector_process_drain(p, false);
    wndl_collector_process_end(p, WNDL_ENDED_EXIT);
    wndl_collector_process_free(p);
    munmap(memory, layout.size);
    if (wndl_recording_close(&r, &done, NULL) != WNDL_OK)
        abort();
    wndl_recording_free(&r);
    check(fd);
    close(fd);
    return 0;
}
