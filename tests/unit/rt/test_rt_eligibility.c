/* SPDX-License-Identifier: MIT */
/* Which processes are not recorded. Each sandbox is a child's. */
#include "testlib.h"

#include "rt/core/rt.h"
#include "rt/start/eligibility.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_emulated_with(const char *variable)
{
    const char *const environment[] = {"A=/vgpreload_core", variable, NULL};
    return wndl_rt_is_emulated((char *const *)environment);
}

static void valgrind_is_known_by_what_it_preloads(void **state)
{
    (void)state;
    assert_true(is_emulated_with("LD_PRELOAD=/v/vgpreload_core-amd64.so"));
    assert_true(is_emulated_with("LD_PRELOAD=/a.so:/v/vgpreload_core-x86.so"));
    assert_false(is_emulated_with("LD_PRELOAD=/a.so:/v/vgpreload_cor"));
    assert_false(is_emulated_with("LD_PRELOAD=vgpreload_core.so"));
    assert_false(is_emulated_with("LD_PRELOAD="));
    assert_false(is_emulated_with("OTHER=/v/vgpreload_core-amd64.so"));
}

static void test_itself_is_recorded(void **state)
{
    (void)state;
    assert_false(wndl_rt_is_emulator());
    assert_int_equal(wndl_rt_ineligible_executable(), WNDL_UNRECORDED_NONE);
}

/* ---- in a child, whose exit status is an answer */

static int answer_of(int (*work)(long), long argument)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(work(argument));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* `percent` of what the block needs twice, beyond what is mapped already. */
static int has_space_within(long percent)
{
    size_t used = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%zu", &used) != 1)
        return 2;
    fclose(file);
    const rlim_t need = 2 * wndl_shm_size(WNDL_SHM_NODES);
    const struct rlimit limit = {
        used * 4096 + need / 100 * (rlim_t)percent, RLIM_INFINITY};
    if (percent != 0 && setrlimit(RLIMIT_AS, &limit) != 0)
        return 2;
    return wndl_rt_has_address_space();
}

static void most_of_a_limited_address_space_stays_the_program_s(void **state)
{
    (void)state;
    assert_int_equal(answer_of(has_space_within, 0), 1);
    assert_int_equal(answer_of(has_space_within, 150), 1);
    assert_int_equal(answer_of(has_space_within, 90), 0);
}

/* Answers. */
enum {
    TALKS = 1,
    RECORDS = 2,
    BARRIERS = 4,
    LOCKS = 8,
    EVENTS = 16,
    ALONE = 32,
    CAREFUL = 64,
    FAILED = 128,
    ALL = TALKS | RECORDS | BARRIERS | LOCKS | EVENTS | ALONE,
};

static int answer(void)
{
    bool talks;
    enum wndl_unrecorded_reason reason = wndl_rt_ineligible_sandbox(&talks);
    if (reason != WNDL_UNRECORDED_NONE && reason != WNDL_UNRECORDED_SANDBOX)
        return FAILED;
    return (talks ? TALKS : 0) |
           (reason == WNDL_UNRECORDED_NONE ? RECORDS : 0) |
           (wndl_rt.with_barriers ? BARRIERS : 0) |
           (wndl_rt.with_locks ? LOCKS : 0) |
           (wndl_rt.with_events ? EVENTS : 0) |
           (wndl_rt.may_begin_alone ? ALONE : 0) |
           (wndl_rt_is_careful() ? CAREFUL : 0);
}

/* After a filter that answers the call `number` by `action`. */
static int filtered(long number, uint32_t action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return FAILED;
    return answer();
}

static int killed_for(long number)
{
    return filtered(number, SECCOMP_RET_KILL_PROCESS);
}

static int refused(long number)
{
    return filtered(number, SECCOMP_RET_ERRNO | EPERM);
}

static int free_of_filters(long careful)
{
    wndl_rt.careful = careful != 0;
    return answer();
}

static void without_a_sandbox_all_calls_are_made(void **state)
{
    (void)state;
    assert_int_equal(answer_of(free_of_filters, 0), ALL);
    assert_int_equal(answer_of(free_of_filters, 1), ALL);
}

static void harmless_filter_changes_nothing(void **state)
{
    (void)state;
    assert_int_equal(answer_of(killed_for, SYS_reboot), ALL);
}

/* Which of them can be told apart is how far the trial has come. */
static void calls_that_end_the_process_are_not_made(void **state)
{
    (void)state;
    static const struct {
        long number;
        int expected;
    } calls[] = {
        {SYS_socket, CAREFUL},
        {SYS_prlimit64, CAREFUL},
        {SYS_madvise, TALKS | CAREFUL},
        {SYS_timer_delete, TALKS | CAREFUL},
        {SYS_membarrier, ALL & ~(BARRIERS | LOCKS | ALONE)},
        {SYS_mlock, ALL & ~(LOCKS | ALONE)},
        {SYS_munlock, ALL & ~(LOCKS | ALONE)},
        {SYS_memfd_create, ALL & ~ALONE},
        {SYS_shutdown, ALL & ~ALONE},
        {SYS_perf_event_open, ALL & ~EVENTS},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_int_equal(
            answer_of(killed_for, calls[i].number), calls[i].expected);
}

/* An error is no harm, but without a socket there is no session. */
static void refused_calls_are_harmless_but_for_the_socket(void **state)
{
    (void)state;
    assert_int_equal(answer_of(refused, SYS_perf_event_open), ALL);
    assert_int_equal(answer_of(refused, SYS_timer_create), ALL);
    assert_int_equal(answer_of(refused, SYS_socket), CAREFUL);
}

/* Whether there is a filter cannot be asked: only a careful process tries. */
static int refused_to_ask(long careful)
{
    wndl_rt.careful = careful != 0;
    return refused(SYS_prctl);
}

static void process_that_may_not_ask_tries_if_it_is_careful(void **state)
{
    (void)state;
    assert_int_equal(answer_of(refused_to_ask, 0), ALL & ~BARRIERS);
    assert_int_equal(answer_of(refused_to_ask, 1), ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valgrind_is_known_by_what_it_preloads),
        cmocka_unit_test(test_itself_is_recorded),
        cmocka_unit_test(most_of_a_limited_address_space_stays_the_program_s),
        cmocka_unit_test(without_a_sandbox_all_calls_are_made),
        cmocka_unit_test(harmless_filter_changes_nothing),
        cmocka_unit_test(calls_that_end_the_process_are_not_made),
        cmocka_unit_test(refused_calls_are_harmless_but_for_the_socket),
        cmocka_unit_test(process_that_may_not_ask_tries_if_it_is_careful),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
