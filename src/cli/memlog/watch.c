/* SPDX-License-Identifier: MIT */
#include "cli/memlog/watch.h"

#include "cli/core/command.h"
#include "cli/memlog/folders.h"
#include "cli/memlog/keep.h"
#include "collect/proc/proc.h"
#include "os/clock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_LOGS = 500,
    /* A round's cost is 1 % of the time at most, of one command 0.25 %. */
    CPU_PART = 99,
    CPU_PART_OF_TREE = 399,
};

#define SECOND UINT64_C(1000000000)

/* ---- the processes that are known */

static int compare_pids(const void *a, const void *b)
{
    const struct wndl_observed *const *x = a;
    const struct wndl_observed *const *y = b;
    return (*x)->pid < (*y)->pid ? -1 : (*x)->pid > (*y)->pid;
}

static struct wndl_observed *find(const struct wndl_watch *w, pid_t pid)
{
    const struct wndl_observed key = {.pid = pid};
    const struct wndl_observed *at = &key;
    struct wndl_observed **found = NULL;
    if (w->sorted != 0)
        found = bsearch(&at, w->all, w->sorted, sizeof *w->all, compare_pids);
    if (found != NULL)
        return *found;
    for (size_t i = w->sorted; i < w->count; i++) {
        if (w->all[i]->pid == pid)
            return w->all[i];
    }
    return NULL;
}

static struct wndl_observed *add(
    struct wndl_watch *w, pid_t pid, const struct wndl_usage *usage)
{
    if (w->count == w->room) {
        const size_t room = w->room == 0 ? 64 : 2 * w->room;
        struct wndl_observed **more = realloc(w->all, room * sizeof *more);
        if (more == NULL)
            return NULL;
        w->all = more;
        w->room = room;
    }
    struct wndl_observed *p = wndl_observe_begin(pid, usage);
    if (p != NULL)
        w->all[w->count++] = p;
    return p;
}

/* Ends what was not seen in this round. */
static void forget_ended(struct wndl_watch *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++) {
        struct wndl_observed *p = w->all[i];
        if (p->is_seen) {
            p->is_seen = false;
            w->all[kept++] = p;
            continue;
        }
        w->logs -= p->log != NULL;
        wndl_observe_end(p, true);
    }
    w->count = kept;
    if (kept != 0)
        qsort(w->all, kept, sizeof *w->all, compare_pids);
    w->sorted = kept;
}

/* ---- a process in a round */

static bool is_wanted(
    const struct wndl_watch *w, pid_t pid, const struct wndl_usage *usage)
{
    return w->request.tree == 0 || pid == w->request.tree ||
           find(w, usage->parent) != NULL;
}

/* Says once why a process has no log. */
static void say_no_log(
    struct wndl_watch *w, pid_t pid, const struct wndl_error *err)
{
    char text[300];
    if (w->has_said)
        return;
    w->has_said = true;
    if (err == NULL)
        wndl_cli_note("more than %d processes grow or shrink: the others have "
                      "no log",
            MOST_LOGS);
    else
        wndl_cli_note("process %d has no log, nor may others: %s", (int)pid,
            wndl_error_text(err, text, sizeof text));
}

static void observe(struct wndl_watch *w, struct wndl_observed *p,
    const struct wndl_usage *usage)
{
    struct wndl_error err = {0};
    const bool had_log = p->log != NULL;
    p->is_seen = true;
    if (!had_log && w->logs >= MOST_LOGS) {
        say_no_log(w, p->pid, NULL);
        return;
    }
    struct wndl_usage again;
    if (wndl_observe(p, &w->how, usage, &err) != WNDL_OK &&
        wndl_usage_read(p->pid, &again))
        say_no_log(w, p->pid, &err);
    w->logs += !had_log && p->log != NULL;
}

/* Where its first thread alone has ended, no sizes are known any more. */
static void see_threads(
    struct wndl_watch *w, pid_t pid, const struct wndl_usage *usage)
{
    struct wndl_observed *p = find(w, pid);
    if (p != NULL && p->start == usage->start && wndl_proc_threads(pid) > 1)
        p->is_seen = true;
}

static void visit(struct wndl_watch *w, pid_t pid)
{
    struct wndl_usage usage;
    if (!wndl_usage_read(pid, &usage))
        return;
    if (usage.state == 'Z') {
        see_threads(w, pid, &usage);
        return;
    }
    if (usage.mapped == 0) /* it is the kernel's, or has just ended */
        return;
    struct wndl_observed *p = find(w, pid);
    if (p != NULL && p->start != usage.start)
        return; /* another one of its number: from the next round on */
    if (p == NULL && is_wanted(w, pid, &usage))
        p = add(w, pid, &usage);
    if (p != NULL)
        observe(w, p, &usage);
}

/* ---- rounds */

static void visit_all(struct wndl_watch *w)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[strspn(entry->d_name, "0123456789")] == '\0')
            visit(w, (pid_t)strtol(entry->d_name, NULL, 10));
    }
    if (dir != NULL)
        closedir(dir);
}

/* The children that a thread started, by "task/TID/children" of proc(5). */
static void visit_children_of(struct wndl_watch *w, pid_t pid, const char *tid)
{
    char name[64];
    char text[4096];
    snprintf(name, sizeof name, "task/%.20s/children", tid);
    const size_t size = wndl_proc_read(pid, name, text, sizeof text - 1);
    text[size] = '\0';
    if (size == sizeof text - 1)
        w->has_children = false; /* more than that: rounds read all of /proc */
    char *at = text;
    for (;;) {
        char *end;
        const long child = strtol(at, &end, 10);
        if (end == at)
            return;
        at = end;
        if (find(w, (pid_t)child) == NULL)
            visit(w, (pid_t)child);
    }
}

static void visit_children(struct wndl_watch *w, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.')
            visit_children_of(w, pid, entry->d_name);
    }
    if (dir != NULL)
        closedir(dir);
}

/* Children that are found are added at the end, and come last here. */
static void visit_tree(struct wndl_watch *w)
{
    if (find(w, w->request.tree) == NULL)
        visit(w, w->request.tree);
    for (size_t i = 0; i < w->count; i++) {
        const pid_t pid = w->all[i]->pid;
        if (!w->all[i]->is_seen)
            visit(w, pid);
        visit_children(w, pid);
    }
}

static void visit_given(struct wndl_watch *w)
{
    for (size_t i = 0; i < w->request.pids.count; i++)
        visit(w, (pid_t)strtol(w->request.pids.texts[i], NULL, 10));
}

static struct wndl_memlog_type type_pressure = {"memory pressure",
    WNDL_MEMLOG_OTHER, 0, {{"stalled", "ns"}, {"in", "ns"}}, {0, 0}};

/* The pressure is the whole machine's: it is in the log of this process. */
static void note_pressure(struct wndl_watch *w)
{
    const uint64_t span = w->how.now - w->stalled_at;
    if (span < SECOND)
        return;
    const uint64_t stalled = wndl_usage_stalled();
    const uint64_t waited = stalled - w->stalled;
    const int64_t numbers[] = {(int64_t)waited, (int64_t)span};
    if (stalled > w->stalled && waited >= span / 100)
        wndl_memlog_append(&type_pressure, numbers, 2);
    w->stalled = stalled;
    w->stalled_at = w->how.now;
}

/* Logs of processes that have ended take memory until they are moved. */
static void keep_ended(struct wndl_watch *w)
{
    enum { EVERY = 10 /* s */ };
    if (w->how.now < w->next_keep)
        return;
    w->next_keep = w->how.now + EVERY * SECOND;
    wndl_keep_dead(w->request.keep);
}

bool wndl_watch_round(struct wndl_watch *watch)
{
    const uint64_t before = wndl_clock_thread_cpu_ns();
    watch->how.now = wndl_clock_monotonic_ns();
    if (watch->request.tree != 0 && watch->has_children)
        visit_tree(watch);
    else if (watch->request.is_all || watch->request.tree != 0)
        visit_all(watch);
    else
        visit_given(watch);
    forget_ended(watch);
    keep_ended(watch);
    note_pressure(watch);
    const uint64_t part =
        watch->request.tree != 0 ? CPU_PART_OF_TREE : CPU_PART;
    const uint64_t least = (wndl_clock_thread_cpu_ns() - before) * part;
    const uint64_t wanted = (uint64_t)(watch->request.interval * 1e9);
    watch->pause = least > wanted ? least : wanted;
    return watch->request.is_all || watch->count != 0;
}

/* The folder where programs make their logs. */
static int open_folder(void)
{
    char path[PATH_MAX];
    for (unsigned i = 0; i < WNDL_FOLDERS_KEPT; i++) {
        const int folder = wndl_folders_make(i, path);
        if (folder >= 0)
            return folder;
    }
    return -1;
}

bool wndl_watch_begin(
    struct wndl_watch *watch, const struct wndl_watch_request *request)
{
    *watch = (struct wndl_watch){.request = *request};
    watch->how.folder = open_folder();
    watch->how.above = request->above;
    watch->how.is_lazy = request->is_all;
    watch->has_children = access("/proc/thread-self/children", R_OK) == 0;
    watch->stalled = wndl_usage_stalled();
    watch->stalled_at = wndl_clock_monotonic_ns();
    if (watch->how.folder >= 0)
        return true;
    wndl_cli_error("there is no folder for memory event logs: set "
                   "XDG_RUNTIME_DIR");
    return false;
}

void wndl_watch_end(struct wndl_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++)
        wndl_observe_end(watch->all[i], false);
    free(watch->all);
    close(watch->how.folder);
}

/* ---- the action */

static bool check_pids(struct wndl_operands pids)
{
    struct wndl_usage usage;
    for (size_t i = 0; i < pids.count; i++) {
        const char *text = pids.texts[i];
        const long pid = strspn(text, "0123456789") == strlen(text)
                             ? strtol(text, NULL, 10)
                             : 0;
        if (pid <= 0 || pid > INT_MAX || !wndl_usage_read((pid_t)pid, &usage)) {
            wndl_cli_error("'%s' is not a running process", text);
            return false;
        }
    }
    return true;
}

int wndl_watch_run(const struct wndl_watch_request *request)
{
    struct wndl_watch watch;
    if (request->is_all != (request->pids.count == 0)) {
        wndl_cli_error(
            "name the processes, or give --all; see 'windlass memlog --help'");
        return WNDL_EXIT_USAGE;
    }
    if (!check_pids(request->pids) || !wndl_watch_begin(&watch, request))
        return WNDL_EXIT_FAILURE;
    while (wndl_watch_round(&watch)) {
        const struct timespec pause = {
            (time_t)(watch.pause / SECOND), (long)(watch.pause % SECOND)};
        nanosleep(&pause, NULL);
    }
    wndl_watch_end(&watch);
    return WNDL_EXIT_OK;
}
