/* SPDX-License-Identifier: MIT */
#include "os/memory_places.h"

#include "os/raw.h"
#include "os/smaps.h"

#include <fcntl.h>
#include <string.h>

enum { PAGE_SIZE = 4096, AT_ONCE = 128 };

/* Pages of more address space than this are not looked up. */
#define DIVIDED_MOST (UINT64_C(16) << 30)

struct dividing {
    struct wndl_memory_places *to;
    int pagemap; /* file descriptor, or negative */
};

static bool is_same(
    const struct wndl_memory_place *a, const struct wndl_memory_place *b)
{
    if (a->kind != b->kind || a->node != b->node)
        return false;
    if (a->node != 0)
        return true;
    return a->name[0] != '\0' ? memcmp(a->name, b->name, sizeof a->name) == 0
                              : a->start == b->start && b->name[0] == '\0';
}

/* Private memory of no file whose caller is not known is in no place. */
static void add(
    struct wndl_memory_places *to, const struct wndl_memory_place *more)
{
    if (more->bytes == 0 ||
        (more->node == 0 && (more->kind == WNDL_MEMORY_MAPPED ||
                                more->kind == WNDL_MEMORY_STACKS ||
                                more->kind >= WNDL_MEMORY_WINDLASS)))
        return;
    for (uint32_t i = 0; i < to->count; i++) {
        if (is_same(&to->places[i], more)) {
            to->places[i].bytes += more->bytes;
            return;
        }
    }
    if (to->count < to->most)
        to->places[to->count++] = *more;
}

/* ---- pages */

/* 32-bit words pass the offset as two; Arm's begin at an even register. */
static long read_pages(
    int pagemap, uint64_t start, uint64_t pages[AT_ONCE], size_t count)
{
    const uint64_t offset = start / PAGE_SIZE * sizeof *pages;
    const long low = (long)offset;
    const long high = sizeof low == sizeof offset ? 0 : (long)(offset >> 32);
#if defined(__arm__)
    const long first[] = {pagemap, (long)pages, (long)(count * 8), 0};
    return wndl_raw6(SYS_pread64, first, low, high);
#else
    const long first[] = {pagemap, (long)pages, (long)(count * 8), low};
    return wndl_raw6(SYS_pread64, first, high, 0);
#endif
}

/* The bytes of pages between the addresses that are in memory. */
static uint64_t present(int pagemap, uint64_t start, uint64_t end)
{
    uint64_t pages[AT_ONCE], bytes = 0;
    if (end - start > DIVIDED_MOST)
        return 0;
    for (uint64_t at = start; at < end; at += AT_ONCE * PAGE_SIZE) {
        const uint64_t left = (end - at) / PAGE_SIZE;
        const size_t count = left < AT_ONCE ? (size_t)left : AT_ONCE;
        const long got = read_pages(pagemap, at, pages, count);
        if (got < (long)(count * sizeof *pages))
            return bytes;
        for (size_t i = 0; i < count; i++)
            bytes += (pages[i] >> 63) * PAGE_SIZE;
    }
    return bytes;
}

/* ---- mappings */

static bool is_by_program(uint32_t kind)
{
    return kind != WNDL_MEMORY_STACKS && kind < WNDL_MEMORY_WINDLASS;
}

/*
 * An arena that the program mapped is none of glibc's. The kernel's zeroed page
 * is in no sum, so that parts may be less than their pages.
 */
static enum wndl_memory_kind divide(
    void *context, const struct wndl_memory_place *mapping)
{
    const uint64_t end = mapping->end;
    const struct dividing *d = context;
    struct wndl_memory_place part = *mapping, rest = *mapping;
    part.start = part.end = 0;
    memset(part.name, 0, sizeof part.name);
    for (uint32_t i = 0; i < d->to->mapping_count && rest.bytes != 0 &&
                         is_by_program(mapping->kind);
         i++) {
        const struct wndl_memory_mapping *m = &d->to->mappings[i];
        if (m->end <= mapping->start || m->start >= end)
            continue;
        const uint64_t from =
            m->start > mapping->start ? m->start : mapping->start;
        const uint64_t to = m->end < end ? m->end : end;
        const bool is_all = from == mapping->start && to == end;
        const uint64_t bytes =
            is_all ? rest.bytes : present(d->pagemap, from, to);
        if (is_all && rest.kind == WNDL_MEMORY_HEAP)
            rest.kind = WNDL_MEMORY_MAPPED;
        part.kind = rest.kind;
        part.node = m->node;
        part.bytes = bytes < rest.bytes ? bytes : rest.bytes;
        rest.bytes -= part.bytes;
        add(d->to, &part);
    }
    add(d->to, &rest);
    return (enum wndl_memory_kind)rest.kind;
}

bool wndl_memory_places_fill(const struct wndl_memory_files *files,
    struct wndl_bytes room, struct wndl_memory_sum *sum,
    struct wndl_memory_places *places)
{
    struct dividing d = {
        places, wndl_raw_open(files->pagemap, O_RDONLY | O_CLOEXEC)};
    const struct wndl_smaps_visitor visitor = {divide, &d};
    places->count = 0;
    const bool filled = wndl_smaps_each(files->smaps, room, sum, &visitor);
    if (d.pagemap >= 0)
        wndl_raw_close(d.pagemap);
    return filled;
}
