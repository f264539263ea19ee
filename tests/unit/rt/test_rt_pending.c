/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "rt/core/rt.h"
#include "rt/signals/pending.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static const uint64_t both =
    UINT64_C(1) << (SIGTRAP - 1) | UINT64_C(1) << (SIGPROF - 1);
static int arrived, last_value;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    arrived++;
    last_value = info->si_value.sival_int;
    wndl_rt_pending_arrived();
}

static int set_up(void **state)
{
    (void)state;
    wndl_rt.pid = getpid();
    wndl_rt_pending_forget();
    arrived = 0;
    struct sigaction action = {
        .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    return sigaction(SIGPROF, &action, NULL);
}

/* As if it had been sent to this thread, or to the process. */
static void keep(int number, int code, int value)
{
    siginfo_t info = {.si_signo = number, .si_code = code};
    info.si_value.sival_int = value;
    wndl_rt_pending_add(number, &info);
}

static int take(uint64_t set)
{
    siginfo_t info;
    int number = wndl_rt_pending_take(set, &info);
    last_value = number == 0 ? 0 : info.si_value.sival_int;
    return number;
}

static void *in_thread(void *result)
{
    *(uint64_t *)result = wndl_rt_pending_here();
    return NULL;
}

static uint64_t pending_in_other_thread(void)
{
    uint64_t result = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, in_thread, &result), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return result;
}

static void signal_for_a_thread_is_its_own(void **state)
{
    (void)state;
    keep(SIGPROF, SI_TKILL, 1);
    assert_true(wndl_rt_pending_here() == wndl_rt_signal_bit(SIGPROF));
    assert_true(pending_in_other_thread() == 0);
    assert_int_equal(take(both), SIGPROF);
    assert_int_equal(take(both), 0);
}

static void signal_for_the_process_is_anybodys(void **state)
{
    (void)state;
    keep(SIGTRAP, SI_USER, 1);
    assert_true(wndl_rt_pending_here() == wndl_rt_signal_bit(SIGTRAP));
    assert_true(pending_in_other_thread() == wndl_rt_signal_bit(SIGTRAP));
    assert_int_equal(take(both), SIGTRAP);
    assert_true(pending_in_other_thread() == 0);
}

static void of_each_number_the_first_is_kept(void **state)
{
    (void)state;
    for (int value = 1; value <= 3; value++) {
        keep(SIGPROF, SI_TKILL, value);
        keep(SIGPROF, SI_QUEUE, 10 * value);
    }
    assert_int_equal(take(both), SIGPROF);
    assert_int_equal(last_value, 1);
    assert_int_equal(take(both), SIGPROF);
    assert_int_equal(last_value, 10);
    assert_int_equal(take(both), 0);
}

static void what_is_not_asked_for_stays(void **state)
{
    (void)state;
    keep(SIGPROF, SI_TKILL, 1);
    assert_int_equal(take(wndl_rt_signal_bit(SIGTRAP)), 0);
    assert_int_equal(take(wndl_rt_signal_bit(SIGPROF)), SIGPROF);
}

/* Valgrind delivers it when a thread gives way; else it is there already. */
static void await_delivery(void)
{
    for (int i = 0; runs_on_valgrind() && arrived == 0 && i < 1000; i++)
        sched_yield();
}

static void delivered_signal_comes_with_what_was_sent(void **state)
{
    (void)state;
    keep(SIGPROF, SI_QUEUE, 77);
    unsigned before = wndl_rt_pending_arrivals();
    wndl_rt_pending_deliver(wndl_rt_signal_bit(SIGTRAP));
    assert_int_equal(arrived, 0);
    wndl_rt_pending_deliver(both);
    await_delivery();
    assert_int_equal(arrived, 1);
    assert_int_equal(last_value, 77);
    assert_int_equal(wndl_rt_pending_arrivals() - before, 1);
    assert_true(wndl_rt_pending_here() == 0);
}

static void signal_that_never_arrives_is_given_up(void **state)
{
    (void)state;
    signal(SIGPROF, SIG_IGN);
    keep(SIGPROF, SI_QUEUE, 1);
    wndl_rt_pending_deliver(both);
    assert_true(wndl_rt_pending_here() == 0);
}

static void *send_to_process(void *unused)
{
    (void)unused;
    keep(SIGPROF, SI_QUEUE, 5);
    return NULL;
}

static void thread_that_waits_gets_what_the_process_is_sent(void **state)
{
    (void)state;
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
    wndl_rt_pending_wait_begin(wndl_rt_signal_bit(SIGPROF));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send_to_process, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    wndl_rt_pending_wait_end(wndl_rt_signal_bit(SIGPROF));
    siginfo_t info = {0};
    const struct timespec now = {0};
    assert_int_equal(sigtimedwait(&set, &info, &now), SIGPROF);
    assert_int_equal(info.si_value.sival_int, 5);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_true(wndl_rt_pending_here() == 0);
    keep(SIGPROF, SI_QUEUE, 6);
    assert_true(wndl_rt_pending_here() == wndl_rt_signal_bit(SIGPROF));
}

static void child_has_none_pending(void **state)
{
    (void)state;
    keep(SIGPROF, SI_TKILL, 1);
    keep(SIGTRAP, SI_USER, 1);
    assert_true(wndl_rt_pending_here() == both);
    wndl_rt_pending_forget();
    assert_true(wndl_rt_pending_here() == 0);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(signal_for_a_thread_is_its_own),
        TEST(signal_for_the_process_is_anybodys),
        TEST(of_each_number_the_first_is_kept),
        TEST(what_is_not_asked_for_stays),
        TEST(delivered_signal_comes_with_what_was_sent),
        TEST(signal_that_never_arrives_is_given_up),
        TEST(thread_that_waits_gets_what_the_process_is_sent),
        TEST(child_has_none_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
