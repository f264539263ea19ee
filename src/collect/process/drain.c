/* SPDX-License-Identifier: MIT */
/*
 * From shared memory to chunks. Order: modules, then the nodes that refer to
 * them, then the samples that refer to those. The program writes what a sample
 * needs before the sample, so the collector reads in the opposite order.
 */
#include "collect/process/callers.h"

/* A SAMP chunk being collected. */
struct batch {
    struct wndl_buf bytes;
    uint64_t time; /* the first delta counts from here */
    uint64_t last; /* of its last sample */
    uint32_t count;
};

static void put_batch(struct wndl_collector_process *p,
    const struct wndl_collector_ring *ring, struct batch *batch)
{
    if (batch->count == 0)
        return;
    const struct wndl_recording_series series = {
        .thread = ring->thread,
        .time = batch->time,
        .count = batch->count,
        .bytes = {batch->bytes.data, batch->bytes.size},
    };
    wndl_recording_series(p->recording, WNDL_CHUNK_SAMP, &series);
    p->totals->samples += batch->count;
    wndl_buf_clear(&batch->bytes);
    batch->count = 0;
}

/* Whether the sample waits for its stack. */
static bool keep_sample(struct wndl_collector_process *p,
    const struct wndl_collector_ring *ring, const struct wndl_event *event,
    uint32_t node)
{
    const struct wndl_lost_sample sample = {
        .time = ring->time,
        .cpu = event->cpu,
        .thread = ring->thread,
        .node = node,
        .end = wndl_callers_end(p, node, event->end % WNDL_WALK_END_COUNT),
    };
    return event->copy != 0 && p->lost != NULL &&
           wndl_lost_keep(p->lost, &sample, event->copy);
}

static void add_sample(struct wndl_collector_process *p,
    struct wndl_collector_ring *ring, const struct wndl_event *event,
    struct batch *batch)
{
    const uint32_t node = event->node <= p->nodes ? event->node : 0;
    if (batch->count == 0)
        batch->time = batch->last = ring->time;
    ring->time += event->time;
    if (keep_sample(p, ring, event, node))
        return;
    const uint8_t end =
        wndl_callers_end(p, node, event->end % WNDL_WALK_END_COUNT);
    const struct wndl_fields_sample sample = {
        .time = ring->time - batch->last,
        .cpu = event->cpu,
        .node = node,
        .end = event->in_kernel && p->recording->kernel_stacks
                   ? (uint64_t)end + WNDL_SAMPLE_IN_KERNEL
                   : end,
    };
    wndl_put_sample(&batch->bytes, &sample);
    batch->last = ring->time;
    batch->count++;
    p->totals->ends[end]++;
    p->totals->cpu += event->cpu;
}

/* Gives the ring to a thread, unless memory is out. */
static void begin_thread(struct wndl_collector_process *p,
    struct wndl_collector_ring *ring, const struct wndl_event *event)
{
    const struct wndl_collector_thread *thread =
        wndl_collector_thread_of(&p->threads, event->tid, event->time);
    ring->time = event->time;
    ring->tid = thread == NULL ? 0 : event->tid;
    ring->thread = thread == NULL ? 0 : thread->index;
}

static void take_mark(struct wndl_collector_process *p,
    const struct wndl_collector_ring *ring, const struct wndl_event *event)
{
    const struct wndl_recording_mark mark = {
        .thread = ring->thread,
        .kind = event->mark,
        .time = event->time,
        .duration = event->duration,
        .text = event->text,
    };
    wndl_recording_mark(p->recording, &mark);
}

/* Takes the events of a thread between its samples. */
static void take_news(struct wndl_collector_process *p,
    struct wndl_collector_ring *ring, const struct wndl_event *event)
{
    struct wndl_collector_thread *thread =
        wndl_collector_thread_of(&p->threads, ring->tid, event->time);
    if (thread == NULL)
        return;
    if (event->kind == WNDL_EVENT_NAME)
        wndl_collector_thread_name(
            &p->threads, thread, event->name, event->time);
    else if (event->kind == WNDL_EVENT_MARK)
        take_mark(p, ring, event);
    if (event->kind != WNDL_EVENT_END)
        return;
    wndl_collector_thread_end(&p->threads, thread, event->time, event->cpu);
    ring->tid = 0;
}

static void take_event(struct wndl_collector_process *p,
    struct wndl_collector_ring *ring, const struct wndl_event *event,
    struct batch *batch)
{
    if (event->kind == WNDL_EVENT_SAMPLE) {
        if (ring->tid != 0)
            add_sample(p, ring, event, batch);
        return;
    }
    put_batch(p, ring, batch);
    if (event->kind == WNDL_EVENT_THREAD)
        begin_thread(p, ring, event);
    else if (ring->tid != 0)
        take_news(p, ring, event);
}

/* A sample whose stack is not in the file yet waits in its ring. */
static size_t take_events(struct wndl_collector_process *p,
    struct wndl_collector_ring *ring, struct wndl_bytes bytes, bool last)
{
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    struct batch batch = {0};
    struct wndl_event event;
    size_t done = 0;
    wndl_buf_init(&batch.bytes, wndl_mem_libc());
    while (wndl_event_get(&c, &event)) {
        if (event.kind == WNDL_EVENT_SAMPLE && event.node > p->nodes && !last)
            break;
        take_event(p, ring, &event, &batch);
        done = wndl_cursor_offset(&c);
    }
    put_batch(p, ring, &batch);
    wndl_buf_free(&batch.bytes);
    if (c.failed) {
        p->totals->damaged++;
        done = bytes.size;
    }
    return done;
}

/*
 * A ring with an impossible position cannot be read any more. After the
 * position that it leads to there may be events again, of a thread that is to
 * be announced.
 */
static void give_up_if_damaged(struct wndl_collector_process *p, uint32_t slot)
{
    struct wndl_collector_ring *ring = &p->rings[slot];
    uint64_t head = atomic_load(&p->shm->rings[slot].head);
    if (head - ring->tail <= WNDL_RING_BYTES)
        return;
    p->totals->damaged++;
    ring->tail = head;
    ring->tid = 0;
}

static void take_ring(
    struct wndl_collector_process *p, uint32_t slot, bool last)
{
    /* One drain at a time: the collector has one thread. */
    static uint8_t room[WNDL_RING_BYTES];
    struct wndl_collector_ring *ring = &p->rings[slot];
    give_up_if_damaged(p, slot);
    size_t size = wndl_ring_peek(&p->shm->rings[slot], ring->tail, room);
    /* Data that is read later is at least as new as the samples. */
    wndl_collector_process_take_intact(p, last);
    ring->tail += take_events(p, ring, (struct wndl_bytes){room, size}, last);
    wndl_ring_release(&p->shm->rings[slot], ring->tail);
}

static void take_rings(struct wndl_collector_process *p, bool last)
{
    for (uint32_t word = 0; word < WNDL_SHM_THREADS / 64; word++) {
        uint64_t used = atomic_load(&p->shm->ring_used[word]);
        for (; used != 0; used &= used - 1)
            take_ring(p, word * 64 + (uint32_t)__builtin_ctzll(used), last);
    }
}

void wndl_collector_process_drain(struct wndl_collector_process *p, bool last)
{
    if (p->shm == NULL)
        return;
    if (wndl_collector_process_is_intact(p))
        take_rings(p, last);
    if (p->lost != NULL)
        wndl_lost_try(p->lost);
    if (p->heap != NULL && !last)
        wndl_collector_heap_drain(p);
}
