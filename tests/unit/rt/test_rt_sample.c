/* SPDX-License-Identifier: MIT */
/* Samples of the calling thread, as its handler takes them: what is in its
 * ring then. */
#include "testlib.h"

#include "rt/core/rt.h"
#include "rt/sample/events.h"
#include "rt/sample/sample.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

enum { NODES = 1000, ALL = 16 };

static ucontext_t context;
static struct wndl_rt_sample sample;
static uint8_t bytes[WNDL_RING_BYTES];
static struct wndl_event events[ALL];

static int set_up(void **state)
{
    (void)state;
    void *memory = mmap(NULL, wndl_shm_size(NODES), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || prctl(PR_SET_NAME, "sampled") != 0)
        return -1;
    wndl_rt.shm = memory;
    wndl_rt.tree = wndl_stacktree_init(wndl_rt.shm->tree, NODES);
    wndl_rt.pid = getpid();
    wndl_rt.max_frames = 100;
    wndl_rt.threads[0] = '\0';
    wndl_rt_threads_forget();
    sample = (struct wndl_rt_sample){
        .thread = wndl_rt_thread_of(gettid()), .context = &context};
    return sample.thread == NULL ? -1 : getcontext(&context);
}

static int tear_down(void **state)
{
    (void)state;
    return munmap(wndl_rt.shm, wndl_shm_size(NODES));
}

static struct wndl_ring *ring(void)
{
    return &wndl_rt.shm->rings[sample.thread->slot];
}

/* How many events the ring has, the first of them in `events`. */
static size_t read_events(void)
{
    size_t count = 0;
    size_t size = wndl_ring_peek(ring(), 0, bytes);
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){bytes, size}, 0, false);
    while (count < ALL && wndl_event_get(&c, &events[count]))
        count++;
    assert_false(c.failed);
    return count;
}

/* Takes one where the context was got, which stands for `cpu` ns. */
static bool take(uint64_t cpu)
{
    assert_int_equal(getcontext(&context), 0);
    return wndl_rt_sample_take(&sample, cpu);
}

static void first_sample_comes_after_thread_and_name(void **state)
{
    (void)state;
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
    assert_true(take(1000));
    assert_int_equal(read_events(), 3);
    assert_int_equal(events[0].kind, WNDL_EVENT_THREAD);
    assert_int_equal(events[0].tid, gettid());
    assert_true(events[0].time == sample.now);
    assert_int_equal(events[1].kind, WNDL_EVENT_NAME);
    assert_string_equal(events[1].name, "sampled");
    assert_int_equal(events[2].kind, WNDL_EVENT_SAMPLE);
    assert_int_equal(events[2].cpu, 1000);
    assert_int_equal(events[2].end, WNDL_END_COMPLETE);
}

static void node_of_a_sample_has_the_interrupted_address(void **state)
{
    (void)state;
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
    assert_true(take(1));
    struct wndl_regs regs;
    wndl_regs_from_context(&regs, &context);
    assert_int_equal(read_events(), 3);
    uint64_t key = wndl_stacktree_node(wndl_rt.tree, events[2].node)->key;
    uint64_t address = key & ((UINT64_C(1) << WNDL_KEY_INTERRUPTED_SHIFT) - 1);
    assert_true(address == regs.ip);
    assert_int_equal(key >> WNDL_KEY_INTERRUPTED_SHIFT & 1, 1);
    assert_int_equal(wndl_rt.shm->frames_by[WNDL_HOW_CONTEXT], 1);
}

static void later_sample_tells_the_time_since_the_last(void **state)
{
    (void)state;
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
    assert_true(take(1));
    uint64_t first = sample.now;
    usleep(2000);
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
    assert_true(take(2));
    assert_int_equal(read_events(), 4);
    assert_true(events[3].time == sample.now - first);
    assert_true(events[3].time >= 2000 * 1000);
}

static void stopped_recording_takes_none(void **state)
{
    (void)state;
    atomic_store(&wndl_rt.shm->stop, 1);
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_STOPPED);
    assert_int_equal(read_events(), 0);
}

/* The first look after a pause is skipped too: it knows when that ended. */
static void paused_recording_takes_none(void **state)
{
    (void)state;
    atomic_store(&wndl_rt.shm->paused, 1);
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_SKIP);
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_SKIP);
    atomic_store(&wndl_rt.shm->paused, 2);
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_SKIP);
    assert_int_equal(sample.thread->last_cpu, sample.cpu);
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
}

static void thread_of_another_name_is_left_out(void **state)
{
    (void)state;
    strcpy(wndl_rt.threads, "worker");
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_SKIP);
    assert_int_equal(read_events(), 0);
    assert_int_equal(prctl(PR_SET_NAME, "a worker"), 0);
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
}

static void new_name_is_told(void **state)
{
    (void)state;
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
    assert_int_equal(prctl(PR_SET_NAME, "renamed"), 0);
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
    assert_int_equal(read_events(), 3);
    assert_int_equal(events[2].kind, WNDL_EVENT_NAME);
    assert_string_equal(events[2].name, "renamed");
}

static void sample_without_room_is_lost_and_counted(void **state)
{
    (void)state;
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
    uint64_t before = sample.thread->last_cpu;
    atomic_fetch_add(&ring()->head, WNDL_RING_BYTES - 64);
    while (wndl_ring_put(ring(), "", 1))
        ;
    assert_false(take(1));
    assert_int_equal(wndl_rt.shm->lost[WNDL_LOSS_RING_FULL], 1);
    assert_int_equal(sample.thread->last_cpu, before);
}

static void sample_on_unreadable_stack_is_lost_and_counted(void **state)
{
    (void)state;
    void *unreadable =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(unreadable != MAP_FAILED);
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
    assert_int_equal(getcontext(&context), 0);
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RSP] = (long)(uintptr_t)unreadable;
#elif defined(__aarch64__)
    context.uc_mcontext.sp = (uintptr_t)unreadable;
#else
    SKIP("for the processors of whole programs");
#endif
    assert_false(wndl_rt_sample_take(&sample, 1));
    assert_int_equal(wndl_rt.shm->lost[WNDL_LOSS_NO_STACK], 1);
    assert_int_equal(munmap(unreadable, 4096), 0);
}

static void thread_whose_clock_went_back_is_another(void **state)
{
    (void)state;
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
    sample.thread->last_cpu = UINT64_MAX;
    assert_int_equal(wndl_rt_sample_begin(&sample), WNDL_RT_TAKE);
    assert_int_equal(read_events(), 4);
    assert_int_equal(events[2].kind, WNDL_EVENT_THREAD);
}

static void short_lived_thread_says_all_at_its_end(void **state)
{
    (void)state;
    wndl_rt_thread_exit_self(sample.thread);
    assert_int_equal(read_events(), 3);
    assert_int_equal(events[0].kind, WNDL_EVENT_THREAD);
    assert_int_equal(events[1].kind, WNDL_EVENT_NAME);
    assert_int_equal(events[2].kind, WNDL_EVENT_END);
    assert_true(events[2].cpu > 0);
}

static void mark_announces_its_thread(void **state)
{
    (void)state;
    const struct wndl_event mark = {.kind = WNDL_EVENT_MARK,
        .duration = 5,
        .text = {(const uint8_t *)"told", 4}};
    assert_true(wndl_rt_event_emit(sample.thread, &mark));
    assert_int_equal(read_events(), 3);
    assert_int_equal(events[0].kind, WNDL_EVENT_THREAD);
    assert_int_equal(events[2].kind, WNDL_EVENT_MARK);
    assert_int_equal(events[2].duration, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(first_sample_comes_after_thread_and_name),
        TEST(node_of_a_sample_has_the_interrupted_address),
        TEST(later_sample_tells_the_time_since_the_last),
        TEST(stopped_recording_takes_none),
        TEST(paused_recording_takes_none),
        TEST(thread_of_another_name_is_left_out),
        TEST(new_name_is_told),
        TEST(sample_without_room_is_lost_and_counted),
        TEST(sample_on_unreadable_stack_is_lost_and_counted),
        TEST(thread_whose_clock_went_back_is_another),
        TEST(short_lived_thread_says_all_at_its_end),
        TEST(mark_announces_its_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
