/* SPDX-License-Identifier: MIT */
#include "cli/memlog/observe.h"

#include "os/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_MOVE = 1024 * 1024, /* bytes resident */
    MOVE_PART = 64,           /* and that part of them */
    WEIGH_PART = 20,          /* the same for the share: 5 % */
    MINOR_A_SECOND = 1000,    /* page faults worth an event */
    MAJOR_A_SECOND = 10,
};

#define SECOND UINT64_C(1000000000)

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static bool has_moved(uint64_t now, uint64_t before, unsigned part)
{
    const uint64_t move = distance(now, before);
    return move >= LEAST_MOVE && move >= before / part;
}

/* ---- resident, shared, faults */

static void put_resident(struct wndl_observed *p, uint64_t resident)
{
    const int64_t numbers[] = {
        (int64_t)resident, (int64_t)wndl_usage_swapped(p->pid)};
    wndl_outside_put(p->log, WNDL_OUTSIDE_RSS, numbers, 2, NULL);
    p->reported = resident;
}

/* At most 0.1 % of a CPU: the next time is as far as the cost says. */
static void weigh(struct wndl_observed *p, const struct wndl_observing *how,
    const struct wndl_usage *usage)
{
    if (!has_moved(usage->resident, p->weighed, WEIGH_PART) ||
        how->now < p->next_weighing)
        return;
    const uint64_t before = wndl_clock_thread_cpu_ns();
    const int64_t share = (int64_t)wndl_usage_proportional(p->pid);
    p->next_weighing = how->now + (wndl_clock_thread_cpu_ns() - before) * 1000;
    p->weighed = usage->resident;
    if (share != 0)
        wndl_outside_put(p->log, WNDL_OUTSIDE_PSS, &share, 1, NULL);
}

static void count_faults(struct wndl_observed *p,
    const struct wndl_observing *how, const struct wndl_usage *usage)
{
    const uint64_t span = how->now - p->faults_at;
    if (span < SECOND)
        return;
    const uint64_t minor = usage->minor - p->minor;
    const uint64_t major = usage->major - p->major;
    const int64_t numbers[] = {(int64_t)minor, (int64_t)major, (int64_t)span};
    if (minor >= span / SECOND * MINOR_A_SECOND ||
        major >= span / SECOND * MAJOR_A_SECOND)
        wndl_outside_put(p->log, WNDL_OUTSIDE_FAULTS, numbers, 3, NULL);
    p->minor = usage->minor;
    p->major = usage->major;
    p->faults_at = how->now;
}

/* ---- mappings */

static void put_range(struct wndl_observed *p, enum wndl_outside_type type,
    const struct wndl_step_range *range)
{
    const int64_t numbers[] = {
        (int64_t)range->start, (int64_t)(range->end - range->start)};
    wndl_outside_put(p->log, type, numbers, 2, range->name);
}

static void put_more(void *context, const struct wndl_step_range *range)
{
    put_range(context, range->is_code ? WNDL_OUTSIDE_CODE : WNDL_OUTSIDE_MAPPED,
        range);
}

static void put_less(void *context, const struct wndl_step_range *range)
{
    put_range(context, WNDL_OUTSIDE_UNMAPPED, range);
}

static bool read_map(struct wndl_observed *p, struct wndl_step_map *map,
    const struct wndl_usage *usage)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)p->pid);
    p->mapped = usage->mapped;
    p->stepped = usage->resident;
    return wndl_steps_read(map, path);
}

static void step(struct wndl_observed *p, const struct wndl_observing *how,
    const struct wndl_usage *usage)
{
    struct wndl_step_map now = {0};
    if (how->now < p->next_step ||
        (distance(usage->mapped, p->mapped) < how->above &&
            distance(usage->resident, p->stepped) < how->above))
        return;
    const uint64_t before = wndl_clock_thread_cpu_ns();
    if (!read_map(p, &now, usage) || now.count == 0) {
        wndl_steps_free(&now);
        return;
    }
    wndl_steps_each_more(&now, &p->map, how->above, put_more, p);
    wndl_steps_each_more(&p->map, &now, how->above, put_less, p);
    wndl_steps_free(&p->map);
    p->map = now;
    p->next_step = how->now + (wndl_clock_thread_cpu_ns() - before) * 200;
}

/* ---- the control group */

static void put_limit(struct wndl_observed *p)
{
    const int64_t numbers[] = {(int64_t)p->limit.limit, (int64_t)p->limit.used};
    if (p->limit.limit != 0)
        wndl_outside_put(
            p->log, WNDL_OUTSIDE_LIMIT, numbers, 2, p->group->folder);
}

static void look_for_limit(struct wndl_observed *p)
{
    p->group = malloc(sizeof *p->group);
    if (p->group != NULL && !wndl_cgroup_find(p->pid, p->group)) {
        free(p->group);
        p->group = NULL;
    }
    if (p->group == NULL)
        return;
    wndl_cgroup_read(p->group, &p->limit);
    put_limit(p);
}

static void check_limit(
    struct wndl_observed *p, const struct wndl_observing *how)
{
    const struct wndl_cgroup_state before = p->limit;
    if (p->group == NULL || how->now < p->next_limit)
        return;
    p->next_limit = how->now + SECOND;
    wndl_cgroup_read(p->group, &p->limit);
    if (p->limit.limit != before.limit)
        put_limit(p);
    if (p->limit.reached <= before.reached && p->limit.killed <= before.killed)
        return;
    const int64_t numbers[] = {(int64_t)(p->limit.reached - before.reached),
        (int64_t)(p->limit.killed - before.killed)};
    wndl_outside_put(
        p->log, WNDL_OUTSIDE_REFUSED, numbers, 2, p->group->folder);
}

/* ---- a process */

struct wndl_observed *wndl_observe_begin(
    pid_t pid, const struct wndl_usage *usage)
{
    struct wndl_observed *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->pid = pid;
    p->start = usage->start;
    memcpy(p->name, usage->name, sizeof p->name);
    p->reported = usage->resident;
    p->minor = usage->minor;
    p->major = usage->major;
    return p;
}

/* The size before it moved is the first event. */
static enum wndl_status open_log(struct wndl_observed *p,
    const struct wndl_observing *how, const struct wndl_usage *usage,
    struct wndl_error *err)
{
    p->log = calloc(1, sizeof *p->log);
    if (p->log == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    const enum wndl_status status =
        wndl_outside_open(p->log, how->folder, p->pid, err);
    if (status != WNDL_OK) {
        free(p->log);
        p->log = NULL;
        return status;
    }
    p->faults_at = how->now;
    p->minor = usage->minor;
    p->major = usage->major;
    put_resident(p, p->reported);
    look_for_limit(p);
    (void)read_map(p, &p->map, usage);
    return WNDL_OK;
}

enum wndl_status wndl_observe(struct wndl_observed *process,
    const struct wndl_observing *how, const struct wndl_usage *usage,
    struct wndl_error *err)
{
    struct wndl_observed *p = process;
    const bool is_moved = has_moved(usage->resident, p->reported, MOVE_PART);
    if (p->log == NULL && how->is_lazy && !is_moved)
        return WNDL_OK;
    if (p->log == NULL) {
        const enum wndl_status status = open_log(p, how, usage, err);
        if (status != WNDL_OK)
            return status;
    }
    if (strcmp(p->name, usage->name) != 0) {
        memcpy(p->name, usage->name, sizeof p->name);
        wndl_outside_rename(p->log);
    }
    /* The cause comes before the size that it had. */
    step(p, how, usage);
    if (is_moved)
        put_resident(p, usage->resident);
    weigh(p, how, usage);
    count_faults(p, how, usage);
    check_limit(p, how);
    return WNDL_OK;
}

void wndl_observe_end(struct wndl_observed *process, bool is_over)
{
    if (process->log != NULL) {
        if (is_over)
            wndl_outside_put(process->log, WNDL_OUTSIDE_END, NULL, 0, NULL);
        wndl_outside_close(process->log);
    }
    free(process->log);
    free(process->group);
    wndl_steps_free(&process->map);
    free(process);
}
