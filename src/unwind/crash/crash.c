/* SPDX-License-Identifier: MIT */
/*
 * crash: the handler of fatal signals. It reports the signal, restores the
 * former handler, and sends the signal again to its own thread, with the
 * kernel's information. The signal arrives as soon as this handler returns, at
 * the same instruction with the same registers.
 */
#include "base/status.h"
#include "os/dlfind.h"
#include "os/line.h"
#include "os/raw.h"
#include "unwind/crash/print_stack.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <windlass/crash.h>

enum {
    STACK_SIZE = 64 * 1024,
    SIGNALS = 6,
    PAUSE_NS = 10 * 1000 * 1000,
    PAUSES = 500, /* 5 s */
};

static const struct {
    int number;
    const char *name;
} fatal[SIGNALS] = {
    {SIGSEGV, "SIGSEGV"},
    {SIGBUS, "SIGBUS"},
    {SIGILL, "SIGILL"},
    {SIGFPE, "SIGFPE"},
    {SIGABRT, "SIGABRT"},
    {SIGTRAP, "SIGTRAP"},
};

/*
 * The handler's state, which it cannot find in any other way. `before` is
 * written before the first handler is installed, and not again. `reporter` is
 * the thread that writes, or 0.
 */
static struct {
    struct sigaction before[SIGNALS];
    _Atomic int fd;
    _Atomic int reporter;
    _Atomic bool installed;
} state;

static unsigned index_of(int number)
{
    unsigned i = 0;
    while (i < SIGNALS - 1 && fatal[i].number != number)
        i++;
    return i;
}

static void add_cause(struct wndl_line *line, const siginfo_t *info)
{
    if (info->si_code <= 0) {
        wndl_line_text(line, ", sent by process ");
        wndl_line_decimal(line, (uint64_t)info->si_pid, 1);
        return;
    }
    if (info->si_signo == SIGTRAP)
        return;
    wndl_line_text(line, " at address ");
    if (info->si_code == SI_KERNEL)
        wndl_line_text(line, "that the kernel does not report");
    else
        wndl_line_hex(line, (uintptr_t)info->si_addr);
    if (info->si_signo != SIGSEGV)
        return;
    if (info->si_code == SEGV_MAPERR)
        wndl_line_text(line, " (nothing is mapped there)");
    else if (info->si_code == SEGV_ACCERR)
        wndl_line_text(line, " (access is not permitted)");
}

static void print_crash(int fd, const siginfo_t *info, const void *context)
{
    struct wndl_regs regs;
    struct wndl_line line;
    char name[16] = "";
    (void)wndl_raw3(SYS_prctl, PR_GET_NAME, (long)name, 0);
    wndl_regs_from_context(&regs, context);
    wndl_line_init(&line, fd);
    wndl_line_text(&line, "windlass: ");
    wndl_line_text(&line, fatal[index_of(info->si_signo)].name);
    add_cause(&line, info);
    wndl_line_text(&line, ", in thread ");
    wndl_line_decimal(&line, (uint64_t)wndl_raw_gettid(), 1);
    wndl_line_text(&line, " \"");
    wndl_line_foreign(&line, name);
    wndl_line_text(&line, "\" of process ");
    wndl_line_decimal(&line, (uint64_t)wndl_raw_getpid(), 1);
    wndl_line_text(&line, ", instruction ");
    wndl_line_hex(&line, regs.ip);
    wndl_line_end(&line);
    wndl_print_stack_from(fd, &regs, 0);
}

/* Waits until no other thread writes. False: it took too long. */
static bool wait_for_turn(int tid)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (int i = 0; i < PAUSES; i++) {
        int nobody = 0;
        if (atomic_compare_exchange_strong(&state.reporter, &nobody, tid))
            return true;
        (void)wndl_raw3(SYS_nanosleep, (long)&pause, 0, 0);
    }
    return false;
}

static void on_fatal(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    int tid = wndl_raw_gettid();
    bool mine = wait_for_turn(tid);
    if (mine)
        print_crash(atomic_load(&state.fd), info, context);
    (void)sigaction(number, &state.before[index_of(number)], NULL);
    (void)wndl_raw4(
        SYS_rt_tgsigqueueinfo, wndl_raw_getpid(), tid, number, (long)info);
    if (mine)
        atomic_store(&state.reporter, 0);
    errno = saved;
}

static enum wndl_status give_stack(struct wndl_error *err)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE) == 0)
        return WNDL_OK;
    void *memory = wndl_raw_map(
        STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    stack = (stack_t){.ss_sp = memory, .ss_size = STACK_SIZE};
    if (memory == NULL)
        return wndl_fail_errno(err, ENOMEM, "no memory for a signal stack");
    if (sigaltstack(&stack, NULL) == 0)
        return WNDL_OK;
    int why = errno;
    wndl_raw_unmap(memory, STACK_SIZE);
    return wndl_fail_errno(err, why, "cannot set the signal stack");
}

static enum wndl_status install_handler(unsigned i, struct wndl_error *err)
{
    struct sigaction handler = {
        .sa_sigaction = on_fatal,
        .sa_flags = SA_SIGINFO | SA_ONSTACK,
    };
    sigfillset(&handler.sa_mask);
    if (state.before[i].sa_handler == SIG_IGN ||
        sigaction(fatal[i].number, &handler, NULL) == 0)
        return WNDL_OK;
    return wndl_fail_errno(err, errno, "cannot set a signal handler");
}

enum wndl_status wndl_install_crash_handler(int fd, struct wndl_error *err)
{
    if (err != NULL)
        *err = (struct wndl_error){0};
    atomic_store(&state.fd, fd);
    if (atomic_load(&state.installed))
        return WNDL_OK;
    enum wndl_status status = give_stack(err);
    for (unsigned i = 0; i < SIGNALS; i++)
        (void)sigaction(fatal[i].number, NULL, &state.before[i]);
    /* A lazy binding must not be resolved within a signal handler. */
    struct wndl_dlmodule module;
    (void)wndl_dlfind((uintptr_t)&on_fatal, &module);
    for (unsigned i = 0; i < SIGNALS && status == WNDL_OK; i++)
        status = install_handler(i, err);
    atomic_store(&state.installed, status == WNDL_OK);
    return status;
}
