/* SPDX-License-Identifier: MIT */
#include "cli/collector.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int read_paranoid(void)
{
    int value = -2;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (file == NULL)
        return value;
    if (fscanf(file, "%d", &value) != 1)
        value = -2;
    fclose(file);
    return value;
}

/* As the runtime will ask, but never running. Returns 0 or an errno. */
static int try_event(bool kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = 1000000000,
        .disabled = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .inherit = 1,
        .inherit_thread = 1,
        .exclude_kernel = !kernel,
        .exclude_hv = 1,
    };
    int fd = (int)syscall(
        SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

void wndl_collector_probe(struct wndl_collector_engine *engine)
{
    *engine = (struct wndl_collector_engine){
        .engine = WNDL_ENGINE_PERF,
        .sample_kernel = true,
        .paranoid = read_paranoid(),
    };
    if (try_event(true) == 0)
        return;
    engine->sample_kernel = false;
    engine->refusal = try_event(false);
    if (engine->refusal == 0)
        return;
    engine->engine = WNDL_ENGINE_TIMER;
    engine->sample_kernel = true; /* such a timer runs in the kernel too */
}
