/* SPDX-License-Identifier: MIT */
/* What /proc says of a thread: of a child that has worked and waits now. */
#include "testlib.h"

#include "collect/offcpu/task.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORK = 30 * 1000 * 1000, TICK = 10 * 1000 * 1000, FILES = 10 };

static pid_t child;
static int folder;
static uint64_t before; /* when the child began, CLOCK_MONOTONIC ns */
static struct wndl_offcpu_task task;
static size_t left;

static uint64_t now(clockid_t clock)
{
    struct timespec t = {0};
    assert_int_equal(clock_gettime(clock, &t), 0);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What the child has used of the CPU. */
static uint64_t used(void)
{
    clockid_t clock;
    assert_int_equal(clock_getcpuclockid(child, &clock), 0);
    return now(clock);
}

static enum wndl_offcpu_state state_of(uint64_t *pc, uint64_t *sp)
{
    return wndl_offcpu_task_state(&task, folder, &left, pc, sp);
}

static void wait_until_blocked(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    uint64_t pc, sp;
    while (used() < WORK || state_of(&pc, &sp) == WNDL_OFFCPU_RUNS)
        nanosleep(&pause, NULL);
}

static void work(void)
{
    while (clock() < WORK / 1000)
        ;
    for (;;)
        pause();
}

static int set_up(void **state)
{
    (void)state;
    before = now(CLOCK_MONOTONIC);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "a (b) 7");
        work();
    }
    folder = wndl_offcpu_task_folder(child);
    left = FILES;
    wndl_offcpu_task_init(&task, (uint32_t)child);
    wait_until_blocked();
    return child > 0 && folder >= 0 ? 0 : -1;
}

static int end_child(void)
{
    kill(child, SIGKILL);
    return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < WNDL_OFFCPU_FILES; i++)
        wndl_offcpu_task_close(&task, i, &left);
    assert_int_equal(left, FILES);
    close(folder);
    return end_child();
}

static void times_are_those_of_its_clock(void **state)
{
    (void)state;
    struct wndl_offcpu_times times;
    const uint64_t from = now(CLOCK_MONOTONIC);
    assert_true(wndl_offcpu_task_times(&task, folder, &left, &times));
    assert_in_range(times.time, from, now(CLOCK_MONOTONIC));
    assert_int_equal(times.run, used());
    assert_true(times.run >= WORK);
    assert_true(times.run + times.wait <= times.time - before + TICK);
    assert_in_range(times.slices, 1, 100000);
}

static void birth_is_known_to_a_tick(void **state)
{
    (void)state;
    uint64_t birth;
    assert_true(wndl_offcpu_task_birth(&task, folder, &birth));
    assert_in_range(birth, before - TICK, before + used() + 10 * TICK);
}

static void blocked_thread_has_its_place(void **state)
{
    (void)state;
    uint64_t pc = 0, sp = 0;
    const char *here = (const char *)&pc;
    if (geteuid() != 0)
        SKIP("only root can see it everywhere");
    assert_int_equal(state_of(&pc, &sp), WNDL_OFFCPU_BLOCKED);
    assert_true(pc != 0);
    /* Its stack is where ours is. */
    assert_in_range(
        sp, (uintptr_t)here - (1 << 20), (uintptr_t)here + (1 << 20));
}

static void name_may_hold_anything(void **state)
{
    (void)state;
    char name[16];
    assert_true(wndl_offcpu_task_name(&task, folder, name));
    assert_string_equal(name, "a (b) 7");
}

static unsigned seen;

static void see(void *context, uint32_t tid)
{
    assert_ptr_equal(context, &seen);
    assert_int_equal(tid, child);
    seen++;
}

static void threads_are_listed_any_number_of_times(void **state)
{
    (void)state;
    seen = 0;
    assert_int_equal(wndl_offcpu_task_count(folder), 1);
    assert_true(wndl_offcpu_task_each(folder, see, &seen));
    assert_true(wndl_offcpu_task_each(folder, see, &seen));
    assert_int_equal(seen, 2);
}

/* Without descriptors the files are opened for each read. */
static void few_descriptors_are_enough(void **state)
{
    (void)state;
    struct wndl_offcpu_task poor;
    struct wndl_offcpu_times times;
    size_t none = 0;
    wndl_offcpu_task_init(&poor, (uint32_t)child);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(wndl_offcpu_task_times(&poor, folder, &none, &times));
        assert_int_equal(times.run, used());
        assert_int_equal(none, 0);
        assert_int_equal(poor.files[WNDL_OFFCPU_SCHEDSTAT], -1);
    }
}

/* The last of them. */
static void thread_that_has_ended_is_gone(void **state)
{
    (void)state;
    struct wndl_offcpu_times times;
    uint64_t birth;
    char name[16];
    assert_int_equal(end_child(), 0);
    assert_false(wndl_offcpu_task_times(&task, folder, &left, &times));
    assert_false(wndl_offcpu_task_is_there(errno));
    assert_false(wndl_offcpu_task_birth(&task, folder, &birth));
    assert_false(wndl_offcpu_task_name(&task, folder, name));
    assert_int_equal(wndl_offcpu_task_count(folder), 0);
    assert_true(wndl_offcpu_task_is_there(EMFILE));
    assert_int_equal(set_up(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_its_clock),
        cmocka_unit_test(birth_is_known_to_a_tick),
        cmocka_unit_test(blocked_thread_has_its_place),
        cmocka_unit_test(name_may_hold_anything),
        cmocka_unit_test(threads_are_listed_any_number_of_times),
        cmocka_unit_test(few_descriptors_are_enough),
        cmocka_unit_test(thread_that_has_ended_is_gone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
