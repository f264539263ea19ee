/* SPDX-License-Identifier: MIT */
#include "cli/core/sigbus_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t page_size;
static volatile sig_atomic_t is_told;

/* Runs on a thread that reads the page; only system calls. */
static void put_zeros(int number, siginfo_t *info, void *context)
{
    static const char text[] =
        "windlass: a file was cut short while it was read; what it held is "
        "not known\n";
    int before = errno;
    uintptr_t page = (uintptr_t)info->si_addr & ~(page_size - 1);
    (void)context;
    if (info->si_code != BUS_ADRERR ||
        mmap((void *)page, page_size, PROT_READ,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        signal(number, SIG_DFL); /* and it comes again */
    else if (!is_told)
        is_told = write(STDERR_FILENO, text, sizeof text - 1) != 0;
    errno = before;
}

void wndl_sigbus_guard_install(void)
{
    struct sigaction action = {
        .sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO | SA_RESTART};
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &before) == 0 &&
        before.sa_handler == SIG_IGN)
        sigaction(SIGBUS, &before, NULL); /* commands inherit that */
}
