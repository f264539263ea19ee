/* SPDX-License-Identifier: MIT */
#include "snapshot/rights.h"

#include "collect/proc/proc.h"
#include "snapshot/task.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_ROOM = 4096, CAP_PTRACE_BIT = 19 };

static uint64_t field(const char *status, const char *name, int base)
{
    const char *at = strstr(status, name);
    return at == NULL ? 0 : strtoull(at + strlen(name), NULL, base);
}

static size_t read_status(pid_t pid, char text[STATUS_ROOM])
{
    size_t size = wndl_proc_read(pid, "status", text, STATUS_ROOM - 1);
    text[size] = '\0';
    return size;
}

static int yama_scope(void)
{
    int scope = WNDL_YAMA_NONE;
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (f == NULL)
        return WNDL_YAMA_NONE;
    if (fscanf(f, "%d", &scope) != 1)
        scope = WNDL_YAMA_NONE;
    fclose(f);
    return scope;
}

/* The entries of a process that only root may read are root's. */
static bool is_closed(const struct wndl_rights *rights)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)rights->pid);
    return rights->user != 0 && stat(path, &st) == 0 && st.st_uid == 0;
}

static bool may_read(pid_t pid)
{
    char text[WNDL_TASK_TEXT];
    const struct wndl_task task = {pid, pid};
    return wndl_task_read(&task, "syscall", text) ||
           (errno != EPERM && errno != EACCES);
}

void wndl_rights_find(struct wndl_rights *rights, pid_t pid)
{
    char text[STATUS_ROOM];
    *rights = (struct wndl_rights){.pid = pid, .our_user = geteuid()};
    (void)read_status(getpid(), text);
    rights->may_trace_all =
        (field(text, "\nCapEff:", 16) >> CAP_PTRACE_BIT & 1) != 0;
    rights->exists = read_status(pid, text) != 0;
    rights->process = (pid_t)field(text, "\nTgid:", 10);
    rights->parent = (pid_t)field(text, "\nPPid:", 10);
    rights->user = (uint32_t)field(text, "\nUid:", 10);
    rights->is_zombie = strstr(text, "\nState:\tZ") != NULL &&
                        field(text, "\nThreads:", 10) <= 1;
    rights->is_kernel = !rights->is_zombie && strstr(text, "\nVmSize:") == NULL;
    rights->is_closed = is_closed(rights);
    rights->yama = yama_scope();
    rights->may_read = may_read(pid);
}

/* ---- the reason */

static enum wndl_status say_user(
    const struct wndl_rights *rights, struct wndl_error *err)
{
    char name[32] = "";
    const struct passwd *user = getpwuid(rights->user);
    if (user != NULL)
        snprintf(name, sizeof name, " (%s)", user->pw_name);
    return wndl_fail(err, WNDL_DENIED,
        "process %d belongs to user %u%s: run windlass as that user or as root",
        (int)rights->pid, rights->user, name);
}

static enum wndl_status say_yama(
    const struct wndl_rights *rights, struct wndl_error *err)
{
    if (rights->yama == 1)
        return wndl_fail(err, WNDL_DENIED,
            "kernel.yama.ptrace_scope is 1: only a process's ancestors may "
            "read it; run windlass as root, or set it to 0 with sysctl");
    if (rights->yama == 2)
        return wndl_fail(err, WNDL_DENIED,
            "kernel.yama.ptrace_scope is 2: only root may read processes; run "
            "windlass as root, or set it to 0 with sysctl");
    return wndl_fail(err, WNDL_DENIED,
        "kernel.yama.ptrace_scope is %d: nobody may read processes until the "
        "machine is started again",
        rights->yama);
}

static enum wndl_status say_denied(
    const struct wndl_rights *rights, struct wndl_error *err)
{
    enum { YAMA_NOBODY = 3 };
    bool is_root = rights->may_trace_all;
    if (rights->yama >= YAMA_NOBODY)
        return say_yama(rights, err);
    if (!is_root && rights->user != rights->our_user)
        return say_user(rights, err);
    if (!is_root && rights->is_closed)
        return wndl_fail(err, WNDL_DENIED,
            "process %d lets only root read it (PR_SET_DUMPABLE, set-user-ID, "
            "or a program that is not readable): run windlass as root",
            (int)rights->pid);
    if (!is_root && rights->yama > 0)
        return say_yama(rights, err);
    return wndl_fail(err, WNDL_DENIED,
        "the kernel refuses to let process %d be read: a container or a "
        "security module forbids ptrace(2), or windlass lacks CAP_SYS_PTRACE",
        (int)rights->pid);
}

enum wndl_status wndl_rights_check(
    const struct wndl_rights *rights, struct wndl_error *err)
{
    const int pid = (int)rights->pid;
    if (!rights->exists)
        return wndl_fail(err, WNDL_NOT_FOUND, "there is no process %d", pid);
    if (rights->is_zombie)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "process %d has ended, and waits for its parent, process %d, to "
            "ask for its status (a zombie)",
            pid, (int)rights->parent);
    if (rights->is_kernel)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "process %d is a thread of the kernel: it has no stack that "
            "windlass could read",
            pid);
    if (rights->process != rights->pid)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "%d is a thread of process %d: windlass stack %d --thread %d", pid,
            (int)rights->process, (int)rights->process, pid);
    if (rights->pid == getpid())
        return wndl_fail(
            err, WNDL_UNSUPPORTED, "process %d is windlass itself", pid);
    return rights->may_read ? WNDL_OK : say_denied(rights, err);
}
