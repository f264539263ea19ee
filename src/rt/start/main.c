/* SPDX-License-Identifier: MIT */
/* main: the entry points from the loader and fork(). */
#include "os/raw.h"
#include "rt/core/environment.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/core/variable.h"
#include "rt/heap/heap.h"
#include "rt/sample/threads.h"
#include "rt/signals/dispositions.h"
#include "rt/start/eligibility.h"
#include "rt/start/launch.h"
#include "rt/start/session.h"
#include "rt/walk/jit_lists.h"
#include "rt/walk/jit_registry.h"
#include "rt/walk/rules.h"
#include "rt/walk/unwind_tables.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

enum {
    KERNEL_SIGSET_BYTES = 8,
    TRIES = 3, /* of a call that may fail once */
};

/*
 * glibc builds pthread_atfork() on this. Both are weak: a program with another
 * libc also gets this object preloaded, and must run on, unrecorded.
 */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void),
    void *) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));
#pragma weak _r_debug

static bool is_glibc(void)
{
    return __register_atfork != NULL && &_r_debug != NULL;
}

/* Set around fork(), in the thread that forks. */
static __thread uint64_t mask_before;

/*
 * Where it fails, the program would go on with our mask, or its own would be
 * forgotten. A filter that refuses the call refuses it again.
 */
static uint64_t set_mask(uint64_t mask, int how)
{
    uint64_t before = 0;
    long result = -1;
    for (int i = 0; result != 0 && i < TRIES; i++)
        result = wndl_raw4(SYS_rt_sigprocmask, how, (long)&mask, (long)&before,
            KERNEL_SIGSET_BYTES);
    return before;
}

/* A timer's signal would make the parent restart a long fork. */
static void before_fork(void)
{
    if (wndl_rt_is_silent())
        return;
    mask_before =
        set_mask(wndl_rt.signals & wndl_rt_signal_bit(SIGPROF), SIG_BLOCK);
    wndl_rt_heap_before_fork();
}

static void after_fork_in_parent(void)
{
    if (wndl_rt_is_silent())
        return;
    wndl_rt_heap_after_fork_in_parent();
    (void)set_mask(mask_before, SIG_SETMASK);
}

/*
 * The block is the parent's. It is unmapped rather than omitted from the fork,
 * so that a child made without fork()'s hooks still has mapped memory there.
 * Our signals stay ours even in a child that is not recorded.
 */
static void after_fork_in_child(void)
{
    if (wndl_rt_is_silent())
        return;
    (void)set_mask(WNDL_RT_ALL_SIGNALS, SIG_SETMASK);
    wndl_rt_heap_after_fork_in_child();
    if (wndl_rt.shm != NULL || wndl_rt.signals != 0 || wndl_rt.was_late) {
        if (wndl_rt.shm != NULL)
            wndl_raw_unmap(wndl_rt.shm, wndl_rt.shared_size);
        wndl_rt.shm = NULL;
        wndl_rt.pid = wndl_raw_getpid();
        wndl_rt.loaded = 0;
        wndl_rt_jit_after_fork();
        wndl_rt_jit_lists_after_fork();
        wndl_rt_rules_forget();
        wndl_rt_threads_forget();
        wndl_rt_signal_after_fork();
        wndl_rt_start(WNDL_UNRECORDED_NONE);
        wndl_rt_jit_publish();
    }
    (void)set_mask(mask_before, SIG_SETMASK);
}

static enum wndl_unrecorded_reason find_refusal(char **environment)
{
    if (!is_glibc())
        return WNDL_UNRECORDED_LIBC;
    if (wndl_rt_is_emulated(environment))
        return WNDL_UNRECORDED_EMULATED;
    return wndl_rt_ineligible_executable();
}

static const char *find_session(char **environment)
{
    const char *session = wndl_rt_variable(environment, WNDL_SESSION_ENV "=");
    if (session != NULL)
        return wndl_rt_environment_join(session);
    if (!is_glibc() || wndl_rt_is_emulated(environment))
        return NULL;
    return wndl_rt_launch(environment);
}

__attribute__((constructor)) static void start(
    int count, char **arguments, char **environment)
{
    (void)count;
    (void)arguments;
    /* Other libcs call constructors without arguments. */
    if (!is_glibc())
        environment = environ;
    else
        (void)wndl_rt_real();
    wndl_rt_environment_start(environment);
    if (!wndl_rt_is_emulator())
        wndl_rt.session = find_session(environment);
    if (wndl_rt.session == NULL) {
        wndl_rt_heap_settle();
        return;
    }
    wndl_rt.loaded = wndl_raw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    wndl_rt.vdso = getauxval(AT_SYSINFO_EHDR);
    wndl_rt.pid = wndl_raw_getpid();
    uint64_t mask = set_mask(WNDL_RT_ALL_SIGNALS, SIG_SETMASK);
    wndl_rt_unwind_tables_start(environment);
    wndl_rt_start(find_refusal(environment));
    wndl_rt_heap_settle();
    if (wndl_rt.shm != NULL || wndl_rt.was_late)
        (void)__register_atfork(before_fork, after_fork_in_parent,
            after_fork_in_child, &__dso_handle);
    wndl_rt_mask_remember(wndl_rt_signal_inherit(mask & wndl_rt.signals));
    (void)set_mask(mask & ~wndl_rt.signals, SIG_SETMASK);
}
