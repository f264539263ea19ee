/* SPDX-License-Identifier: MIT */
/* What the program has set for the engine's signals, which its own handler and
 * its own mask are to obey although the kernel knows only ours. */
#include "testlib.h"

#include "rt/arch/arch.h"
#include "rt/core/rt.h"
#include "rt/signals/dispositions.h"
#include "rt/signals/pending.h"

#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static uint64_t bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

static int seen;
static siginfo_t *seen_info;
static void *seen_context;
static sigset_t seen_mask;

static void note(int number)
{
    seen = number;
    (void)sigprocmask(SIG_SETMASK, NULL, &seen_mask);
}

static void note_all(int number, siginfo_t *info, void *context)
{
    note(number);
    seen_info = info;
    seen_context = context;
}

static const struct sigaction standard = {.sa_handler = SIG_DFL},
                              ignored = {.sa_handler = SIG_IGN};

static int set_up(void **state)
{
    (void)state;
    wndl_rt.pid = getpid();
    wndl_rt.signals = bit(SIGTRAP) | bit(SIGPROF);
    wndl_rt.ignored = 0;
    wndl_rt_signal_after_fork();
    wndl_rt_signal_exchange(SIGTRAP, &standard, NULL);
    wndl_rt_signal_exchange(SIGPROF, &standard, NULL);
    wndl_rt_mask_remember(0);
    seen = 0;
    seen_info = NULL;
    return 0;
}

/* What a handler of the program leaves changed is the kernel's to restore. */
static int tear_down(void **state)
{
    (void)state;
    sigset_t none;
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

static struct sigaction set_for(int number)
{
    struct sigaction action;
    wndl_rt_signal_exchange(number, NULL, &action);
    return action;
}

/* As the handler does with one of `number` that somebody has sent. */
static bool chain(int number, int code)
{
    static siginfo_t info;
    static ucontext_t context;
    info = (siginfo_t){.si_signo = number, .si_code = code};
    (void)getcontext(&context);
    sigaddset(&context.uc_sigmask, SIGUSR1);
    bool ran = wndl_rt_signal_chain(number, &info, &context);
    assert_true(seen_info == NULL || seen_info == &info);
    assert_true(seen_info == NULL || seen_context == (void *)&context);
    return ran;
}

/* The signal that a child dies of which does that; 0 if it lives. */
static int deadly(int number, int code)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        wndl_rt.pid = getpid();
        (void)chain(number, code);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void each_signal_has_the_action_that_was_set(void **state)
{
    (void)state;
    struct sigaction old, trap = {.sa_handler = note, .sa_flags = SA_RESTART};
    wndl_rt_signal_exchange(SIGTRAP, &trap, &old);
    assert_ptr_equal(old.sa_handler, SIG_DFL);
    wndl_rt_signal_exchange(SIGPROF, &ignored, &old);
    assert_ptr_equal(old.sa_handler, SIG_DFL);
    assert_ptr_equal(set_for(SIGTRAP).sa_handler, note);
    assert_int_equal(
        set_for(SIGTRAP).sa_flags, SA_RESTART | WNDL_ARCH_SA_RESTORER);
    wndl_rt_signal_exchange(SIGPROF, &standard, &old);
    assert_ptr_equal(old.sa_handler, SIG_IGN);
}

static void same_variable_may_be_old_and_new(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = note};
    wndl_rt_signal_exchange(SIGTRAP, &ignored, NULL);
    wndl_rt_signal_exchange(SIGTRAP, &action, &action);
    assert_ptr_equal(action.sa_handler, SIG_IGN);
    assert_ptr_equal(set_for(SIGTRAP).sa_handler, note);
}

static void only_the_engines_signals_are_kept(void **state)
{
    (void)state;
    wndl_rt.signals = bit(SIGTRAP);
    assert_true(wndl_rt_signal_is_kept(SIGTRAP));
    assert_false(wndl_rt_signal_is_kept(SIGPROF));
    assert_false(wndl_rt_signal_is_kept(SIGTRAP + 64));
    assert_false(wndl_rt_signal_is_kept(0));
    assert_false(wndl_rt_signal_is_kept(-1));
    wndl_rt.signals = UINT64_MAX;
    assert_true(wndl_rt_signal_is_kept(64));
    assert_false(wndl_rt_signal_is_kept(65));
}

/* As a child of vfork is. */
static void nothing_is_kept_in_another_process(void **state)
{
    (void)state;
    wndl_rt.pid = getppid();
    assert_false(wndl_rt_signal_is_kept(SIGTRAP));
}

static void handler_gets_what_the_kernel_gave(void **state)
{
    (void)state;
    struct sigaction action = {
        .sa_sigaction = note_all, .sa_flags = SA_SIGINFO};
    wndl_rt_signal_exchange(SIGPROF, &action, NULL);
    assert_true(chain(SIGPROF, SI_USER));
    assert_int_equal(seen, SIGPROF);
    assert_non_null(seen_info);
}

/* What was blocked when the signal came, what the action names, and itself. */
static void handler_runs_under_the_mask_that_it_asked_for(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = note};
    sigaddset(&action.sa_mask, SIGUSR2);
    wndl_rt_signal_exchange(SIGTRAP, &action, NULL);
    assert_true(chain(SIGTRAP, SI_USER));
    assert_int_equal(seen, SIGTRAP);
    assert_true(sigismember(&seen_mask, SIGUSR1));
    assert_true(sigismember(&seen_mask, SIGUSR2));
    assert_true(sigismember(&seen_mask, SIGTRAP));
    assert_false(sigismember(&seen_mask, SIGPROF));
}

static void handler_that_may_be_interrupted_by_itself_is(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_NODEFER};
    wndl_rt_signal_exchange(SIGTRAP, &action, NULL);
    assert_true(chain(SIGTRAP, SI_USER));
    assert_false(sigismember(&seen_mask, SIGTRAP));
}

static void handler_for_one_signal_runs_once(void **state)
{
    (void)state;
    struct sigaction once = {.sa_handler = note, .sa_flags = SA_RESETHAND};
    wndl_rt_signal_exchange(SIGTRAP, &once, NULL);
    assert_true(chain(SIGTRAP, SI_USER));
    assert_ptr_equal(set_for(SIGTRAP).sa_handler, SIG_DFL);
    struct sigaction often = {.sa_handler = note};
    wndl_rt_signal_exchange(SIGTRAP, &often, NULL);
    assert_true(chain(SIGTRAP, SI_USER));
    assert_ptr_equal(set_for(SIGTRAP).sa_handler, note);
}

static void without_a_handler_the_program_dies(void **state)
{
    (void)state;
    assert_int_equal(deadly(SIGTRAP, SI_USER), SIGTRAP);
    assert_int_equal(deadly(SIGPROF, SI_USER), SIGPROF);
}

static void ignored_signal_does_nothing(void **state)
{
    (void)state;
    wndl_rt_signal_exchange(SIGTRAP, &ignored, NULL);
    wndl_rt_signal_exchange(SIGPROF, &ignored, NULL);
    assert_false(chain(SIGTRAP, SI_USER));
    assert_false(chain(SIGPROF, SI_KERNEL));
}

/* int3 with SIGTRAP ignored, or blocked, kills. */
static void what_an_instruction_raised_cannot_be_put_off(void **state)
{
    (void)state;
    wndl_rt_signal_exchange(SIGTRAP, &ignored, NULL);
    assert_int_equal(deadly(SIGTRAP, SI_KERNEL), SIGTRAP);
    struct sigaction action = {.sa_handler = note};
    wndl_rt_signal_exchange(SIGTRAP, &action, NULL);
    wndl_rt_mask_remember(bit(SIGTRAP));
    assert_int_equal(deadly(SIGTRAP, SI_KERNEL), SIGTRAP);
}

static void blocked_signal_is_pending(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = note};
    wndl_rt_signal_exchange(SIGPROF, &action, NULL);
    wndl_rt_mask_remember(bit(SIGPROF));
    assert_true(wndl_rt_mask_blocked() == bit(SIGPROF));
    assert_false(chain(SIGPROF, SI_USER));
    assert_int_equal(seen, 0);
    assert_true(wndl_rt_pending_here() == bit(SIGPROF));
    wndl_rt_mask_remember(bit(SIGTRAP));
    assert_true(chain(SIGPROF, SI_USER));
}

static void every_signal_of_others_has_arrived(void **state)
{
    (void)state;
    unsigned before = wndl_rt_pending_arrivals();
    wndl_rt_signal_exchange(SIGTRAP, &ignored, NULL);
    (void)chain(SIGTRAP, SI_USER);
    assert_int_equal(wndl_rt_pending_arrivals(), before + 1);
}

static void what_is_ignored_is_told_of_the_engines_alone(void **state)
{
    (void)state;
    assert_true(wndl_rt_signal_ignored() == 0);
    wndl_rt_signal_exchange(SIGTRAP, &ignored, NULL);
    assert_true(wndl_rt_signal_ignored() == bit(SIGTRAP));
    wndl_rt_signal_exchange(SIGPROF, &ignored, NULL);
    assert_true(wndl_rt_signal_ignored() == (bit(SIGTRAP) | bit(SIGPROF)));
    wndl_rt.signals = bit(SIGPROF);
    assert_true(wndl_rt_signal_ignored() == bit(SIGPROF));
}

static void settings_of_the_image_before_are_taken_over(void **state)
{
    (void)state;
    wndl_rt.ignored = bit(SIGPROF);
    uint64_t blocked = bit(SIGPROF) | bit(SIGTRAP);
    assert_true(wndl_rt_signal_inherit(blocked) == blocked);
    assert_true(wndl_rt_signal_ignored() == bit(SIGPROF));
}

/* SIGTRAP is both while an exec goes on: that was us. */
static void pause_before_an_exec_is_not_taken_over(void **state)
{
    (void)state;
    wndl_rt.ignored = bit(SIGTRAP) | bit(SIGPROF);
    uint64_t blocked = bit(SIGPROF) | bit(SIGTRAP);
    assert_true(wndl_rt_signal_inherit(blocked) == bit(SIGPROF));
    assert_true(wndl_rt_signal_ignored() == bit(SIGPROF));
    assert_true(wndl_rt_signal_inherit(0) == 0);
    assert_true(wndl_rt_signal_ignored() == (bit(SIGTRAP) | bit(SIGPROF)));
}

static void child_has_no_signals_of_its_parent(void **state)
{
    (void)state;
    wndl_rt_mask_remember(bit(SIGPROF));
    (void)chain(SIGPROF, SI_USER);
    assert_true(wndl_rt_pending_here() != 0);
    wndl_rt_signal_after_fork();
    assert_true(wndl_rt_pending_here() == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_signal_has_the_action_that_was_set),
        TEST(same_variable_may_be_old_and_new),
        TEST(only_the_engines_signals_are_kept),
        TEST(nothing_is_kept_in_another_process),
        TEST(handler_gets_what_the_kernel_gave),
        TEST(handler_runs_under_the_mask_that_it_asked_for),
        TEST(handler_that_may_be_interrupted_by_itself_is),
        TEST(handler_for_one_signal_runs_once),
        TEST(without_a_handler_the_program_dies),
        TEST(ignored_signal_does_nothing),
        TEST(what_an_instruction_raised_cannot_be_put_off),
        TEST(blocked_signal_is_pending),
        TEST(every_signal_of_others_has_arrived),
        TEST(what_is_ignored_is_told_of_the_engines_alone),
        TEST(settings_of_the_image_before_are_taken_over),
        TEST(pause_before_an_exec_is_not_taken_over),
        TEST(child_has_no_signals_of_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
