/* SPDX-License-Identifier: MIT */
#include "base/signal_names.h"

#include <signal.h>
#include <stddef.h>

const char *wndl_signal_abbreviation(int number)
{
    static const char *const names[] = {
        [SIGABRT] = "ABRT",
        [SIGALRM] = "ALRM",
        [SIGBUS] = "BUS",
        [SIGCHLD] = "CHLD",
        [SIGCONT] = "CONT",
        [SIGFPE] = "FPE",
        [SIGHUP] = "HUP",
        [SIGILL] = "ILL",
        [SIGINT] = "INT",
        [SIGKILL] = "KILL",
        [SIGPIPE] = "PIPE",
        [SIGPOLL] = "POLL",
        [SIGPROF] = "PROF",
        [SIGPWR] = "PWR",
        [SIGQUIT] = "QUIT",
        [SIGSEGV] = "SEGV",
        [SIGSTKFLT] = "STKFLT",
        [SIGSTOP] = "STOP",
        [SIGSYS] = "SYS",
        [SIGTERM] = "TERM",
        [SIGTRAP] = "TRAP",
        [SIGTSTP] = "TSTP",
        [SIGTTIN] = "TTIN",
        [SIGTTOU] = "TTOU",
        [SIGURG] = "URG",
        [SIGUSR1] = "USR1",
        [SIGUSR2] = "USR2",
        [SIGVTALRM] = "VTALRM",
        [SIGWINCH] = "WINCH",
        [SIGXCPU] = "XCPU",
        [SIGXFSZ] = "XFSZ",
    };
    const int count = (int)(sizeof names / sizeof names[0]);
    return number < 0 || number >= count ? NULL : names[number];
}
