/* SPDX-License-Identifier: MIT */
#include "collect/attach/event.h"

#include "collect/attach/regs.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
    attr->size = sizeof *attr;
    attr->type = PERF_TYPE_SOFTWARE;
    attr->use_clockid = 1;
    attr->clockid = CLOCK_MONOTONIC;
    attr->sample_id_all = 1;
    attr->sample_type =
        PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    if (attr->config == PERF_COUNT_SW_CPU_CLOCK)
        attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
    else if (attr->config == PERF_COUNT_SW_TASK_CLOCK)
        attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    return (int)syscall(
        SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_of_kernel(
    const struct wndl_attach_event *event, pid_t tid, int cpu)
{
    struct perf_event_attr attr = {
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = event->interval,
        .disabled = 1,
        .exclude_user = 1,
        .exclude_hv = 1,
        .exclude_idle = 1,
        .exclude_callchain_user = 1,
    };
    return open_event(&attr, tid, cpu);
}

int wndl_attach_event_open(
    const struct wndl_attach_event *event, pid_t tid, int cpu)
{
    if (event->is_of_kernel)
        return open_of_kernel(event, tid, cpu);
    struct perf_event_attr attr = {
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = event->interval,
        .disabled = 1,
        .inherit = 1,
        .inherit_thread = !event->has_children,
        .exclude_kernel = event->leaves_out_kernel,
        .exclude_hv = 1,
        .task = 1,
        .comm = 1,
        .comm_exec = 1,
        .mmap = 1,
        .mmap2 = 1,
        .sample_regs_user = WNDL_ATTACH_REGS,
        .sample_stack_user = event->stack_size,
    };
    int fd = open_event(&attr, tid, cpu);
    if (fd >= 0 || errno != EINVAL || event->has_children)
        return fd;
    attr.inherit_thread = 0; /* before Linux 5.13 */
    return open_event(&attr, tid, cpu);
}

int wndl_attach_event_holder(int cpu, uint32_t wake_at)
{
    struct perf_event_attr attr = {
        .config = PERF_COUNT_SW_DUMMY,
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .watermark = 1,
        .wakeup_watermark = wake_at,
    };
    return open_event(&attr, 0, cpu);
}

/* Tries an event of this thread. */
static int try_event(const struct wndl_attach_event *event)
{
    int fd = wndl_attach_event_open(event, 0, -1);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

int wndl_attach_event_probe(struct wndl_attach_event *event)
{
    event->leaves_out_kernel = false;
    int why = WNDL_ATTACH_REGS == 0 ? EOPNOTSUPP : try_event(event);
    if (event->is_of_kernel)
        return why;
    if (why != EACCES && why != EPERM)
        return why;
    event->leaves_out_kernel = true;
    return try_event(event);
}
