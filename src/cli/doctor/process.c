/* SPDX-License-Identifier: MIT */
#include "cli/doctor/doctor.h"

#include "cli/shared/target_check.h"
#include "collect/loop/attach_rights.h"
#include "collect/proc/proc.h"
#include "collect/start/engine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pid_t read_pid(const char *text)
{
    char *end;
    errno = 0;
    const long pid = strtol(text, &end, 10);
    return errno != 0 || end == text || *end != '\0' || pid <= 0 ||
                   pid > INT_MAX
               ? -1
               : (pid_t)pid;
}

static void check_samples(struct wndl_doctor *d, pid_t pid)
{
    struct wndl_attach_rights rights;
    struct wndl_error err = {0};
    char text[sizeof(((struct wndl_doctor_finding *)NULL)->found)];
    if (wndl_target_check(pid, true, &err) != WNDL_OK ||
        wndl_attach_try(pid, &rights, &err) != WNDL_OK) {
        wndl_doctor_find(d, "samples", WNDL_DOCTOR_NO, "%s",
            wndl_error_text(&err, text, sizeof text))
            ->stops = true;
        return;
    }
    struct wndl_doctor_finding *f = wndl_doctor_find(d, "samples",
        rights.refused == 0 ? WNDL_DOCTOR_OK : WNDL_DOCTOR_LIMITED,
        "%u of %u threads can be sampled, on %zu CPUs",
        rights.threads - rights.refused, rights.threads, rights.cpus);
    if (!rights.leaves_out_kernel)
        return;
    f->state = WNDL_DOCTOR_LIMITED;
    wndl_doctor_setting(f, "kernel.perf_event_paranoid", "%d",
        wndl_engine_setting("perf_event_paranoid"));
    wndl_doctor_advise(f, "time in the kernel has no samples: set it to 1, or "
                          "run windlass as root");
}

/* Such stacks are read with the rights of a debugger. */
static void check_blocked(struct wndl_doctor *d, pid_t pid)
{
    char text[256];
    errno = 0;
    if (wndl_proc_read(pid, "syscall", text, sizeof text) != 0) {
        wndl_doctor_find(d, "blocked time", WNDL_DOCTOR_OK,
            "the stacks of its blocked threads can be read");
        return;
    }
    struct wndl_doctor_finding *f = wndl_doctor_find(d, "blocked time",
        WNDL_DOCTOR_LIMITED,
        "its blocked threads have times, but no stacks: %s", strerror(errno));
    const int scope = wndl_engine_setting("yama/ptrace_scope");
    if (scope > 0)
        wndl_doctor_setting(f, "kernel.yama.ptrace_scope", "%d", scope);
    wndl_doctor_advise(
        f, "%srun windlass as root", scope > 0 ? "set it to 0, or " : "");
}

static void say_none(struct wndl_doctor *d, const char *text)
{
    wndl_doctor_find(
        d, "process", WNDL_DOCTOR_NO, "there is no process '%.100s'", text)
        ->stops = true;
}

void wndl_doctor_process(struct wndl_doctor *d, const char *text)
{
    char path[PATH_MAX];
    struct wndl_proc_stat stat;
    const pid_t pid = read_pid(text);
    if (pid < 0 || !wndl_proc_stat(pid, &stat) || stat.state == 'Z') {
        say_none(d, text);
        return;
    }
    const bool has_path = wndl_proc_link(pid, "exe", path);
    wndl_doctor_find(d, "process", WNDL_DOCTOR_OK, "process %d runs %.200s",
        (int)pid, has_path ? path : "a program whose file may not be read");
    check_samples(d, pid);
    check_blocked(d, pid);
    if (has_path)
        wndl_doctor_code(d, path, true);
}
