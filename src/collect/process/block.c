/* SPDX-License-Identifier: MIT */
#include "collect/process/block.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The target cannot shrink the block under our feet. */
static int make_memfd(size_t size)
{
    int fd = memfd_create("windlass", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)size) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static uint32_t nodes_of(const struct wndl_collector_heap_request *heap)
{
    return heap->flags != 0 ? heap->nodes : WNDL_SHM_NODES;
}

static size_t size_of(const struct wndl_collector_heap_request *heap)
{
    return heap->flags == 0
               ? wndl_shm_whole_size(WNDL_SHM_NODES)
               : wndl_heap_offset(heap->nodes) +
                     wndl_heap_whole_size(heap->sites, heap->flags);
}

static bool map_block(struct wndl_collector_block *block,
    const struct wndl_collector_heap_request *heap, int memfd)
{
    const uint32_t nodes = nodes_of(heap);
    const size_t size = heap->flags != 0 ? wndl_shm_size(nodes) : size_of(heap);
    *block = (struct wndl_collector_block){
        .memfd = -1, .size = size, .nodes = nodes, .sites = heap->sites};
    void *start =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    if (start == MAP_FAILED)
        return false;
    block->heap =
        heap->flags == 0 ? NULL : wndl_collector_heap_new(heap, memfd);
    if (heap->flags != 0 && block->heap == NULL) {
        int why = errno;
        munmap(start, size);
        errno = why;
        return false;
    }
    block->shm = start;
    return true;
}

static void prepare(const struct wndl_collector_block *block)
{
    block->shm->magic = WNDL_SHM_MAGIC;
    block->shm->version = WNDL_SHM_VERSION;
    (void)wndl_stacktree_init((void *)block->shm->tree, block->nodes);
    if (block->heap != NULL)
        wndl_collector_heap_prepare(block->heap);
}

bool wndl_collector_block_make(struct wndl_collector_block *block,
    const struct wndl_collector_heap_request *heap)
{
    const int memfd = make_memfd(size_of(heap));
    block->memfd = -1;
    if (memfd < 0)
        return false;
    if (!map_block(block, heap, memfd)) {
        int why = errno;
        close(memfd);
        errno = why;
        return false;
    }
    block->memfd = memfd;
    prepare(block);
    return true;
}

/* It must be memory that no file system stands behind, and stay as large. */
bool wndl_collector_block_adopt(struct wndl_collector_block *block,
    const struct wndl_collector_heap_request *heap, int memfd)
{
    struct stat st;
    const int seals = fcntl(memfd, F_GET_SEALS);
    errno = EINVAL;
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 &&
           fstat(memfd, &st) == 0 && (size_t)st.st_size >= size_of(heap) &&
           map_block(block, heap, memfd);
}

bool wndl_collector_block_fits(const struct wndl_collector_block *block,
    const struct wndl_collector_heap_request *heap)
{
    return block->memfd >= 0 && block->nodes == nodes_of(heap) &&
           (heap->flags == 0 || block->sites == heap->sites);
}

void wndl_collector_block_free(struct wndl_collector_block *block)
{
    if (block->memfd < 0)
        return;
    close(block->memfd);
    block->memfd = -1;
    if (block->shm != NULL)
        munmap(block->shm, block->size);
    wndl_collector_heap_free(block->heap);
}
