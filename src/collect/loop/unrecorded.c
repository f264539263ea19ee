/* SPDX-License-Identifier: MIT */
/*
 * Processes of the recording that never say hello. They are found by looking
 * for children of those that are known, and told by name: at the second look
 * that finds the same reason, or once they have ended. One that has no reason
 * not to say hello may still be loading its libraries.
 */
#include "collect/loop/collector_impl.h"
#include "collect/proc/proc.h"
#include "collect/proc/unrecordable.h"
#include "os/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOADING_NS UINT64_C(500000000)
#define EMULATED_LOADING_NS UINT64_C(10000000000)

enum {
    COMMAND_MAX = 4096,
    LOOKS = 2,       /* until a process is told */
    LOOK_SHARE = 50, /* of our time may be looks: one part in so many */
    SCAN_SHARE = 200 /* and scans */
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

void wndl_unrecorded_begin(struct wndl_collector *c)
{
    c->newest_pid = newest_pid();
}

/* ---- telling */

static void remember_name(
    struct wndl_collector *c, const struct wndl_stranger *s)
{
    uint32_t row = c->totals.unrecorded;
    if (row >= WNDL_COLLECTOR_NAMED)
        return;
    struct wndl_collector_unrecorded *u = &c->unrecorded[row];
    const char *slash = strrchr(s->executable, '/');
    u->pid = (uint32_t)s->pid;
    u->reason = s->reason;
    snprintf(u->name, sizeof u->name, "%.63s",
        slash == NULL ? s->executable : slash + 1);
}

static void tell(struct wndl_collector *c, struct wndl_stranger *s)
{
    char command[COMMAND_MAX];
    size_t size = wndl_proc_command(s->pid, command, sizeof command);
    const struct wndl_recording_unrecorded told = {
        .parent = s->parent,
        .pid = (uint32_t)s->pid,
        .reason = s->reason,
        .time = wndl_clock_monotonic_ns(),
        .executable = s->executable,
        .command = {(const uint8_t *)command, size},
    };
    wndl_recording_unrecorded(&c->recording, &told);
    remember_name(c, s);
    c->totals.unrecorded++;
    s->told = true;
}

static bool had_time_to_load(const struct wndl_stranger *s)
{
    return wndl_clock_monotonic_ns() - s->first > LOADING_NS;
}

/*
 * A copy of one that is recorded says hello at once, if it was made by what
 * our hooks see; one by vfork() is soon another image.
 */
static bool is_bare_clone(const struct wndl_stranger *s)
{
    return s->is_copy && had_time_to_load(s);
}

/* It is gone, or we are: what is known of it is told. */
static void tell_late(struct wndl_collector *c, struct wndl_stranger *s)
{
    if (s->reason == WNDL_UNRECORDED_NONE && is_bare_clone(s))
        s->reason = WNDL_UNRECORDED_CLONE;
    if (!s->told && (s->reason != WNDL_UNRECORDED_NONE || had_time_to_load(s)))
        tell(c, s);
}

/* ---- the list */

static struct wndl_stranger **find(struct wndl_collector *c, pid_t pid)
{
    struct wndl_stranger **link = &c->strangers;
    while (*link != NULL && (*link)->pid != pid)
        link = &(*link)->next;
    return link;
}

static void drop(struct wndl_stranger **link)
{
    struct wndl_stranger *gone = *link;
    *link = gone->next;
    wndl_mem_free(wndl_mem_libc(), gone);
}

static struct wndl_stranger *add(
    struct wndl_collector *c, pid_t pid, uint32_t parent)
{
    struct wndl_stranger *s = wndl_mem_zalloc(wndl_mem_libc(), sizeof *s);
    struct wndl_proc_stat stat;
    if (s == NULL)
        return NULL;
    s->next = c->strangers;
    s->pid = pid;
    s->parent = parent;
    s->first = wndl_clock_monotonic_ns();
    s->start = wndl_proc_stat(pid, &stat) ? stat.start : 0;
    c->strangers = s;
    return s;
}

/* The name of what may not be looked at is what it calls itself. */
static void look_at_name(struct wndl_stranger *s)
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

/* Its path has a part that the loader fills in with the word size. */
static bool runtime_is_for_all(const struct wndl_collector *c)
{
    return c->request.runtime != NULL &&
           strstr(c->request.runtime, "$LIB") != NULL;
}

static bool is_copy(
    const struct wndl_collector *c, const struct wndl_stranger *s)
{
    const struct wndl_process_entry *l = c->processes;
    while (
        l != NULL && (l->process == NULL || l->process->index + 1 != s->parent))
        l = l->next;
    return l != NULL && l->pid != s->pid &&
           wndl_unrecordable_is_copy(s->pid, l->pid);
}

/* What an emulator runs says hello for it, when it has got that far. */
static bool is_loading(
    const struct wndl_stranger *s, enum wndl_unrecorded_reason reason)
{
    return reason == WNDL_UNRECORDED_EMULATED &&
           wndl_clock_monotonic_ns() - s->first < EMULATED_LOADING_NS;
}

static bool runs(const struct wndl_stranger *s)
{
    struct wndl_proc_stat stat;
    return wndl_proc_stat(s->pid, &stat) && stat.state != 'Z' &&
           stat.start == s->start;
}

/* What is seen of one that ends meanwhile is nothing. */
static void look_at(struct wndl_collector *c, struct wndl_stranger *s)
{
    enum wndl_unrecorded_reason reason =
        wndl_unrecordable_process(s->pid, runtime_is_for_all(c));
    bool copy = is_copy(c, s);
    look_at_name(s);
    if (!runs(s))
        return;
    s->is_copy = copy;
    if (reason == WNDL_UNRECORDED_NONE && is_bare_clone(s))
        reason = WNDL_UNRECORDED_CLONE;
    bool again = reason == s->reason && reason != WNDL_UNRECORDED_NONE &&
                 !is_loading(s, reason);
    s->reason = reason;
    if (again)
        tell(c, s);
}

static void look_at_all(struct wndl_collector *c)
{
    for (struct wndl_stranger **link = &c->strangers; *link != NULL;) {
        struct wndl_stranger *s = *link;
        if (!runs(s)) {
            tell_late(c, s);
            drop(link);
            continue;
        }
        if (!s->told)
            look_at(c, s);
        link = &s->next;
    }
}

/* ---- finding */

/* Talks to us, or has been told to. */
static bool talks(const struct wndl_collector *c, pid_t pid)
{
    const struct wndl_process_entry *l = c->processes;
    while (l != NULL && l->pid != pid)
        l = l->next;
    return l != NULL;
}

static bool is_known(struct wndl_collector *c, pid_t pid)
{
    return talks(c, pid) || *find(c, pid) != NULL;
}

static void meet(struct wndl_collector *c, pid_t pid)
{
    struct wndl_proc_stat stat;
    if (is_known(c, pid) || !wndl_proc_stat(pid, &stat) || stat.state == 'Z')
        return;
    if (pid != c->spawn.pid && !is_known(c, stat.parent))
        return;
    if (c->request.engine.engine == WNDL_ENGINE_OUTSIDE) {
        wndl_processes_add_silent(c, pid);
        return;
    }
    struct wndl_stranger *s = add(c, pid, wndl_processes_parent(c, pid));
    if (s != NULL)
        look_at(c, s);
}

/* Numbers are given in turn, and from the start again after the highest. */
static bool is_newer(pid_t pid, pid_t before, pid_t newest)
{
    if (before == 0 || newest == 0)
        return true;
    return before <= newest ? pid > before && pid <= newest
                            : pid > before || pid <= newest;
}

static void scan(struct wndl_collector *c, pid_t newest)
{
    DIR *all = opendir("/proc");
    if (all == NULL)
        return;
    for (const struct dirent *e; (e = readdir(all)) != NULL;) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 0 && is_newer(pid, c->newest_pid, newest))
            meet(c, pid);
    }
    closedir(all);
}

bool wndl_unrecorded_new(const struct wndl_collector *c)
{
    pid_t newest = newest_pid();
    return newest == 0 || newest != c->newest_pid;
}

/* Those that a recorded process tells of. */
static void meet_started(struct wndl_collector *c)
{
    for (const struct wndl_process_entry *l = c->processes; l != NULL;
         l = l->next) {
        struct wndl_collector_process *p = l->process;
        if (p == NULL || p->shm == NULL)
            continue;
        uint32_t starts =
            atomic_load_explicit(&p->shm->starts, memory_order_acquire);
        uint32_t new = starts - p->starts;
        for (uint32_t i = 0; i < WNDL_SHM_STARTS && i < new; i++)
            meet(c, (pid_t)p->shm->started[(starts - 1 - i) % WNDL_SHM_STARTS]);
        p->starts = starts;
    }
}

/* All processes of the system, for those that nobody tells of. */
static void meet_new(struct wndl_collector *c)
{
    pid_t newest = newest_pid();
    if (newest == 0 || newest != c->newest_pid)
        scan(c, newest);
    c->newest_pid = newest;
}

/* When something may be done again that began at `now` and at `cpu` ns. */
static uint64_t later(uint64_t now, uint64_t cpu, uint32_t share)
{
    return now + (wndl_clock_thread_cpu_ns() - cpu) * share;
}

void wndl_unrecorded_look(struct wndl_collector *c)
{
    uint64_t now = wndl_clock_monotonic_ns();
    uint64_t cpu = wndl_clock_thread_cpu_ns();
    if (c->request.only_first && c->totals.processes != 0)
        return;
    if (now >= c->regard) {
        look_at_all(c);
        meet_started(c);
        c->regard = later(now, cpu, LOOK_SHARE);
        cpu = wndl_clock_thread_cpu_ns();
    }
    if (now >= c->scan) {
        meet_new(c);
        c->scan = later(now, cpu, SCAN_SHARE);
    }
}

/* ---- what is heard of them */

void wndl_unrecorded_greeted(struct wndl_collector *c, pid_t pid)
{
    struct wndl_stranger **link = find(c, pid);
    if (*link != NULL)
        drop(link);
}

void wndl_unrecorded_refused(
    struct wndl_collector *c, pid_t pid, enum wndl_unrecorded_reason reason)
{
    wndl_unrecorded_greeted(c, pid);
    struct wndl_stranger *s = add(c, pid, wndl_processes_parent(c, pid));
    if (s == NULL)
        return;
    s->reason = reason;
    look_at_name(s);
    tell(c, s);
}

void wndl_unrecorded_replaced(
    struct wndl_collector *c, const struct wndl_process_entry *live)
{
    wndl_unrecorded_greeted(c, live->pid);
    struct wndl_stranger *s = add(c, live->pid, live->process->index + 1);
    if (s != NULL)
        look_at(c, s);
}

void wndl_unrecorded_end(struct wndl_collector *c)
{
    while (c->strangers != NULL) {
        tell_late(c, c->strangers);
        drop(&c->strangers);
    }
}
