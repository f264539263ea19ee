/* SPDX-License-Identifier: MIT */
#include "collect/proc/proc.h"

#include "os/clock.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROC_PATH = 64 };

static const char *proc_path(char to[PROC_PATH], pid_t pid, const char *name)
{
    snprintf(to, PROC_PATH, "/proc/%d/%s", (int)pid, name);
    return to;
}

size_t wndl_proc_read(pid_t pid, const char *name, char *to, size_t size)
{
    char path[PROC_PATH];
    int fd = open(proc_path(path, pid, name), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t used = 0;
    ssize_t got;
    while (used < size && (got = read(fd, to + used, size - used)) > 0)
        used += (size_t)got;
    close(fd);
    return used;
}

bool wndl_proc_link(pid_t pid, const char *name, char to[PATH_MAX])
{
    static const char deleted[] = " (deleted)";
    char path[PROC_PATH];
    ssize_t size = readlink(proc_path(path, pid, name), to, PATH_MAX - 1);
    if (size < 0)
        return false;
    to[size] = '\0';
    size_t cut = sizeof deleted - 1;
    if ((size_t)size > cut && strcmp(to + size - cut, deleted) == 0)
        to[(size_t)size - cut] = '\0';
    return true;
}

/* proc_pid_stat(5): the second field may hold anything. */
bool wndl_proc_stat(pid_t pid, struct wndl_proc_stat *stat)
{
    char text[1024];
    size_t size = wndl_proc_read(pid, "stat", text, sizeof text - 1);
    text[size] = '\0';
    const char *end_of_name = strrchr(text, ')');
    int parent = 0;
    if (end_of_name == NULL ||
        sscanf(end_of_name,
            ") %c %d %*d %*d %*d %*d %*u %" SCNu64
            " %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
            &stat->state, &parent, &stat->faults, &stat->start) != 4)
        return false;
    stat->parent = parent;
    return true;
}

bool wndl_proc_runs(pid_t pid)
{
    struct wndl_proc_stat stat;
    return wndl_proc_stat(pid, &stat) && stat.state != 'Z';
}

uint64_t wndl_proc_age(uint64_t start)
{
    uint64_t tick = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t now = wndl_clock_boot_ns();
    return start < now / tick ? now - start * tick : 0;
}

/* A number of /proc/PID/status. */
static uint64_t status_field(pid_t pid, const char *field, int base)
{
    char text[4096];
    size_t size = wndl_proc_read(pid, "status", text, sizeof text - 1);
    text[size] = '\0';
    const char *at = strstr(text, field);
    return at == NULL ? 0 : strtoull(at + strlen(field), NULL, base);
}

bool wndl_proc_is_process(pid_t pid)
{
    return (pid_t)status_field(pid, "\nTgid:", 10) == pid;
}

uint64_t wndl_proc_threads(pid_t pid)
{
    return status_field(pid, "\nThreads:", 10);
}

pid_t wndl_proc_tracer(pid_t pid)
{
    return (pid_t)status_field(pid, "\nTracerPid:", 10);
}

uint16_t wndl_proc_machine(pid_t pid)
{
    char path[32];
    Elf32_Ehdr header; /* as far as it is needed, the same with 64 bits */
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, &header, sizeof header);
    close(fd);
    return got == (ssize_t)sizeof header ? header.e_machine : 0;
}

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

/* Most processes are of our own processor, and each asks at its start. */
uint16_t wndl_proc_own_machine(void)
{
    return OWN_MACHINE;
}

bool wndl_proc_is_emulated(pid_t pid, uint16_t machine)
{
    if (machine == OWN_MACHINE)
        return false;
    const uint16_t executable = wndl_proc_machine(pid);
    return executable != 0 && executable != machine;
}

uint64_t wndl_proc_filters(pid_t pid)
{
    return status_field(pid, "\nSeccomp_filters:", 10);
}

bool wndl_proc_pending(pid_t pid, int signal)
{
    uint64_t pending =
        status_field(pid, "\nSigPnd:", 16) | status_field(pid, "\nShdPnd:", 16);
    return (pending >> (signal - 1) & 1) != 0;
}

size_t wndl_proc_command(pid_t pid, char *to, size_t size)
{
    size_t used = wndl_proc_read(pid, "cmdline", to, size);
    return used > 0 && to[used - 1] == '\0' ? used - 1 : used;
}

uint64_t wndl_proc_vdso(pid_t pid, bool wide)
{
    enum { AUXV_MAX = 1024 };
    uint8_t bytes[AUXV_MAX];
    const size_t word = wide ? 8 : 4;
    const size_t size =
        wndl_proc_read(pid, "auxv", (char *)bytes, sizeof bytes);
    for (size_t at = 0; at + 2 * word <= size; at += 2 * word) {
        uint64_t pair[2] = {0};
        memcpy(&pair[0], bytes + at, word);
        memcpy(&pair[1], bytes + at + word, word);
        if (pair[0] == AT_SYSINFO_EHDR)
            return pair[1];
    }
    return 0;
}
