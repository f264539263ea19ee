/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "rec/event.h"
#include "rec/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { RECORDS = 200 * 1000, RECORD_MAX = 40 };

static struct wndl_ring *new_ring(void)
{
    struct wndl_ring *ring = NULL;
    assert_int_equal(posix_memalign((void **)&ring, 64, sizeof *ring), 0);
    memset(ring, 0, sizeof *ring);
    return ring;
}

static void a_new_ring_is_empty(void **state)
{
    (void)state;
    struct wndl_ring *ring = new_ring();
    uint8_t *to = malloc(WNDL_RING_BYTES);
    assert_int_equal(wndl_ring_peek(ring, 0, to), 0);
    free(to);
    free(ring);
}

static void a_full_ring_takes_nothing_and_keeps_what_it_has(void **state)
{
    (void)state;
    struct wndl_ring *ring = new_ring();
    uint8_t *to = malloc(WNDL_RING_BYTES);
    uint8_t record[1000];
    size_t taken = 0;
    memset(record, 7, sizeof record);
    while (wndl_ring_put(ring, record, sizeof record))
        taken += sizeof record;
    assert_true(taken > WNDL_RING_BYTES - sizeof record);
    assert_false(wndl_ring_put(ring, record, sizeof record));
    assert_true(wndl_ring_put(ring, record, WNDL_RING_BYTES - taken));
    assert_false(wndl_ring_put(ring, record, 1));
    assert_int_equal(wndl_ring_peek(ring, 0, to), WNDL_RING_BYTES);
    for (size_t i = 0; i < WNDL_RING_BYTES; i++)
        assert_int_equal(to[i], 7);
    free(to);
    free(ring);
}

static void released_room_is_used_again_across_the_edge(void **state)
{
    (void)state;
    struct wndl_ring *ring = new_ring();
    uint8_t *to = malloc(WNDL_RING_BYTES);
    uint8_t record[999];
    uint64_t tail = 0;
    for (unsigned i = 0; i < 1000; i++) {
        memset(record, (int)i, sizeof record);
        assert_true(wndl_ring_put(ring, record, sizeof record));
        assert_int_equal(wndl_ring_peek(ring, tail, to), sizeof record);
        assert_memory_equal(to, record, sizeof record);
        tail += sizeof record;
        wndl_ring_release(ring, tail);
    }
    free(to);
    free(ring);
}

static void an_impossible_position_reads_as_nothing(void **state)
{
    (void)state;
    struct wndl_ring *ring = new_ring();
    uint8_t *to = malloc(WNDL_RING_BYTES);
    assert_true(wndl_ring_put(ring, "abc", 3));
    atomic_store(&ring->head, UINT64_MAX / 2);
    assert_int_equal(wndl_ring_peek(ring, 0, to), 0);
    atomic_store(&ring->head, 3);
    assert_int_equal(wndl_ring_peek(ring, 9, to), 0);
    free(to);
    free(ring);
}

/* Records of 1 to RECORD_MAX bytes, each telling its own size and number. */
static void *produce(void *context)
{
    struct wndl_ring *ring = context;
    uint8_t record[RECORD_MAX];
    for (unsigned i = 0; i < RECORDS; i++) {
        size_t size = 1 + i % RECORD_MAX;
        memset(record, (int)(i % 251), size);
        record[0] = (uint8_t)size;
        while (!wndl_ring_put(ring, record, size))
            sched_yield();
    }
    return NULL;
}

static void a_consumer_beside_the_producer_sees_whole_records(void **state)
{
    (void)state;
    struct wndl_ring *ring = new_ring();
    uint8_t *to = malloc(WNDL_RING_BYTES);
    uint64_t tail = 0;
    unsigned seen = 0;
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce, ring), 0);
    while (seen < RECORDS) {
        size_t size = wndl_ring_peek(ring, tail, to);
        for (size_t at = 0; at < size; seen++) {
            size_t record = 1 + seen % RECORD_MAX;
            assert_int_equal(to[at], record);
            if (record > 1)
                assert_int_equal(to[at + record - 1], seen % 251);
            at += record;
        }
        tail += size;
        wndl_ring_release(ring, tail);
    }
    pthread_join(producer, NULL);
    free(to);
    free(ring);
}

static void assert_same(const struct wndl_event *a, const struct wndl_event *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->node, b->node);
    assert_int_equal(a->tid, b->tid);
    assert_int_equal(a->copy, b->copy);
    assert_int_equal(a->in_kernel, b->in_kernel);
    assert_true(a->time == b->time && a->cpu == b->cpu);
    assert_string_equal(a->name, b->name);
}

static const struct wndl_event events[] = {
    {.kind = WNDL_EVENT_THREAD, .tid = 4194304, .time = UINT64_MAX},
    {.kind = WNDL_EVENT_NAME, .time = 1, .name = "fifteen letters"},
    {.kind = WNDL_EVENT_NAME, .time = 1, .name = ""},
    {.kind = WNDL_EVENT_SAMPLE, .end = 7, .node = 1, .time = 0, .cpu = 0},
    {.kind = WNDL_EVENT_SAMPLE, .end = 7, .node = 1, .copy = 1},
    {.kind = WNDL_EVENT_SAMPLE, .end = 7, .node = 1, .in_kernel = true},
    {.kind = WNDL_EVENT_SAMPLE, .node = 1, .copy = 2, .in_kernel = true},
    {.kind = WNDL_EVENT_SAMPLE, .end = 2, .node = 1, .copy = UINT32_MAX},
    {.kind = WNDL_EVENT_SAMPLE,
        .end = 0,
        .node = UINT32_MAX,
        .time = UINT64_MAX,
        .cpu = UINT64_MAX},
};

enum { EVENTS = sizeof events / sizeof events[0] };

static void events_come_back_as_they_were_put(void **state)
{
    (void)state;
    for (size_t i = 0; i < EVENTS; i++) {
        uint8_t bytes[WNDL_EVENT_MAX];
        struct wndl_event back;
        size_t size = wndl_event_put(bytes, &events[i]);
        assert_true(size <= WNDL_EVENT_MAX);
        struct wndl_cursor c =
            wndl_cursor_at((struct wndl_bytes){bytes, size}, 0, false);
        assert_true(wndl_event_get(&c, &back));
        assert_same(&back, &events[i]);
        assert_false(wndl_event_get(&c, &back));
        assert_false(c.failed);
    }
}

static void parse_events(struct wndl_bytes prefix, void *context)
{
    (void)context;
    struct wndl_cursor c = wndl_cursor_at(prefix, 0, false);
    struct wndl_event event;
    while (wndl_event_get(&c, &event))
        assert_int_equal(event.name[WNDL_EVENT_NAME_MAX - 1], '\0');
}

static void cut_and_foreign_events_fail_the_cursor(void **state)
{
    (void)state;
    uint8_t bytes[EVENTS * WNDL_EVENT_MAX];
    size_t size = 0;
    for (size_t i = 0; i < EVENTS; i++)
        size += wndl_event_put(bytes + size, &events[i]);
    for_each_truncation((struct wndl_bytes){bytes, size}, parse_events, NULL);

    const uint8_t foreign[] = {3, 0};
    const uint8_t long_name[] = {2, 0, 16, 'x', 'x', 'x', 'x', 'x', 'x', 'x',
        'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'};
    struct wndl_event event;
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){foreign, sizeof foreign}, 0, false);
    assert_false(wndl_event_get(&c, &event));
    assert_true(c.failed);
    c = wndl_cursor_at(
        (struct wndl_bytes){long_name, sizeof long_name}, 0, false);
    assert_false(wndl_event_get(&c, &event));
    assert_true(c.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_ring_is_empty),
        cmocka_unit_test(a_full_ring_takes_nothing_and_keeps_what_it_has),
        cmocka_unit_test(released_room_is_used_again_across_the_edge),
        cmocka_unit_test(an_impossible_position_reads_as_nothing),
        cmocka_unit_test(a_consumer_beside_the_producer_sees_whole_records),
        cmocka_unit_test(events_come_back_as_they_were_put),
        cmocka_unit_test(cut_and_foreign_events_fail_the_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
