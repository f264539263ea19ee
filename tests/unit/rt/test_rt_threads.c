/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "rt/core/rt.h"
#include "rt/sample/events.h"
#include "rt/sample/threads.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* No thread has such ids: they are above the kernel's largest. */
enum { NOBODY = 0x40000000, FIRST_LIMIT = 64 };

static int set_up(void **state)
{
    (void)state;
    size_t size = wndl_shm_size(1);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    wndl_rt.shm = memory;
    wndl_rt.pid = getpid();
    wndl_rt.max_frames = 100;
    wndl_rt_threads_forget();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return munmap(wndl_rt.shm, wndl_shm_size(1));
}

static struct wndl_rt_thread *made(int tid)
{
    struct wndl_rt_thread *t = wndl_rt_thread_of(tid);
    assert_non_null(t);
    assert_int_equal(t->tid, tid);
    return t;
}

static void thread_keeps_its_memory(void **state)
{
    (void)state;
    assert_null(wndl_rt_thread_find(gettid()));
    struct wndl_rt_thread *t = made(gettid());
    assert_ptr_equal(made(gettid()), t);
    assert_ptr_equal(wndl_rt_thread_find(gettid()), t);
    assert_ptr_equal(wndl_rt_thread_at(t->slot), t);
    assert_int_equal(wndl_rt_threads_known(), 1);
}

static void threads_have_rings_of_their_own(void **state)
{
    (void)state;
    struct wndl_rt_thread *a = made(NOBODY), *b = made(NOBODY + 1);
    assert_int_not_equal(a->slot, b->slot);
    uint64_t used = atomic_load(&wndl_rt.shm->ring_used[0]);
    assert_true((used >> a->slot & 1) == 1);
    assert_true((used >> b->slot & 1) == 1);
}

/* Ids that have the same place in the table. */
static void thread_is_found_after_its_neighbour_has_ended(void **state)
{
    (void)state;
    enum { SAME_PLACE = 2 * WNDL_SHM_THREADS };
    struct wndl_rt_thread *first = made(NOBODY);
    struct wndl_rt_thread *second = made(NOBODY + SAME_PLACE);
    wndl_rt_thread_free(first);
    assert_null(wndl_rt_thread_find(NOBODY));
    assert_ptr_equal(wndl_rt_thread_find(NOBODY + SAME_PLACE), second);
}

static void slot_of_an_ended_thread_is_the_next_ones(void **state)
{
    (void)state;
    struct wndl_rt_thread *ended = made(NOBODY);
    wndl_rt_thread_free(ended);
    assert_int_equal(wndl_rt_threads_known(), 0);
    assert_ptr_equal(made(NOBODY + 1), ended);
}

static void ring_that_is_about_to_be_full_is_passed_over(void **state)
{
    (void)state;
    struct wndl_rt_thread *full = made(NOBODY), *empty = made(NOBODY + 1);
    wndl_rt_thread_free(empty);
    wndl_rt_thread_free(full);
    atomic_store(&wndl_rt.shm->rings[full->slot].head, WNDL_RING_BYTES / 2);
    assert_ptr_equal(made(NOBODY + 2), empty);
}

static void renewed_thread_is_as_a_new_one(void **state)
{
    (void)state;
    struct wndl_rt_thread *t = made(NOBODY);
    t->announced = true;
    t->left_out = true;
    t->named = false;
    t->last_cpu = 5;
    t->name[0] = 'x';
    t->stacks.own.high = 1;
    wndl_rt_thread_renew(t);
    assert_false(t->announced);
    assert_false(t->left_out);
    assert_true(t->named);
    assert_int_equal(t->last_cpu, 0);
    assert_int_equal(t->name[0], 0);
    assert_int_equal(t->stacks.own.high, 0);
}

static void calling_thread_is_the_one_that_said_so(void **state)
{
    (void)state;
    assert_null(wndl_rt_thread_self());
    struct wndl_rt_thread *t = made(gettid());
    wndl_rt_thread_begin(t);
    assert_ptr_equal(wndl_rt_thread_self(), t);
    wndl_rt_thread_free(t);
    assert_null(wndl_rt_thread_self());
}

static void sweep_gives_back_those_that_have_ended(void **state)
{
    (void)state;
    struct wndl_rt_thread *here = made(gettid());
    struct wndl_rt_thread *announced = made(NOBODY);
    announced->announced = true;
    (void)made(NOBODY + 1);
    wndl_rt_threads_sweep();
    assert_int_equal(wndl_rt_threads_known(), 1);
    assert_ptr_equal(wndl_rt_thread_find(gettid()), here);
    assert_null(wndl_rt_thread_find(NOBODY));
    /* Its end is in its ring. */
    assert_true(atomic_load(&wndl_rt.shm->rings[announced->slot].head) > 0);
}

static void many_ended_threads_are_swept_by_themselves(void **state)
{
    (void)state;
    for (int i = 0; i < FIRST_LIMIT; i++)
        (void)made(NOBODY + i);
    assert_int_equal(wndl_rt_threads_known(), FIRST_LIMIT);
    (void)made(NOBODY + FIRST_LIMIT);
    assert_int_equal(wndl_rt_threads_known(), 1);
}

/* Where threads wait, which costs nothing, until it is open. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool is_open;
};

static void wait_at(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (!gate->is_open)
        pthread_cond_wait(&gate->opened, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void open_gate(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_open = true;
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->lock);
}

/* A thread that lives until `end` is open. */
struct living {
    pthread_t thread;
    _Atomic int tid;
    struct gate *end;
};

static void *live(void *given)
{
    struct living *living = given;
    atomic_store(&living->tid, gettid());
    wait_at(living->end);
    return NULL;
}

static int begun(struct living *living, struct gate *end)
{
    living->end = end;
    assert_int_equal(pthread_create(&living->thread, NULL, live, living), 0);
    while (atomic_load(&living->tid) == 0)
        usleep(100);
    return atomic_load(&living->tid);
}

/* Each attempt of a thread that finds no slot would ask about all others. */
static void full_table_is_swept_once_for_many_attempts(void **state)
{
    (void)state;
    static struct living all[WNDL_SHM_THREADS];
    static struct gate most = {
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    static struct gate seventh = {
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    for (int i = 0; i < WNDL_SHM_THREADS; i++)
        (void)made(begun(&all[i], i == 7 ? &seventh : &most));
    assert_null(wndl_rt_thread_of(NOBODY));
    open_gate(&seventh);
    pthread_join(all[7].thread, NULL);
    for (int i = 1; i < WNDL_SHM_THREADS; i++)
        assert_null(wndl_rt_thread_of(NOBODY));
    (void)made(NOBODY);
    open_gate(&most);
    for (int i = 0; i < WNDL_SHM_THREADS; i++) {
        if (i != 7)
            pthread_join(all[i].thread, NULL);
    }
}

static void memory_of_all_slots_is_together(void **state)
{
    (void)state;
    struct wndl_rt_thread *first = wndl_rt_thread_at(0);
    struct wndl_rt_thread *second = wndl_rt_thread_at(1);
    struct wndl_rt_thread *third = wndl_rt_thread_at(2);
    assert_int_equal(
        (char *)second - (char *)first, (char *)third - (char *)second);
}

static void no_thread_is_at_a_slot_that_is_none(void **state)
{
    (void)state;
    assert_null(wndl_rt_thread_at(WNDL_SHM_THREADS));
}

static void child_knows_no_thread(void **state)
{
    (void)state;
    wndl_rt_thread_begin(made(gettid()));
    wndl_rt_threads_forget();
    assert_int_equal(wndl_rt_threads_known(), 0);
    assert_null(wndl_rt_thread_find(gettid()));
    assert_null(wndl_rt_thread_self());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(thread_keeps_its_memory),
        TEST(threads_have_rings_of_their_own),
        TEST(thread_is_found_after_its_neighbour_has_ended),
        TEST(slot_of_an_ended_thread_is_the_next_ones),
        TEST(ring_that_is_about_to_be_full_is_passed_over),
        TEST(renewed_thread_is_as_a_new_one),
        TEST(calling_thread_is_the_one_that_said_so),
        TEST(sweep_gives_back_those_that_have_ended),
        TEST(many_ended_threads_are_swept_by_themselves),
        TEST(full_table_is_swept_once_for_many_attempts),
        TEST(memory_of_all_slots_is_together),
        TEST(no_thread_is_at_a_slot_that_is_none),
        TEST(child_knows_no_thread),
    };
    if (runs_on_valgrind())
        cmocka_set_skip_filter("full_table*"); /* its threads take minutes */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
