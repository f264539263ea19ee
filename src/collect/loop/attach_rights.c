/* SPDX-License-Identifier: MIT */
#include "collect/loop/attach_rights.h"

#include "collect/attach/attach.h"
#include "collect/offcpu/task.h"
#include "collect/start/engine.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

size_t wndl_attach_count_threads(pid_t pid)
{
    const int folder = wndl_offcpu_task_folder(pid);
    const size_t count = folder < 0 ? 0 : wndl_offcpu_task_count(folder);
    if (folder >= 0)
        close(folder);
    return count;
}

static enum wndl_status say_descriptors(
    size_t cpus, pid_t pid, struct wndl_error *err)
{
    struct rlimit limit = {0};
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    return wndl_fail(err, WNDL_DENIED,
        "process %d has %zu threads, and each needs a descriptor for each of "
        "the %zu CPUs, but the limit is %llu: raise it with 'ulimit -n'",
        (int)pid, wndl_attach_count_threads(pid), cpus,
        (unsigned long long)limit.rlim_cur);
}

static enum wndl_status say_refused(int why, struct wndl_error *err)
{
    enum { HIGHEST = 2, UNKNOWN = -2 };
    const int paranoid = wndl_engine_setting("perf_event_paranoid");
    if (paranoid > HIGHEST)
        return wndl_fail(err, WNDL_DENIED,
            "kernel.perf_event_paranoid is %d: only root may have perf events; "
            "run windlass as root, or set it to 2 with 'sysctl "
            "kernel.perf_event_paranoid=2'; --engine stop does without them",
            paranoid);
    if (paranoid == UNKNOWN)
        return wndl_fail_errno(
            err, why, "the kernel refuses perf events, or has none");
    return wndl_fail_errno(err, why,
        "the kernel refuses perf events, though kernel.perf_event_paranoid is "
        "%d: a container or a security module may forbid them; --engine stop "
        "does "
        "without them",
        paranoid);
}

static enum wndl_status say_locked(size_t cpus, struct wndl_error *err)
{
    return wndl_fail(err, WNDL_DENIED,
        "the kernel may not lock the memory of %zu rings: raise "
        "kernel.perf_event_mlock_kb, or the limit with 'ulimit -l'",
        cpus);
}

enum wndl_status wndl_attach_lack(
    size_t cpus, pid_t pid, int why, struct wndl_error *err)
{
    if (why == ESRCH)
        return wndl_fail(err, WNDL_NOT_FOUND, "process %d has ended", (int)pid);
    if (why == EMFILE || why == ENFILE)
        return say_descriptors(cpus, pid, err);
    if (why == ENOBUFS)
        return say_locked((size_t)sysconf(_SC_NPROCESSORS_ONLN), err);
    if (why == ENOMEM)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (why == EOPNOTSUPP)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "processes that run already can be recorded on x86-64 and AArch64 "
            "only");
    return say_refused(why, err);
}

/* Nothing is sampled: the events stay disabled. */
enum wndl_status wndl_attach_try(
    pid_t pid, struct wndl_attach_rights *rights, struct wndl_error *err)
{
    enum { SECOND = 1000 * 1000 * 1000, COPY = 4096 };
    const struct wndl_attach_event event = {
        .interval = SECOND, .stack_size = COPY, .has_children = true};
    struct wndl_attach attach;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* as the recorder does */
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    *rights = (struct wndl_attach_rights){0};
    int why = wndl_attach_open(&attach, &event);
    if (why != 0)
        return wndl_attach_lack(0, pid, why, err);
    const size_t cpus = attach.ring_count;
    why = wndl_attach_add(&attach, pid);
    *rights = (struct wndl_attach_rights){
        .threads = attach.targets.count,
        .refused = attach.targets.refused,
        .cpus = cpus,
        .leaves_out_kernel = attach.targets.event.leaves_out_kernel,
    };
    wndl_attach_close(&attach);
    return why == 0 ? WNDL_OK : wndl_attach_lack(cpus, pid, why, err);
}
