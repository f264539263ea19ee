/* SPDX-License-Identifier: MIT */
/* Who makes a scan that the collector has asked for. The search itself, and its
 * copy of the process, are the test's. */
#include "testlib.h"

#include "rt/heap/leaks/copy.h"
#include "rt/heap/record/search.h"
#include "rt/heap/record/untracked.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static struct wndl_heap shared;
static struct wndl_heap_scan result;
static struct wndl_rt_heap_state recording = {
    .shared = &shared,
    .scan = &result,
};
static const struct wndl_regs regs;
static bool copy_is_left;
static _Atomic bool waits, is_searching;
static _Atomic uint32_t searches;

bool wndl_rt_heap_find_leaks(const struct wndl_rt_leak_search *search,
    const struct wndl_rt_root *roots, size_t count)
{
    assert_int_equal(roots[0].start, (uintptr_t)&regs);
    assert_int_equal(count, 1);
    atomic_fetch_add(&searches, 1);
    atomic_store(&is_searching, true);
    while (atomic_load(&waits))
        usleep(100);
    atomic_store(&search->scan->answers, search->scan_answers);
    return true;
}

size_t wndl_rt_untracked_roots(struct wndl_rt_root roots[WNDL_RT_EARLY])
{
    (void)roots;
    return 0;
}

bool wndl_rt_copy_is_left(void)
{
    return copy_is_left;
}

void wndl_rt_copy_wait(void)
{
}

void wndl_rt_copy_forget(void)
{
    copy_is_left = false;
}

static void ask(void)
{
    atomic_fetch_add(&shared.scan_asked, 1);
}

static int begin(void **state)
{
    (void)state;
    wndl_rt_heap = &recording;
    copy_is_left = false;
    atomic_store(&waits, false);
    atomic_store(&searches, 0);
    return 0;
}

static void each_request_is_answered_once(void **state)
{
    (void)state;
    assert_false(wndl_rt_heap_scan_is_due());
    ask();
    assert_true(wndl_rt_heap_scan_is_due());
    wndl_rt_heap_scan_as_asked(&regs);
    wndl_rt_heap_scan_as_asked(&regs);
    assert_int_equal(searches, 1);
    assert_int_equal(result.answers, shared.scan_asked);
    assert_false(wndl_rt_heap_scan_is_due());
}

/* A copy that still is scanned answers instead. */
static void one_copy_at_a_time(void **state)
{
    (void)state;
    copy_is_left = true;
    ask();
    wndl_rt_heap_scan_as_asked(&regs);
    assert_int_equal(searches, 0);
    copy_is_left = false;
    ask();
    wndl_rt_heap_scan_as_asked(&regs);
    assert_int_equal(searches, 1);
}

static void *scan(void *context)
{
    (void)context;
    wndl_rt_heap_scan_as_asked(&regs);
    return NULL;
}

/* Exit status 0: the child makes scans of its own. */
static int scan_in_child(void)
{
    atomic_store(&waits, false);
    wndl_rt_heap_search_after_fork();
    ask();
    wndl_rt_heap_scan_as_asked(&regs);
    return atomic_load(&searches) == 2 && !copy_is_left ? 0 : 1;
}

static void a_fork_during_a_scan_leaves_its_child_able_to_scan(void **state)
{
    (void)state;
    pthread_t other;
    int status;
    atomic_store(&waits, true);
    atomic_store(&is_searching, false);
    ask();
    assert_int_equal(pthread_create(&other, NULL, scan, NULL), 0);
    while (!atomic_load(&is_searching))
        usleep(100);
    copy_is_left = true;
    const pid_t child = fork();
    if (child == 0)
        _exit(scan_in_child());
    ask();
    wndl_rt_heap_scan_as_asked(&regs);
    assert_int_equal(searches, 1);
    atomic_store(&waits, false);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Where some blocks may be unknown, the collector learns that there is none. */
static void without_all_blocks_there_is_no_scan(void **state)
{
    (void)state;
    shared.own_allocator = 1;
    result.state = WNDL_HEAP_SCAN_DONE;
    ask();
    wndl_rt_heap_scan_as_asked(&regs);
    shared.own_allocator = 0;
    assert_int_equal(searches, 0);
    assert_int_equal(result.state, WNDL_HEAP_SCAN_NOT_MADE);
    assert_int_equal(result.answers, shared.scan_asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_request_is_answered_once, begin),
        cmocka_unit_test_setup(one_copy_at_a_time, begin),
        cmocka_unit_test_setup(
            a_fork_during_a_scan_leaves_its_child_able_to_scan, begin),
        cmocka_unit_test_setup(without_all_blocks_there_is_no_scan, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
