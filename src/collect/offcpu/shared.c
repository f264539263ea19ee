/* SPDX-License-Identifier: MIT */
#include "collect/offcpu/shared.h"

#include "collect/offcpu/stack.h"
#include "rec/shm.h"

#include <sys/resource.h>

/* At most so many are kept open, and at most this part of the limit. */
enum { DESCRIPTORS = 800, DESCRIPTOR_PARTS = 4 };

static size_t descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur / DESCRIPTOR_PARTS > DESCRIPTORS)
        return DESCRIPTORS;
    return limit.rlim_cur / DESCRIPTOR_PARTS;
}

/* Frame pointers are not available here, so they alone find nothing. */
static enum wndl_walk_method method_of(uint32_t unwind)
{
    if (unwind == WNDL_UNWIND_SCAN)
        return WNDL_WALK_SCAN;
    return unwind == WNDL_UNWIND_CFI ? WNDL_WALK_CFI : WNDL_WALK_ANY;
}

struct wndl_offcpu_shared *wndl_offcpu_shared_new(
    const struct wndl_offcpu_request *request)
{
    struct wndl_mem *mem = wndl_mem_libc();
    struct wndl_offcpu_shared *shared = wndl_mem_zalloc(mem, sizeof *shared);
    if (shared == NULL)
        return NULL;
    shared->max_frames = request->max_frames;
    shared->method = method_of(request->unwind);
    shared->wanted = request->wanted;
    shared->is_alone = request->is_alone;
    shared->descriptors = descriptors();
    shared->frames =
        wndl_mem_zalloc(mem, shared->max_frames * sizeof *shared->frames);
    shared->binaries = request->binaries;
    if (shared->frames != NULL)
        return shared;
    wndl_offcpu_shared_free(shared);
    return NULL;
}

void wndl_offcpu_shared_free(struct wndl_offcpu_shared *shared)
{
    if (shared == NULL)
        return;
    wndl_mem_free(wndl_mem_libc(), shared->frames);
    wndl_mem_free(wndl_mem_libc(), shared);
}

const struct wndl_offcpu_totals *wndl_offcpu_totals(
    const struct wndl_offcpu_shared *shared)
{
    return &shared->totals;
}
