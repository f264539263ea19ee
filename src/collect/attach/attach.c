/* SPDX-License-Identifier: MIT */
#include "collect/attach/attach.h"

#include "os/clock.h"

#include <errno.h>
#include <unistd.h>

/* Bytes of a ring: of a whole one, and of the smallest. */
enum { RING = 8 << 20, RING_MIN = 128 << 10, RING_OF_KERNEL = 512 << 10 };

/* ---- opening */

static void close_rings(struct wndl_attach *a)
{
    for (size_t i = 0; i < a->ring_count; i++)
        wndl_attach_ring_close(&a->rings[i]);
    a->ring_count = 0;
}

/* Opens the rings of all CPUs with one size. Returns 0, or an errno. */
static int open_with_size(struct wndl_attach *a, long cpus, uint64_t size)
{
    for (int cpu = 0; cpu < cpus; cpu++) {
        if (wndl_attach_ring_open(&a->rings[a->ring_count], cpu, size))
            a->ring_count++;
        else if (errno != ENODEV)
            return errno;
    }
    return a->ring_count == 0 ? ENODEV : 0;
}

/*
 * The limit of locked memory is one for all rings: where it does not suffice,
 * all of them are made smaller, so that each CPU has one.
 */
static int open_rings(struct wndl_attach *a, uint64_t size)
{
    const long count = sysconf(_SC_NPROCESSORS_CONF);
    a->rings = wndl_mem_zalloc(
        wndl_mem_libc(), (size_t)(count > 0 ? count : 1) * sizeof *a->rings);
    if (a->rings == NULL)
        return ENOMEM;
    int why = open_with_size(a, count, size);
    while ((why == ENOBUFS || why == ENOMEM) && size > RING_MIN) {
        close_rings(a);
        size /= 2;
        why = open_with_size(a, count, size);
    }
    return why;
}

int wndl_attach_open(
    struct wndl_attach *a, const struct wndl_attach_event *event)
{
    struct wndl_attach_event probed = *event;
    *a = (struct wndl_attach){0};
    int why = wndl_attach_event_probe(&probed);
    if (why == 0)
        why = open_rings(a, event->is_of_kernel ? RING_OF_KERNEL : RING);
    wndl_attach_targets_init(&a->targets, a->rings, a->ring_count);
    a->targets.event = probed;
    if (why != 0)
        wndl_attach_close(a);
    return why;
}

void wndl_attach_close(struct wndl_attach *a)
{
    if (a->rings == NULL)
        return;
    wndl_attach_targets_free(&a->targets);
    close_rings(a);
    wndl_mem_free(wndl_mem_libc(), a->rings);
    *a = (struct wndl_attach){0};
}

bool wndl_attach_remap(struct wndl_attach *a)
{
    for (size_t i = 0; i < a->ring_count; i++) {
        if (!wndl_attach_ring_remap(&a->rings[i]))
            return false;
    }
    return true;
}

int wndl_attach_add(struct wndl_attach *a, pid_t pid)
{
    return wndl_attach_targets_add(&a->targets, pid, a->is_enabled);
}

int wndl_attach_add_all(struct wndl_attach *a)
{
    return wndl_attach_targets_add_all(&a->targets, a->is_enabled);
}

void wndl_attach_switch(struct wndl_attach *a, bool enabled)
{
    a->is_enabled = enabled;
    wndl_attach_targets_switch(&a->targets, enabled);
}

/* ---- taking */

/* The next record of a ring. False: none. Damaged ones are passed over. */
static bool peek(struct wndl_attach_ring *ring, bool of_kernel,
    struct wndl_attach_record *record, size_t *size)
{
    for (;;) {
        const struct wndl_bytes bytes = wndl_attach_ring_next(ring);
        if (bytes.size == 0)
            return false;
        *size = bytes.size;
        if (wndl_attach_record_read(record, bytes, of_kernel))
            return true;
        ring->damaged++;
        wndl_attach_ring_pass(ring, bytes.size);
    }
}

/* The first record of a ring that has not been taken yet. */
struct front {
    struct wndl_attach_record record;
    size_t size; /* of the record; 0: there is none */
};

static void advance(
    const struct wndl_attach *a, size_t ring, struct front *front)
{
    if (!peek(&a->rings[ring], a->targets.event.is_of_kernel, &front->record,
            &front->size))
        front->size = 0;
}

static size_t find_earliest(const struct front *fronts, size_t count)
{
    size_t first = count;
    for (size_t i = 0; i < count; i++) {
        if (fronts[i].size != 0 &&
            (first == count ||
                fronts[i].record.time < fronts[first].record.time))
            first = i;
    }
    return first;
}

static void note_end(
    struct wndl_attach *a, const struct wndl_attach_record *record)
{
    if (record->kind == WNDL_ATTACH_EXIT)
        wndl_attach_targets_ended(&a->targets, record->tid);
}

/* A record's time is taken a little before the record can be seen. */
void wndl_attach_take(struct wndl_attach *a, bool last,
    void (*take)(void *context, const struct wndl_attach_record *record),
    void *context)
{
    enum { LATE = 1000 * 1000 /* ns */ };
    const uint64_t until = last ? UINT64_MAX : wndl_clock_monotonic_ns() - LATE;
    struct front *fronts =
        wndl_mem_zalloc(wndl_mem_libc(), (a->ring_count + 1) * sizeof *fronts);
    if (fronts == NULL)
        return;
    for (size_t i = 0; i < a->ring_count; i++) {
        wndl_attach_ring_look(&a->rings[i]);
        advance(a, i, &fronts[i]);
    }
    size_t next;
    while ((next = find_earliest(fronts, a->ring_count)) < a->ring_count &&
           fronts[next].record.time < until) {
        const struct wndl_attach_record *record = &fronts[next].record;
        if (record->kind != WNDL_ATTACH_SAMPLE ||
            wndl_attach_targets_counts(&a->targets, record))
            take(context, record);
        note_end(a, record);
        wndl_attach_ring_pass(&a->rings[next], fronts[next].size);
        advance(a, next, &fronts[next]);
    }
    wndl_mem_free(wndl_mem_libc(), fronts);
}
