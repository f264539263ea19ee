/* SPDX-License-Identifier: MIT */
#include "cli/doctor/doctor.h"

#include "cli/shared/debug_dirs.h"
#include "cli/shared/runtime.h"
#include "collect/loop/collector.h"
#include "collect/start/session.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Reads "6.1"; zeros if the text has another form. */
static void version_of(const char *text, unsigned version[2])
{
    version[0] = version[1] = 0;
    (void)sscanf(text, "%u.%u", &version[0], &version[1]);
}

static bool is_before(const unsigned version[2], unsigned major, unsigned minor)
{
    return version[0] != major ? version[0] < major : version[1] < minor;
}

static void check_kernel(struct wndl_doctor *d)
{
    struct utsname name;
    unsigned version[2] = {0, 0};
    if (uname(&name) != 0)
        return;
    version_of(name.release, version);
    struct wndl_doctor_finding *f = wndl_doctor_find(
        d, "kernel", WNDL_DOCTOR_OK, "%s %s", name.sysname, name.release);
    if (!is_before(version, 5, 13))
        return;
    f->state = WNDL_DOCTOR_LIMITED;
    wndl_doctor_advise(f, "Linux 5.13 and newer have perf events that do not "
                          "interrupt blocked calls");
    if (!is_before(version, 5, 10))
        return;
    f->state = WNDL_DOCTOR_NO;
    f->stops = true;
    wndl_doctor_advise(f, "use Linux 5.10 or newer");
}

static void check_libc(struct wndl_doctor *d)
{
    const char *text = gnu_get_libc_version();
    unsigned version[2];
    version_of(text, version);
    struct wndl_doctor_finding *f =
        wndl_doctor_find(d, "libc", WNDL_DOCTOR_OK, "glibc %s", text);
    if (!is_before(version, 2, 31))
        return;
    f->state = WNDL_DOCTOR_NO;
    f->stops = true;
    wndl_doctor_advise(f, "use glibc 2.31 or newer");
}

/* ---- engines */

static void check_perf(
    struct wndl_doctor *d, const struct wndl_collector_engine *engine)
{
    struct wndl_doctor_finding *f;
    bool refused = engine->refusal != 0;
    if (refused)
        f = wndl_doctor_find(d, "perf events", WNDL_DOCTOR_LIMITED,
            "refused: %s; timers are used instead", strerror(engine->refusal));
    else
        f = wndl_doctor_find(d, "perf events", WNDL_DOCTOR_OK,
            "available; time in the kernel is sampled by the kernel's tick");
    if (engine->paranoid == -2) {
        errno = engine->unread;
        wndl_doctor_note_errno(d, "/proc/sys/kernel/perf_event_paranoid");
        if (refused)
            wndl_doctor_advise(f, "the kernel has none, or a sandbox or "
                                  "container forbids them");
        return;
    }
    wndl_doctor_setting(
        f, "kernel.perf_event_paranoid", "%d", engine->paranoid);
    if (refused && engine->paranoid > 2)
        wndl_doctor_advise(
            f, "as root: sysctl kernel.perf_event_paranoid=1 (or 2)");
    else if (refused)
        wndl_doctor_advise(f,
            "the setting allows them: the kernel is older than 5.13, or a "
            "sandbox or container forbids them");
}

/* The rate of the kernel's tick, with which CPU-time timers fire. */
static long ticks_per_second(void)
{
    struct timespec tick;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_nsec == 0)
        return 0;
    return 1000000000 / tick.tv_nsec;
}

/* 0, or the errno with which the kernel refuses. */
static int try_timer(clockid_t clock)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t timer;
    if (timer_create(clock, &event, &timer) != 0)
        return errno;
    timer_delete(timer);
    return 0;
}

static bool check_timers(struct wndl_doctor *d)
{
    int why = try_timer(CLOCK_MONOTONIC);
    if (why == 0)
        wndl_doctor_find(d, "timers", WNDL_DOCTOR_OK, "available, of any rate");
    else
        wndl_doctor_find(
            d, "timers", WNDL_DOCTOR_NO, "refused: %s", strerror(why));
    int why_cpu = try_timer(CLOCK_THREAD_CPUTIME_ID);
    if (why_cpu == 0)
        wndl_doctor_find(d, "CPU timers", WNDL_DOCTOR_OK,
            "at most %ld per second, the rate of the kernel's tick",
            ticks_per_second());
    else
        wndl_doctor_find(
            d, "CPU timers", WNDL_DOCTOR_NO, "refused: %s", strerror(why_cpu));
    return why == 0 || why_cpu == 0;
}

static void check_engines(struct wndl_doctor *d)
{
    struct wndl_collector_engine engine;
    wndl_collector_probe(&engine);
    check_perf(d, &engine);
    bool timers = check_timers(d);
    if (engine.refusal == 0 || timers)
        return;
    d->findings[d->count - 1].stops = true;
    wndl_doctor_advise(&d->findings[d->count - 1],
        "no engine works: ask the administrator of this sandbox");
}

static void check_outside(struct wndl_doctor *d)
{
    struct wndl_collector_engine engine;
    struct wndl_error err = {0};
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    int scope = -1;
    if (file != NULL) {
        if (fscanf(file, "%d", &scope) != 1)
            scope = -1;
        fclose(file);
    } else {
        wndl_doctor_note_errno(d, "/proc/sys/kernel/yama/ptrace_scope");
    }
    bool allowed =
        wndl_collector_choose(&engine, WNDL_ENGINE_OUTSIDE, &err) == WNDL_OK;
    struct wndl_doctor_finding *f;
    wndl_doctor_note(d, &err);
    if (allowed)
        f = wndl_doctor_find(d, "blocked time", WNDL_DOCTOR_OK,
            "threads can be sampled while they are blocked");
    else
        f = wndl_doctor_find(d, "blocked time", WNDL_DOCTOR_LIMITED,
            "threads cannot be sampled while they are blocked: %s",
            strerror(err.sys_errno));
    if (scope >= 0)
        wndl_doctor_setting(f, "kernel.yama.ptrace_scope", "%d", scope);
    if (!allowed && scope > 1)
        wndl_doctor_advise(f, "as root: sysctl kernel.yama.ptrace_scope=1");
    else if (!allowed)
        wndl_doctor_advise(f, "a sandbox or container forbids it");
}

static void check_sandbox(struct wndl_doctor *d)
{
    int mode = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
    if (mode <= 0)
        wndl_doctor_find(
            d, "sandbox", WNDL_DOCTOR_OK, "none around this shell");
    else
        wndl_doctor_find(d, "sandbox", WNDL_DOCTOR_LIMITED,
            "system calls are filtered (seccomp mode %d), as in containers; "
            "the other lines show what is refused",
            mode);
}

/* ---- the runtime and its resources */

/* Whether there is a runtime for programs of that `library`. */
static bool has_runtime(
    struct wndl_doctor *d, const char *path, const char *library)
{
    struct wndl_error err = {0};
    const bool found = wndl_runtime_is_for(path, library, &err);
    wndl_doctor_note(d, &err);
    return found;
}

static void check_32_bits(struct wndl_doctor *d, const char *path)
{
    if (has_runtime(d, path, "lib32")) {
        wndl_doctor_find(
            d, "32-bit programs", WNDL_DOCTOR_OK, "can be recorded");
        return;
    }
    struct wndl_doctor_finding *f =
        wndl_doctor_find(d, "32-bit programs", WNDL_DOCTOR_LIMITED,
            "cannot be recorded: this build has no runtime for them");
    wndl_doctor_advise(f,
        "build windlass where there is a 32-bit libc (Debian: gcc-multilib)");
}

/* Runtimes for emulators: a missing one is no defect. */
static void check_other_processors(struct wndl_doctor *d, const char *path)
{
    if (has_runtime(d, path, "lib/aarch64-linux-gnu"))
        wndl_doctor_find(d, "AArch64 programs", WNDL_DOCTOR_OK,
            "can be recorded in an emulator: windlass record -- qemu-aarch64 "
            "-L /usr/aarch64-linux-gnu PROGRAM");
    if (has_runtime(d, path, "lib/arm-linux-gnueabihf"))
        wndl_doctor_find(d, "32-bit Arm programs", WNDL_DOCTOR_OK,
            "can be recorded in an emulator: windlass record -- qemu-arm -L "
            "/usr/arm-linux-gnueabihf PROGRAM");
}

static void check_runtime(struct wndl_doctor *d)
{
    char text[200];
    struct wndl_error err = {0};
    char *path = wndl_runtime_find(wndl_runtime_name(false), &err);
    struct wndl_doctor_finding *f;
    wndl_doctor_note(d, &err);
    if (path == NULL) {
        f = wndl_doctor_find(d, "preload", WNDL_DOCTOR_NO, "%s",
            wndl_error_text(&err, text, sizeof text));
    } else {
        bool can = wndl_runtime_can_be_preloaded(path);
        f = wndl_doctor_find(
            d, "preload", can ? WNDL_DOCTOR_OK : WNDL_DOCTOR_NO, "%s", path);
        if (!can)
            wndl_doctor_advise(f, "the loader splits its list at spaces and "
                                  "colons: install windlass in another folder");
    }
    f->stops = f->state == WNDL_DOCTOR_NO;
    if (!f->stops) {
        check_32_bits(d, path);
        check_other_processors(d, path);
    }
    free(path);
}

/* 0, or an errno, as for each process that is recorded. */
static int try_shared_memory(void)
{
    int fd = memfd_create("windlass", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return errno;
    size_t size = wndl_shm_whole_size(WNDL_SHM_NODES);
    int why = ftruncate(fd, (off_t)size) != 0 ? errno : 0;
    void *map =
        why != 0 ? MAP_FAILED
                 : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED)
        munmap(map, size);
    else if (why == 0)
        why = errno;
    close(fd);
    return why;
}

static void check_shared_memory(struct wndl_doctor *d)
{
    int why = try_shared_memory();
    if (why == 0) {
        wndl_doctor_find(d, "shared memory", WNDL_DOCTOR_OK,
            "%zu MB of address space for each process",
            wndl_shm_whole_size(WNDL_SHM_NODES) >> 20);
        return;
    }
    struct wndl_doctor_finding *f = wndl_doctor_find(
        d, "shared memory", WNDL_DOCTOR_NO, "refused: %s", strerror(why));
    struct rlimit limit;
    f->stops = true;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        wndl_doctor_setting(f, "ulimit -v", "%llu kB",
            (unsigned long long)limit.rlim_cur >> 10);
}

static void check_socket(struct wndl_doctor *d)
{
    struct wndl_session session;
    struct wndl_error err = {0};
    const char *folder = getenv("TMPDIR");
    if (wndl_session_open(&session, &err) == WNDL_OK) {
        int length = (int)(strrchr(session.folder, '/') - session.folder);
        wndl_doctor_find(d, "socket", WNDL_DOCTOR_OK, "can be created in %.*s",
            length, session.folder);
        wndl_session_close(&session);
        return;
    }
    char text[200];
    wndl_doctor_note(d, &err);
    struct wndl_doctor_finding *f = wndl_doctor_find(d, "socket",
        WNDL_DOCTOR_NO, "%s", wndl_error_text(&err, text, sizeof text));
    f->stops = true;
    if (folder != NULL)
        wndl_doctor_setting(f, "TMPDIR", "%s", folder);
    wndl_doctor_advise(f, "set TMPDIR to a folder of yours that can be written "
                          "to, with a short path");
}

/* The recorder raises its own limit to the hard one. */
static void check_descriptors(struct wndl_doctor *d)
{
    enum { EACH = 4, OURS = 16, ENOUGH = 256 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    unsigned long long most = limit.rlim_max;
    unsigned long long processes = most > OURS ? (most - OURS) / EACH : 0;
    bool enough = processes >= ENOUGH;
    struct wndl_doctor_finding *f = wndl_doctor_find(d, "descriptors",
        enough ? WNDL_DOCTOR_OK : WNDL_DOCTOR_LIMITED,
        "enough for about %llu processes at a time", processes);
    wndl_doctor_setting(f, "ulimit -Hn", "%llu", most);
    if (enough)
        return;
    wndl_doctor_advise(f, "raise the limit to record more");
    f->stops = processes == 0;
    if (f->stops)
        f->state = WNDL_DOCTOR_NO;
}

/* ---- output, and debug files */

static void check_folder(struct wndl_doctor *d)
{
    char folder[200];
    bool known = getcwd(folder, sizeof folder) != NULL;
    if (access(".", W_OK | X_OK) == 0) {
        wndl_doctor_find(d, "output", WNDL_DOCTOR_OK,
            "recordings can be written in %s", known ? folder : "this folder");
        return;
    }
    struct wndl_doctor_finding *f = wndl_doctor_find(d, "output",
        WNDL_DOCTOR_LIMITED, "recordings cannot be written in %s: %s",
        known ? folder : "this folder", strerror(errno));
    wndl_doctor_advise(f, "name another place: record -o FILE");
}

/* Checks the folders that the user named. */
static void check_named_folders(
    struct wndl_doctor *d, const struct wndl_debug_dirs *dirs)
{
    for (size_t i = 0; i + 1 < dirs->count; i++) {
        if (access(dirs->list[i], R_OK | X_OK) == 0)
            continue;
        struct wndl_doctor_finding *f =
            wndl_doctor_find(d, "debug files", WNDL_DOCTOR_LIMITED,
                "cannot search %.100s: %s", dirs->list[i], strerror(errno));
        wndl_doctor_setting(
            f, WNDL_DEBUG_DIRS_ENV, "%s", getenv(WNDL_DEBUG_DIRS_ENV));
    }
}

static void check_debug_files(struct wndl_doctor *d)
{
    static const char folder[] = "/usr/lib/debug/.build-id";
    struct wndl_debug_dirs dirs;
    wndl_debug_dirs_init(&dirs, NULL);
    check_named_folders(d, &dirs);
    if (access(folder, R_OK | X_OK) == 0) {
        wndl_doctor_find(d, "debug files", WNDL_DOCTOR_OK,
            "searched in %s; nothing is downloaded without --debuginfod",
            folder);
        return;
    }
    struct wndl_doctor_finding *f =
        wndl_doctor_find(d, "debug files", WNDL_DOCTOR_LIMITED,
            "no folder %s: system libraries have exported names only", folder);
    wndl_doctor_advise(f, "install their -dbgsym, -dbg or -debuginfo packages, "
                          "or use --debuginfod");
}

void wndl_doctor_machine(struct wndl_doctor *d)
{
    check_kernel(d);
    check_libc(d);
    check_engines(d);
    check_outside(d);
    check_sandbox(d);
    check_runtime(d);
    check_shared_memory(d);
    check_socket(d);
    check_descriptors(d);
    check_folder(d);
    check_debug_files(d);
}
