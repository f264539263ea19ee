/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "collect/loop/processes.h"
#include "collect/process/process.h"
#include "os/file.h"
#include "wndl/read.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <windlass/unwind.h>

/* A recording with one process, whose block the test fills as `rt` would. */
struct bench {
    char path[32];
    int fd;
    struct wndl_recording recording;
    struct wndl_collector_totals totals;
    struct wndl_collector_process *process;
    struct wndl_profile profile;
};

static void set_up(struct bench *b)
{
    char command[] = "test";
    char *list[] = {command, NULL};
    const struct wndl_recording_meta meta = {
        .interval = 1000000, .engine = WNDL_ENGINE_PERF, .command = list};
    *b = (struct bench){.path = "/tmp/wndl-collector-XXXXXX"};
    b->fd = mkstemp(b->path);
    assert_true(b->fd >= 0);
    wndl_recording_open(&b->recording, b->fd, &meta);
    const struct wndl_recording_process origin = {
        .pid = (uint32_t)getpid(), .time = b->recording.time_base};
    int memfd = -1;
    const struct wndl_collector_heap_request none = {0};
    b->process = wndl_collector_process_new(
        &b->recording, &b->totals, &origin, &none, &memfd);
    assert_non_null(b->process);
    wndl_collector_process_announce(b->process, &origin);
    close(memfd);
}

/* Ends the recording and reads it back. */
static void finish(struct bench *b)
{
    const struct wndl_recording_done done = {.processes = 1};
    struct wndl_file file;
    wndl_collector_process_end(b->process, WNDL_ENDED_EXIT);
    wndl_collector_process_free(b->process);
    assert_int_equal(wndl_recording_close(&b->recording, &done, NULL), WNDL_OK);
    wndl_recording_free(&b->recording);
    close(b->fd);
    assert_true(wndl_profile_init(&b->profile, wndl_mem_libc()));
    assert_int_equal(wndl_file_open(b->path, &file, NULL), WNDL_OK);
    assert_int_equal(wndl_reader_read(&b->profile, file.bytes, NULL), WNDL_OK);
    wndl_file_close(&file);
    unlink(b->path);
    assert_true(b->profile.finished);
    assert_int_equal(b->profile.chunks_damaged, 0);
}

static void tear_down(struct bench *b)
{
    wndl_profile_free(&b->profile);
}

static void use_ring(struct bench *b, uint32_t slot)
{
    atomic_fetch_or(
        &b->process->shm->ring_used[slot / 64], UINT64_C(1) << slot % 64);
}

static void put(struct bench *b, uint32_t slot, struct wndl_event event)
{
    uint8_t bytes[WNDL_EVENT_MAX];
    size_t size = wndl_event_put(bytes, &event);
    use_ring(b, slot);
    assert_true(wndl_ring_put(&b->process->shm->rings[slot], bytes, size));
}

static void put_thread(struct bench *b, uint32_t slot, uint32_t tid)
{
    put(b, slot,
        (struct wndl_event){.kind = WNDL_EVENT_THREAD,
            .tid = tid,
            .time = b->recording.time_base + 1000});
}

static void put_sample(struct bench *b, uint32_t slot, uint32_t node)
{
    put(b, slot,
        (struct wndl_event){
            .kind = WNDL_EVENT_SAMPLE, .node = node, .time = 500, .cpu = 400});
}

static uint32_t insert(struct bench *b, uint32_t parent, uint64_t key)
{
    void *tree = b->process->shm->tree;
    return wndl_stacktree_insert(tree, parent, key);
}

static void put_module(struct bench *b, const char *path, uint64_t start)
{
    struct wndl_shm *shm = b->process->shm;
    uint32_t index = atomic_fetch_add(&shm->module_count, 1);
    struct wndl_shm_module *row = &shm->modules[index];
    uint32_t offset =
        atomic_fetch_add(&shm->string_bytes, (uint32_t)strlen(path));
    memcpy(shm->strings + offset, path, strlen(path));
    *row = (struct wndl_shm_module){.start = start,
        .end = start + 0x1000,
        .bias = start,
        .path_offset = offset,
        .path_size = (uint32_t)strlen(path),
        .build_id = {0xab, 0xcd},
        .build_id_size = 2};
    atomic_store(&row->mapped, 1);
    atomic_store(&row->ready, 1);
}

/* The key of a return address in the module of this row, counted from 1. */
static uint64_t owned_by(uint32_t owner, uint64_t address)
{
    return address | (uint64_t)owner << WNDL_KEY_OWNER_SHIFT;
}

static const struct wndl_frame_key *frame_of(
    const struct wndl_profile *p, uint32_t node)
{
    const struct wndl_node *n = wndl_vec_at(&p->nodes, node);
    return wndl_vec_at(&p->frames, n->frame);
}

static void samples_come_out_as_they_were_left(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    put_module(&b, "/lib/x.so", 0x10000);
    uint32_t root = insert(&b, 0, owned_by(1, 0x10010));
    uint32_t leaf = insert(&b, root,
        UINT64_C(0x7000) | UINT64_C(1) << WNDL_KEY_INTERRUPTED_SHIFT |
            (uint64_t)WNDL_HOW_CHECKED << WNDL_KEY_HOW_SHIFT);
    put_thread(&b, 70, 1234);
    put(&b, 70, (struct wndl_event){.kind = WNDL_EVENT_NAME, .name = "ann"});
    put_sample(&b, 70, leaf);
    wndl_collector_process_drain(b.process, false);
    put_sample(&b, 70, root);
    put_sample(&b, 70, 0);
    finish(&b);

    assert_int_equal(b.profile.threads.len, 1);
    const struct wndl_thread *thread = wndl_vec_at(&b.profile.threads, 0);
    assert_int_equal(thread->tid, 1234);
    assert_true(wndl_bytes_is(thread->name, "ann"));
    assert_int_equal(b.profile.samples.len, 3);
    const struct wndl_sample *s = wndl_vec_at(&b.profile.samples, 0);
    assert_true(s[0].time == 1500 && s[1].time == 2000 && s[2].time == 2500);
    assert_int_equal(s[0].cpu, 400);
    assert_int_equal(s[2].node, 0);
    const struct wndl_frame_key *f = frame_of(&b.profile, s[0].node);
    assert_true(f->image == WNDL_NO_INDEX && f->address == 0x7000);
    assert_true(
        f->exact == WNDL_EXACT_INTERRUPTED && f->how == WNDL_HOW_CHECKED);
    f = frame_of(&b.profile, s[1].node);
    assert_true(
        f->image == 0 && f->address == 0x10 && f->exact == WNDL_EXACT_NOT);
    const struct wndl_image *image = wndl_vec_at(&b.profile.images, 0);
    assert_true(wndl_bytes_is(image->path, "/lib/x.so"));
    assert_memory_equal(image->build_id.data, "\xab\xcd", 2);
    tear_down(&b);
}

static void an_image_that_was_found_by_two_paths_is_one(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    const struct wndl_bytes id = {(const uint8_t *)"\xab\xcd", 2};
    const struct wndl_bytes other = {(const uint8_t *)"\xab\xce", 2};
    const struct wndl_bytes none = {0};
    struct wndl_recording *r = &b.recording;
    assert_int_equal(wndl_recording_image(r, "/lib/x.so", id), 0);
    assert_int_equal(wndl_recording_image(r, "/usr/lib/x.so", id), 0);
    assert_int_equal(wndl_recording_image(r, "/usr/lib/x.so.1.2", id), 0);
    assert_int_equal(wndl_recording_image(r, "/lib/x.so", other), 1);
    assert_int_equal(wndl_recording_image(r, "/lib/x.so", none), 2);
    assert_int_equal(wndl_recording_image(r, "/usr/lib/x.so", none), 3);
    assert_int_equal(wndl_recording_image(r, "/lib/x.so", none), 2);
    finish(&b);
    assert_int_equal(b.profile.images.len, 4);
    const struct wndl_image *image = wndl_vec_at(&b.profile.images, 0);
    assert_true(wndl_bytes_is(image->path, "/lib/x.so"));
    tear_down(&b);
}

static void a_module_has_the_name_that_the_kernel_tells(void **state)
{
    (void)state;
    struct bench b;
    char link[sizeof b.path + 2];
    set_up(&b);
    snprintf(link, sizeof link, "%s.l", b.path);
    assert_int_equal(symlink(b.path, link), 0);
    put_module(&b, link, 0x10000);
    b.process->shm->modules[0].build_id_size = 0;
    put_thread(&b, 0, 1); /* modules are taken with what rings hold */
    wndl_collector_process_drain(b.process, false);
    unlink(link);
    const struct wndl_bytes none = {0};
    assert_int_equal(wndl_recording_image(&b.recording, b.path, none), 0);
    finish(&b);
    assert_int_equal(b.profile.images.len, 1);
    const struct wndl_image *image = wndl_vec_at(&b.profile.images, 0);
    assert_true(wndl_bytes_is(image->path, b.path));
    tear_down(&b);
}

/* The sample that is in the first path's image is in the same one's. */
static void an_image_has_a_path_that_can_be_opened(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    const struct wndl_bytes id = {(const uint8_t *)"\xab\xcd", 2};
    struct wndl_recording *r = &b.recording;
    put_module(&b, "/nowhere/x.so", 0x10000);
    put_thread(&b, 0, 1);
    put_sample(&b, 0, insert(&b, 0, owned_by(1, 0x10010)));
    wndl_collector_process_drain(b.process, false);
    assert_int_equal(wndl_recording_image(r, "x.so", id), 0);
    assert_int_equal(wndl_recording_image(r, b.path, id), 1);
    assert_int_equal(wndl_recording_image(r, "/nowhere/x.so", id), 1);
    assert_int_equal(wndl_recording_image(r, "/", id), 1);
    finish(&b);
    assert_int_equal(b.profile.images.len, 1);
    const struct wndl_sample *s = wndl_vec_at(&b.profile.samples, 0);
    assert_int_equal(frame_of(&b.profile, s[0].node)->image, 0);
    const struct wndl_image *image = wndl_vec_at(&b.profile.images, 0);
    assert_true(wndl_bytes_is(image->path, b.path));
    tear_down(&b);
}

static void modules_at_one_address_are_told_apart_by_owner(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    put_module(&b, "/lib/old.so", 0x10000);
    atomic_store(&b.process->shm->modules[0].mapped, 0);
    put_module(&b, "/lib/new.so", 0x10000);
    b.process->shm->modules[1].build_id[0] = 0xac;
    uint32_t nodes[3];
    nodes[0] = insert(&b, 0, owned_by(1, 0x10020));
    nodes[1] = insert(&b, 0, owned_by(wndl_key_no_row(7), 0x10020));
    nodes[2] = insert(&b, 0, owned_by(2, 0x10020));
    put_thread(&b, 0, 1);
    for (size_t i = 0; i < 3; i++)
        put_sample(&b, 0, nodes[i]);
    finish(&b);
    const struct wndl_sample *s = wndl_vec_at(&b.profile.samples, 0);
    assert_int_equal(frame_of(&b.profile, s[0].node)->image, 0);
    assert_int_equal(frame_of(&b.profile, s[1].node)->image, WNDL_NO_INDEX);
    assert_int_equal(frame_of(&b.profile, s[2].node)->image, 1);
    tear_down(&b);
}

/* Modules that come at one place, each with a node of its own. */
enum { COMERS = 900 };

struct comers {
    struct bench *b;
    uint32_t nodes[COMERS];
    _Atomic bool done;
};

static void *come_and_go(void *context)
{
    struct comers *c = context;
    struct wndl_shm *shm = c->b->process->shm;
    for (uint32_t i = 0; i < COMERS; i++) {
        put_module(c->b, i % 2 == 0 ? "/lib/even.so" : "/lib/odd.so", 0x10000);
        c->nodes[i] = insert(c->b, 0, owned_by(i + 1, 0x10020));
        atomic_store(&shm->modules[i].mapped, 0);
    }
    atomic_store(&c->done, true);
    return NULL;
}

/* What is looked at while it comes is not taken for what is there later. */
static void let_come_and_go(void)
{
    struct bench b;
    struct comers c = {.b = &b};
    pthread_t thread;
    set_up(&b);
    assert_int_equal(pthread_create(&thread, NULL, come_and_go, &c), 0);
    while (!atomic_load(&c.done))
        wndl_collector_process_take_stacks(b.process, false);
    assert_int_equal(pthread_join(thread, NULL), 0);
    put_thread(&b, 0, 1);
    for (uint32_t i = 0; i < COMERS; i++) {
        put_sample(&b, 0, c.nodes[i]);
        wndl_collector_process_drain(b.process, false);
    }
    finish(&b);
    assert_int_equal(b.profile.samples.len, COMERS);
    const struct wndl_sample *samples = wndl_vec_at(&b.profile.samples, 0);
    for (uint32_t i = 0; i < COMERS; i++)
        assert_int_not_equal(
            frame_of(&b.profile, samples[i].node)->image, WNDL_NO_INDEX);
    tear_down(&b);
}

/* By chance: in most of so many rounds something comes at the wrong moment. */
static void a_node_waits_until_its_module_is_taken(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++)
        let_come_and_go();
}

static void a_sample_waits_until_its_node_is_published(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    uint32_t first = insert(&b, 0, 0x1000);
    uint32_t second = insert(&b, 0, 0x2000);
    /* As if the first thread had been interrupted before publishing. */
    struct wndl_stacknode *hidden = NULL;
    uint8_t *memory = b.process->shm->tree;
    for (size_t at = 0; hidden == NULL; at += 16) {
        uint64_t key;
        memcpy(&key, memory + at, sizeof key);
        if (key == 0x1000)
            hidden = (struct wndl_stacknode *)(void *)(memory + at);
    }
    hidden->key = 0;
    put_thread(&b, 0, 1);
    put_sample(&b, 0, second);
    wndl_collector_process_drain(b.process, false);
    assert_int_equal(b.totals.samples, 0);
    hidden->key = 0x1000;
    wndl_collector_process_drain(b.process, false);
    assert_int_equal(b.totals.samples, 1);
    put_sample(&b, 0, first);
    finish(&b);
    assert_int_equal(b.profile.samples.len, 2);
    const struct wndl_sample *s = wndl_vec_at(&b.profile.samples, 0);
    assert_int_equal(frame_of(&b.profile, s[0].node)->address, 0x2000);
    assert_int_equal(frame_of(&b.profile, s[1].node)->address, 0x1000);
    tear_down(&b);
}

static void a_ring_given_to_another_thread_is_another_thread(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    uint32_t node = insert(&b, 0, 0x1000);
    put_thread(&b, 5, 100);
    put_sample(&b, 5, node);
    put_thread(&b, 5, 200);
    put_sample(&b, 5, node);
    put_sample(&b, 5, node);
    finish(&b);
    assert_int_equal(b.profile.threads.len, 2);
    const struct wndl_sample *s = wndl_vec_at(&b.profile.samples, 0);
    assert_int_equal(s[0].thread, 0);
    assert_int_equal(s[1].thread, 1);
    assert_int_equal(s[2].thread, 1);
    tear_down(&b);
}

static void losses_are_told_at_the_end(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    atomic_store(&b.process->shm->lost[WNDL_LOSS_RING_FULL], 11);
    atomic_store(&b.process->shm->lost[WNDL_LOSS_OVERRUN], 22);
    finish(&b);
    assert_true(b.profile.lost[WNDL_LOSS_RING_FULL] == 11);
    assert_true(b.profile.lost[WNDL_LOSS_OVERRUN] == 22);
    assert_true(b.totals.lost[WNDL_LOSS_RING_FULL] == 11);
    tear_down(&b);
}

static void impossible_counts_are_not_told(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    b.process->shm->lost[WNDL_LOSS_RING_FULL] = UINT64_MAX;
    b.process->shm->lost[WNDL_LOSS_BUSY] = 7;
    finish(&b);
    assert_true(b.totals.lost[WNDL_LOSS_RING_FULL] == 0);
    assert_true(b.totals.lost[WNDL_LOSS_BUSY] == 7);
    assert_true(b.totals.damaged == 1);
    tear_down(&b);
}

static void a_ring_with_an_impossible_position_begins_anew(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    put_module(&b, "/lib/x.so", 0x10000);
    uint32_t node = insert(&b, 0, owned_by(1, 0x10010));
    put_thread(&b, 0, 1);
    put_sample(&b, 0, node);
    wndl_collector_process_drain(b.process, false);
    atomic_store(&b.process->shm->rings[0].head, UINT64_C(1) << 40);
    wndl_collector_process_drain(b.process, false);
    wndl_collector_process_drain(b.process, false);
    assert_true(b.totals.damaged == 1);
    put_sample(&b, 0, node); /* of a time that nobody knows */
    put_thread(&b, 0, 2);
    put_sample(&b, 0, node);
    finish(&b);
    assert_true(b.totals.damaged == 1);
    assert_true(b.totals.samples == 2);
    tear_down(&b);
}

/* Everything a program could overwrite, overwritten, with a fixed seed. */
static void scribbled_memory_never_breaks_the_recording(void **state)
{
    (void)state;
    enum { ROUNDS = 40 };
    srandom(1);
    for (int round = 0; round < ROUNDS; round++) {
        struct bench b;
        set_up(&b);
        put_module(&b, "/lib/x.so", 0x10000);
        uint32_t node = insert(&b, 0, owned_by(1, 0x10010));
        for (uint32_t i = 1; i < 200; i++)
            node = insert(&b, node % 7 == 0 ? 0 : node, 0x10010 + i * 8);
        put_thread(&b, 0, 1);
        for (uint32_t i = 0; i < 100; i++)
            put_sample(&b, 0, 1 + i);
        wndl_collector_process_drain(b.process, round % 2 == 0);
        struct wndl_shm *shm = b.process->shm;
        uint8_t *from = round % 4 == 0   ? (uint8_t *)shm
                        : round % 4 == 1 ? (uint8_t *)&shm->rings[0]
                        : round % 4 == 2 ? (uint8_t *)&shm->modules[0]
                                         : shm->tree;
        size_t size =
            round % 4 == 0 ? offsetof(struct wndl_shm, modules) : 64 * 1024;
        for (size_t i = 0; i < size; i++)
            from[i] = (uint8_t)random();
        wndl_collector_process_drain(b.process, false);
        finish(&b);
        tear_down(&b);
    }
}

/* ---- the block */

static struct wndl_collector_process *bare_process(struct bench *b)
{
    const struct wndl_recording_process origin = {.pid = (uint32_t)getpid()};
    const struct wndl_collector_heap_request none = {0};
    struct wndl_collector_process *p = wndl_collector_process_new(
        &b->recording, &b->totals, &origin, &none, NULL);
    assert_non_null(p);
    assert_null(p->shm);
    return p;
}

static void block_that_was_made_before_is_given_to_the_next_process(
    void **state)
{
    (void)state;
    static struct wndl_run run;
    static struct wndl_processes all = {.run = &run, .spare.memfd = -1};
    const struct wndl_collector_heap_request none = {0};
    struct bench b;
    set_up(&b);
    struct wndl_process_entry entry = {.process = b.process};
    struct wndl_collector_process *p = bare_process(&b);
    wndl_processes_make_spare(&all, &entry);
    const struct wndl_collector_block spare = all.spare;
    assert_true(spare.memfd >= 0);
    assert_int_equal(spare.shm->magic, WNDL_SHM_MAGIC);
    assert_int_equal(wndl_processes_give_block(&all, p, &none), spare.memfd);
    assert_ptr_equal(p->shm, spare.shm);
    assert_int_equal(all.spare.memfd, -1);
    close(spare.memfd);
    wndl_collector_process_free(p);
    p = bare_process(&b);
    const int memfd = wndl_processes_give_block(&all, p, &none);
    assert_true(memfd >= 0);
    assert_non_null(p->shm);
    close(memfd);
    wndl_collector_process_free(p);
    finish(&b);
    tear_down(&b);
}

static void block_fits_where_its_capacities_are_wanted(void **state)
{
    (void)state;
    struct wndl_collector_block block;
    struct wndl_collector_heap_request heap = {0};
    assert_true(wndl_collector_block_make(&block, &heap));
    assert_true(wndl_collector_block_fits(&block, &heap));
    wndl_collector_block_free(&block);
    assert_false(wndl_collector_block_fits(&block, &heap));
    heap.flags = WNDL_HEAP_ON;
    heap.nodes = WNDL_SHM_NODES;
    heap.sites = WNDL_HEAP_SITES_32;
    assert_true(wndl_collector_block_make(&block, &heap));
    assert_true(wndl_collector_block_fits(&block, &heap));
    heap.sites /= 2;
    assert_false(wndl_collector_block_fits(&block, &heap));
    heap.sites *= 2;
    heap.nodes = WNDL_SHM_NODES_HEAP;
    assert_false(wndl_collector_block_fits(&block, &heap));
    wndl_collector_block_free(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_come_out_as_they_were_left),
        cmocka_unit_test(an_image_that_was_found_by_two_paths_is_one),
        cmocka_unit_test(a_module_has_the_name_that_the_kernel_tells),
        cmocka_unit_test(an_image_has_a_path_that_can_be_opened),
        cmocka_unit_test(modules_at_one_address_are_told_apart_by_owner),
        cmocka_unit_test(a_node_waits_until_its_module_is_taken),
        cmocka_unit_test(a_sample_waits_until_its_node_is_published),
        cmocka_unit_test(a_ring_given_to_another_thread_is_another_thread),
        cmocka_unit_test(losses_are_told_at_the_end),
        cmocka_unit_test(impossible_counts_are_not_told),
        cmocka_unit_test(
            block_that_was_made_before_is_given_to_the_next_process),
        cmocka_unit_test(block_fits_where_its_capacities_are_wanted),
        cmocka_unit_test(a_ring_with_an_impossible_position_begins_anew),
        cmocka_unit_test(scribbled_memory_never_breaks_the_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
