/* SPDX-License-Identifier: MIT */
/*
 * Processes of the recording that never say hello. They are found as children
 * of known processes. One is reported by name at the second look that finds the
 * same reason, or after it has ended. One that has no reason not to say hello
 * may still be loading its libraries.
 */
#include "collect/loop/unrecorded.h"

#include "collect/loop/attachment.h"
#include "collect/proc/proc.h"
#include "collect/proc/unrecordable.h"
#include "os/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOADING_NS UINT64_C(500000000)
#define EMULATED_LOADING_NS UINT64_C(10000000000)

struct wndl_unrecorded_entry {
    struct wndl_unrecorded_entry *next;
    pid_t pid;
    uint64_t start;  /* as in struct wndl_proc_stat */
    uint32_t parent; /* index + 1, 0 for none */
    uint64_t first;  /* CLOCK_MONOTONIC ns: when it was found */
    enum wndl_unrecorded_reason reason; /* as of the last look */
    bool is_copy;     /* a fork without exec, as of the last look */
    bool is_borrower; /* its parent waits for it: a child of vfork() */
    bool is_reported; /* it is in the recording */
    char executable[PATH_MAX];
};

enum {
    COMMAND_MAX = 4096,
    LOOKS = 2, /* before a process is reported */
    /* at most one part in so many of our time is spent on looks */
    LOOK_SHARE = 50,
    SCAN_SHARE = 200, /* and scans */
    PROBED_MAX = 256  /* numbers of new processes that are tried in turn */
};

/* The system's newest process or thread (proc(5), loadavg); 0: not known. */
static pid_t newest_pid(void)
{
    char text[128];
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    const char *last = strrchr(text, ' ');
    return last == NULL ? 0 : (pid_t)strtol(last + 1, NULL, 10);
}

void wndl_unrecorded_begin(struct wndl_unrecorded *all)
{
    all->newest_pid = newest_pid();
}

/* ---- reporting */

static void remember_name(
    struct wndl_unrecorded *all, const struct wndl_unrecorded_entry *s)
{
    uint32_t row = all->run->totals.unrecorded;
    if (row >= WNDL_COLLECTOR_NAMED)
        return;
    struct wndl_collector_unrecorded *u = &all->named[row];
    const char *slash = strrchr(s->executable, '/');
    u->pid = (uint32_t)s->pid;
    u->reason = s->reason;
    snprintf(u->name, sizeof u->name, "%.63s",
        slash == NULL ? s->executable : slash + 1);
}

static void report_entry(
    struct wndl_unrecorded *all, struct wndl_unrecorded_entry *s)
{
    char command[COMMAND_MAX];
    size_t size = wndl_proc_command(s->pid, command, sizeof command);
    const struct wndl_recording_unrecorded report = {
        .parent = s->parent,
        .pid = (uint32_t)s->pid,
        .reason = s->reason,
        .time = wndl_clock_monotonic_ns(),
        .executable = s->executable,
        .command = {(const uint8_t *)command, size},
    };
    wndl_recording_unrecorded(&all->run->recording, &report);
    remember_name(all, s);
    all->run->totals.unrecorded++;
    s->is_reported = true;
}

static bool had_time_to_load(const struct wndl_unrecorded_entry *s)
{
    return wndl_clock_monotonic_ns() - s->first > LOADING_NS;
}

/*
 * Whether it was cloned without our hooks. A copy of a recorded process says
 * hello at once if our hooks saw its creation; a copy by vfork() soon becomes
 * another image. Its age counts, not the time since it was found: a search may
 * come late.
 */
static bool is_bare_clone(const struct wndl_unrecorded_entry *s)
{
    return s->is_copy && wndl_proc_age(s->start) > LOADING_NS;
}

/* Reports a process that is gone, or one that outlives the recording. */
static void report_late(
    struct wndl_unrecorded *all, struct wndl_unrecorded_entry *s)
{
    if (s->reason == WNDL_UNRECORDED_NONE && is_bare_clone(s))
        s->reason =
            s->is_borrower ? WNDL_UNRECORDED_VFORK : WNDL_UNRECORDED_CLONE;
    if (!s->is_reported &&
        (s->reason != WNDL_UNRECORDED_NONE || had_time_to_load(s)))
        report_entry(all, s);
}

/* ---- the list */

static struct wndl_unrecorded_entry **find_entry(
    struct wndl_unrecorded *all, pid_t pid)
{
    struct wndl_unrecorded_entry **link = &all->first;
    while (*link != NULL && (*link)->pid != pid)
        link = &(*link)->next;
    return link;
}

static void drop_entry(struct wndl_unrecorded_entry **link)
{
    struct wndl_unrecorded_entry *gone = *link;
    *link = gone->next;
    wndl_mem_free(wndl_mem_libc(), gone);
}

static struct wndl_unrecorded_entry *add_entry(
    struct wndl_unrecorded *all, pid_t pid, uint32_t parent)
{
    struct wndl_unrecorded_entry *s =
        wndl_mem_zalloc(wndl_mem_libc(), sizeof *s);
    struct wndl_proc_stat stat;
    if (s == NULL)
        return NULL;
    s->next = all->first;
    s->pid = pid;
    s->parent = parent;
    s->first = wndl_clock_monotonic_ns();
    s->start = wndl_proc_stat(pid, &stat) ? stat.start : 0;
    all->first = s;
    return s;
}

/*
 * The name of a process that may not be read is the one that it gives itself.
 */
static void look_at_name(struct wndl_unrecorded_entry *s)
{
    char name[PATH_MAX];
    if (wndl_proc_link(s->pid, "exe", name))
        snprintf(s->executable, sizeof s->executable, "%s", name);
    if (s->executable[0] != '\0')
        return;
    size_t size =
        wndl_proc_read(s->pid, "comm", s->executable, sizeof s->executable - 1);
    s->executable[size > 0 ? size - 1 : 0] = '\0';
}

/*
 * Whether the runtime's path has a part that the loader replaces by the word
 * size.
 */
static bool runtime_is_for_all(const struct wndl_unrecorded *all)
{
    return all->run->request.runtime != NULL &&
           strstr(all->run->request.runtime, "$LIB") != NULL;
}

/* Whether it is a copy of its parent, and the parent waits for it. */
struct kinship {
    bool is_copy, is_borrower;
};

static struct kinship find_kinship(
    const struct wndl_unrecorded *all, const struct wndl_unrecorded_entry *s)
{
    struct kinship found = {0};
    const struct wndl_process_entry *l = all->processes->first;
    while (
        l != NULL && (l->process == NULL || l->process->index + 1 != s->parent))
        l = l->next;
    found.is_copy = l != NULL && l->pid != s->pid &&
                    wndl_unrecordable_is_copy(s->pid, l->pid);
    found.is_borrower = found.is_copy && wndl_unrecordable_waits_for_child(
                                             l->pid, l->process->machine);
    return found;
}

/*
 * Whether it may still be loading: the program inside an emulator says hello
 * for it, once it has got that far.
 */
static bool is_loading(
    const struct wndl_unrecorded_entry *s, enum wndl_unrecorded_reason reason)
{
    return reason == WNDL_UNRECORDED_EMULATED &&
           wndl_clock_monotonic_ns() - s->first < EMULATED_LOADING_NS;
}

static bool runs(const struct wndl_unrecorded_entry *s)
{
    struct wndl_proc_stat stat;
    return wndl_proc_stat(s->pid, &stat) && stat.state != 'Z' &&
           stat.start == s->start;
}

/*
 * Examines a process. If it ends meanwhile, nothing is noted. False if it is
 * recorded from outside instead.
 */
static bool look_at(
    struct wndl_unrecorded *all, struct wndl_unrecorded_entry *s)
{
    enum wndl_unrecorded_reason reason =
        wndl_unrecordable_process(s->pid, runtime_is_for_all(all));
    const struct kinship kinship = find_kinship(all, s);
    look_at_name(s);
    if (!runs(s))
        return true;
    /* It may have written a title over what its parent was started with. */
    if (reason == WNDL_UNRECORDED_ENVIRONMENT && kinship.is_copy)
        reason = WNDL_UNRECORDED_NONE;
    if (wndl_attachment_adopt(all->processes->attachment, s->pid, reason))
        return false;
    s->is_copy = kinship.is_copy;
    s->is_borrower = kinship.is_borrower;
    /* A child of vfork() may still start a program, which is recorded. */
    if (reason == WNDL_UNRECORDED_NONE && !s->is_borrower && is_bare_clone(s))
        reason = WNDL_UNRECORDED_CLONE;
    bool again = reason == s->reason && reason != WNDL_UNRECORDED_NONE &&
                 !is_loading(s, reason);
    s->reason = reason;
    if (again)
        report_entry(all, s);
    return true;
}

static void look_at_all(struct wndl_unrecorded *all)
{
    for (struct wndl_unrecorded_entry **link = &all->first; *link != NULL;) {
        struct wndl_unrecorded_entry *s = *link;
        if (!runs(s)) {
            report_late(all, s);
            drop_entry(link);
            continue;
        }
        if (!s->is_reported && !look_at(all, s))
            drop_entry(link);
        else
            link = &s->next;
    }
}

/* ---- finding */

/* Whether the process is connected, or has been asked to connect. */
static bool talks(const struct wndl_unrecorded *all, pid_t pid)
{
    const struct wndl_process_entry *l = all->processes->first;
    while (l != NULL && l->pid != pid)
        l = l->next;
    return l != NULL;
}

static bool is_known(struct wndl_unrecorded *all, pid_t pid)
{
    return talks(all, pid) || *find_entry(all, pid) != NULL;
}

/* Whether all processes are read from outside, and none says hello. */
static bool are_silent(const struct wndl_unrecorded *all)
{
    const uint32_t engine = all->run->request.engine.engine;
    return engine == WNDL_ENGINE_OUTSIDE || engine == WNDL_ENGINE_STOP;
}

static void meet(struct wndl_unrecorded *all, pid_t pid)
{
    struct wndl_proc_stat stat;
    /* In the time of a command, that command is not recorded. */
    if (all->run->request.meanwhile != NULL && pid == all->run->spawn.pid)
        return;
    if (is_known(all, pid) || !wndl_proc_stat(pid, &stat) || stat.state == 'Z')
        return;
    if (pid != all->run->spawn.pid && !is_known(all, stat.parent))
        return;
    if (!wndl_proc_is_process(pid))
        return;
    if (are_silent(all)) {
        wndl_processes_add_silent(all->processes, pid);
        return;
    }
    struct wndl_unrecorded_entry *s =
        add_entry(all, pid, wndl_processes_parent(all->processes, pid));
    if (s != NULL && !look_at(all, s))
        wndl_unrecorded_greeted(all, pid);
}

/*
 * Probes the few new numbers one by one. The cost depends on the number of new
 * processes; that of a search of /proc, on the number of all.
 */
static void probe_numbers(
    struct wndl_unrecorded *all, pid_t before, pid_t newest)
{
    for (pid_t pid = before + 1; pid <= newest; pid++)
        meet(all, pid);
}

/* Pids are given in turn, and from the start again after the highest. */
static bool is_newer(pid_t pid, pid_t before, pid_t newest)
{
    if (before == 0 || newest == 0)
        return true;
    return before <= newest ? pid > before && pid <= newest
                            : pid > before || pid <= newest;
}

static void scan_proc(struct wndl_unrecorded *all, pid_t newest)
{
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return;
    for (const struct dirent *e; (e = readdir(proc)) != NULL;) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 0 && is_newer(pid, all->newest_pid, newest))
            meet(all, pid);
    }
    closedir(proc);
}

bool wndl_unrecorded_new(const struct wndl_unrecorded *all)
{
    pid_t newest = newest_pid();
    return newest == 0 || newest != all->newest_pid;
}

/* Adds the processes that recorded processes report as started. */
static void meet_started(struct wndl_unrecorded *all)
{
    for (const struct wndl_process_entry *l = all->processes->first; l != NULL;
         l = l->next) {
        struct wndl_collector_process *p = l->process;
        if (p == NULL || p->shm == NULL)
            continue;
        uint32_t starts =
            atomic_load_explicit(&p->shm->starts, memory_order_acquire);
        uint32_t new = starts - p->starts;
        for (uint32_t i = 0; i < WNDL_SHM_STARTS && i < new; i++)
            meet(all,
                (pid_t)p->shm->started[(starts - 1 - i) % WNDL_SHM_STARTS]);
        p->starts = starts;
    }
}

/*
 * Searches all processes of the system for those that no recorded process
 * reports.
 */
static void meet_new(struct wndl_unrecorded *all)
{
    pid_t newest = newest_pid();
    pid_t before = all->newest_pid;
    if (before != 0 && newest >= before && newest - before < PROBED_MAX)
        probe_numbers(all, before, newest);
    else
        scan_proc(all, newest);
    all->newest_pid = newest;
}

/*
 * The time at which work may be repeated that began at `now`, with our CPU time
 * at `cpu` ns.
 */
static uint64_t later(uint64_t now, uint64_t cpu, uint32_t share)
{
    return now + (wndl_clock_thread_cpu_ns() - cpu) * share;
}

void wndl_unrecorded_look(struct wndl_unrecorded *all)
{
    uint64_t now = wndl_clock_monotonic_ns();
    uint64_t cpu = wndl_clock_thread_cpu_ns();
    /* Perf events report the children of processes that ran already. */
    if (all->run->request.pid_count != 0 &&
        (all->run->request.only_first || !are_silent(all)))
        return;
    if (all->run->request.only_first && all->run->totals.processes != 0)
        return;
    if (now >= all->regard) {
        look_at_all(all);
        meet_started(all);
        all->regard = later(now, cpu, LOOK_SHARE);
        cpu = wndl_clock_thread_cpu_ns();
    }
    if (now >= all->scan) {
        meet_new(all);
        all->scan = later(now, cpu, SCAN_SHARE);
    }
}

/* ---- events about them */

void wndl_unrecorded_greeted(struct wndl_unrecorded *all, pid_t pid)
{
    struct wndl_unrecorded_entry **link = find_entry(all, pid);
    if (*link != NULL)
        drop_entry(link);
}

void wndl_unrecorded_refused(
    struct wndl_unrecorded *all, pid_t pid, enum wndl_unrecorded_reason reason)
{
    wndl_unrecorded_greeted(all, pid);
    if (wndl_attachment_adopt(all->processes->attachment, pid, reason))
        return;
    struct wndl_unrecorded_entry *s =
        add_entry(all, pid, wndl_processes_parent(all->processes, pid));
    if (s == NULL)
        return;
    s->reason = reason;
    look_at_name(s);
    report_entry(all, s);
}

void wndl_unrecorded_replaced(
    struct wndl_unrecorded *all, const struct wndl_process_entry *live)
{
    const pid_t pid = live->pid; /* the entry may be replaced */
    wndl_unrecorded_greeted(all, pid);
    struct wndl_unrecorded_entry *s =
        add_entry(all, pid, live->process->index + 1);
    if (s != NULL && !look_at(all, s))
        wndl_unrecorded_greeted(all, pid);
}

void wndl_unrecorded_end(struct wndl_unrecorded *all)
{
    while (all->first != NULL) {
        report_late(all, all->first);
        drop_entry(&all->first);
    }
}
