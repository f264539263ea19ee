/* SPDX-License-Identifier: MIT */
/* heap_head: the memory of a heap: its header, which is mapped, and its tables,
 * which are read. */
#include "collect/process/heap_impl.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The header up to the tables is mapped; the tables are read. */
static const size_t mapped = 4096;

_Static_assert(offsetof(struct wndl_heap, growths) <= 4096,
    "the fields that are read often are in the mapped page");

struct wndl_collector_heap *wndl_collector_heap_new(
    const struct wndl_collector_heap_request *request, int memfd)
{
    struct wndl_collector_heap *heap =
        wndl_mem_zalloc(wndl_mem_libc(), sizeof *heap);
    if (heap == NULL)
        return NULL;
    heap->request = *request;
    heap->layout = wndl_heap_layout(request->sites);
    heap->next = wndl_clock_monotonic_ns() + request->every;
    heap->fd = fcntl(memfd, F_DUPFD_CLOEXEC, 0);
    void *head = heap->fd < 0
                     ? MAP_FAILED
                     : mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED,
                           memfd, (off_t)wndl_heap_offset(request->nodes));
    heap->head = head == MAP_FAILED ? NULL : head;
    if (heap->head == NULL) {
        int why = errno;
        wndl_collector_heap_free(heap);
        errno = why;
        return NULL;
    }
    return heap;
}

void wndl_collector_heap_prepare(struct wndl_collector_heap *heap)
{
    const struct wndl_collector_heap_request *r = &heap->request;
    wndl_heap_begin(heap->head, r->sites, r->flags, r->sample_below);
}

void wndl_collector_heap_free(struct wndl_collector_heap *heap)
{
    if (heap == NULL)
        return;
    if (heap->head != NULL)
        munmap(heap->head, mapped);
    if (heap->fd >= 0)
        close(heap->fd);
    wndl_mem_free(wndl_mem_libc(), heap);
}

bool wndl_heap_is_untouched(
    const struct wndl_collector_heap *heap, size_t offset, size_t size)
{
    const off_t at = (off_t)(wndl_heap_offset(heap->request.nodes) + offset);
    const off_t data = lseek(heap->fd, at, SEEK_DATA);
    return data < 0 ? errno == ENXIO : data >= at + (off_t)size;
}

void wndl_heap_read(const struct wndl_collector_heap *heap, size_t offset,
    void *to, size_t size)
{
    uint8_t *bytes = to;
    off_t at = (off_t)(wndl_heap_offset(heap->request.nodes) + offset);
    size_t done = 0;
    while (done < size) {
        ssize_t n =
            pread(heap->fd, bytes + done, size - done, at + (off_t)done);
        if (n <= 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    memset(bytes + done, 0, size - done);
}

bool wndl_heap_next_part(const struct wndl_collector_heap *heap, uint32_t first,
    struct wndl_heap_part *part)
{
    uint32_t left = heap->written - first;
    part->first = first;
    part->count = left < WNDL_HEAP_AT_ONCE ? left : WNDL_HEAP_AT_ONCE;
    return part->count != 0;
}
