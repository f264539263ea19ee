/* SPDX-License-Identifier: MIT */
#include "rt/start/eligibility.h"

#include "os/dlfind.h"
#include "os/emulator.h"
#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/child.h"
#include "rt/core/memory.h"
#include "rt/core/rt.h"
#include "rt/core/variable.h"
#include "rt/walk/modules.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* Valgrind preloads libraries of its own. */
bool wndl_rt_is_emulated(char *const environment[])
{
    static const char name[] = "/vgpreload_core";
    const char *preload = wndl_rt_variable(environment, "LD_PRELOAD=");
    for (; preload != NULL && *preload != '\0'; preload++) {
        size_t at = 0;
        while (name[at] != '\0' && preload[at] == name[at])
            at++;
        if (name[at] == '\0')
            return true;
    }
    return false;
}

bool wndl_rt_is_emulator(void)
{
    const char *path = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    return path != NULL && wndl_emulator_has_name(path);
}

/*
 * Go's linker writes its build id to a note. Go's runtime sets a handler for
 * each signal, and treats an unexpected one as fatal.
 */
enum wndl_unrecorded_reason wndl_rt_ineligible_executable(void)
{
    struct wndl_dlmodule executable;
    bool go = wndl_dlfind(getauxval(AT_ENTRY), &executable) &&
              wndl_rt_module_is_go(&executable);
    return go ? WNDL_UNRECORDED_GO : WNDL_UNRECORDED_NONE;
}

/* Where nothing limits it, 64 bits have more than enough. */
bool wndl_rt_has_address_space(void)
{
    if (sizeof(void *) == 8 && !wndl_rt_space_is_limited())
        return true;
    size_t size = 2 * wndl_shm_size(WNDL_SHM_NODES);
    void *probe = wndl_raw_map(
        size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (probe == NULL)
        return false;
    wndl_raw_unmap(probe, size);
    return true;
}

/* Tries the calls of the talk and of recording, all without effect. */
static void try_talk(void)
{
    int fd =
        (int)wndl_raw3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        wndl_rt_child_exit(1);
    wndl_raw_close(fd);
    (void)wndl_raw3(SYS_getppid, 0, 0, 0);
    (void)wndl_raw3(SYS_fcntl, -1, 0, 0);
    (void)wndl_raw4(SYS_openat, -1, (long)"", 0, 0);
    (void)wndl_raw4(SYS_setsockopt, -1, 0, 0, 0);
    (void)wndl_raw4(SYS_getsockopt, -1, 0, 0, 0);
    (void)wndl_raw3(SYS_connect, -1, 0, 0);
    (void)wndl_raw3(SYS_sendmsg, -1, 0, 0);
    (void)wndl_raw3(SYS_recvmsg, -1, 0, 0);
    (void)wndl_raw4(SYS_prlimit64, 0, -1, 0, 0);
}

static void try_recording(void)
{
    (void)wndl_raw_getpid();
    (void)wndl_raw_gettid();
    (void)wndl_raw3(SYS_madvise, 0, 0, -1);
    (void)wndl_raw4(SYS_rt_sigaction, -1, 0, 0, 0);
    (void)wndl_raw3(SYS_clock_gettime, -1, 0, 0);
    (void)wndl_raw3(SYS_tgkill, -1, -1, 0);
    (void)wndl_raw3(SYS_timer_create, -1, 0, 0);
    (void)wndl_raw4(SYS_timer_settime, -1, 0, 0, 0);
    (void)wndl_raw3(SYS_timer_delete, -1, 0, 0);
}

/* The calls of start/alone.c. */
static void try_alone(void)
{
    (void)wndl_raw3(SYS_memfd_create, 0, -1, 0);
    (void)wndl_raw3(SYS_ftruncate, -1, 0, 0);
    (void)wndl_raw4(SYS_readlinkat, -1, 0, 0, 0);
    (void)wndl_raw3(SYS_shutdown, -1, 0, 0);
}

/* The progress of the trial. */
enum {
    MAY_TALK = 1,
    MAY_RECORD,
    MAY_MAKE_BARRIERS,
    MAY_LOCK,
    MAY_BEGIN_ALONE,
};

static void try_all(volatile uint8_t *came)
{
    try_talk();
    *came = MAY_TALK;
    try_recording();
    *came = MAY_RECORD;
    (void)wndl_raw3(SYS_membarrier, 0, 0, 0); /* a query */
    *came = MAY_MAKE_BARRIERS;
    (void)wndl_raw3(SYS_mlock, 0, 0, 0);
    (void)wndl_raw3(SYS_munlock, 0, 0, 0);
    *came = MAY_LOCK;
    try_alone();
    *came = MAY_BEGIN_ALONE;
}

/* Service managers allow all calls of a recording but those on events. */
static void try_event(volatile uint8_t *came)
{
    static const long none[4];
    *came = 0;
    (void)wndl_raw6(SYS_perf_event_open, none, 0, 0);
    (void)wndl_raw3(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE, 0, 0);
    *came = 1;
}

/* False: its result is not known. */
static bool try_in_child(void (*trial)(volatile uint8_t *), uint8_t *came)
{
    long child = wndl_rt_child_fork();
    if (child == 0) {
        uint64_t all = ~UINT64_C(0); /* none of the program's handlers either */
        (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0,
            WNDL_ARCH_SIGSET_BYTES);
        wndl_rt_child_leave_no_core();
        trial(came);
        wndl_rt_child_exit(0);
    }
    return child >= 0 && wndl_rt_child_wait(child) >= 0;
}

/* A filter may answer a call by ending the process. */
enum wndl_unrecorded_reason wndl_rt_ineligible_sandbox(bool *talk)
{
    *talk = true;
    long mode = wndl_raw3(SYS_prctl, PR_GET_SECCOMP, 0, 0);
    if (mode == 0 || (mode < 0 && !wndl_rt_is_careful())) {
        atomic_store(&wndl_rt.careful, false);
        wndl_rt.with_barriers = mode == 0;
        wndl_rt.with_locks = true;
        wndl_rt.with_events = true;
        wndl_rt.may_begin_alone = true;
        return WNDL_UNRECORDED_NONE;
    }
    wndl_rt.filtered = true;
    uint8_t *shared =
        wndl_raw_map(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
    if (shared == NULL)
        return WNDL_UNRECORDED_MEMORY;
    bool harmless = try_in_child(try_all, shared) && *shared >= MAY_RECORD;
    *talk = *shared >= MAY_TALK;
    wndl_rt.with_barriers = harmless && *shared >= MAY_MAKE_BARRIERS;
    wndl_rt.with_locks = harmless && *shared >= MAY_LOCK;
    wndl_rt.may_begin_alone = harmless && *shared >= MAY_BEGIN_ALONE;
    wndl_rt.with_events =
        harmless && try_in_child(try_event, shared) && *shared != 0;
    wndl_raw_unmap(shared, 1);
    atomic_store(&wndl_rt.careful, !harmless);
    return harmless ? WNDL_UNRECORDED_NONE : WNDL_UNRECORDED_SANDBOX;
}
