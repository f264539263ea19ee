/* SPDX-License-Identifier: MIT */
#include "rt/core/real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static struct wndl_rt_real real;
static _Atomic bool resolved;

static const struct {
    const char *name;
    size_t offset;
} table[] = {
    {"sigaction", offsetof(struct wndl_rt_real, sigaction)},
    {"signal", offsetof(struct wndl_rt_real, signal)},
    {"sysv_signal", offsetof(struct wndl_rt_real, sysv_signal)},
    {"sigset", offsetof(struct wndl_rt_real, sigset)},
    {"sigignore", offsetof(struct wndl_rt_real, sigignore)},
    {"siginterrupt", offsetof(struct wndl_rt_real, siginterrupt)},
    {"sigprocmask", offsetof(struct wndl_rt_real, sigprocmask)},
    {"pthread_sigmask", offsetof(struct wndl_rt_real, pthread_sigmask)},
    {"raise", offsetof(struct wndl_rt_real, raise)},
    {"sighold", offsetof(struct wndl_rt_real, sighold)},
    {"sigrelse", offsetof(struct wndl_rt_real, sigrelse)},
    {"sigpending", offsetof(struct wndl_rt_real, sigpending)},
    {"sigtimedwait", offsetof(struct wndl_rt_real, sigtimedwait)},
    {"sigwaitinfo", offsetof(struct wndl_rt_real, sigwaitinfo)},
    {"sigwait", offsetof(struct wndl_rt_real, sigwait)},
    {"signalfd", offsetof(struct wndl_rt_real, signalfd)},
    {"ptrace", offsetof(struct wndl_rt_real, ptrace)},
    {"nanosleep", offsetof(struct wndl_rt_real, nanosleep)},
    {"clock_nanosleep", offsetof(struct wndl_rt_real, clock_nanosleep)},
    {"pthread_create", offsetof(struct wndl_rt_real, pthread_create)},
    {"dlclose", offsetof(struct wndl_rt_real, dlclose)},
    {"execve", offsetof(struct wndl_rt_real, execve)},
    {"execvpe", offsetof(struct wndl_rt_real, execvpe)},
    {"fexecve", offsetof(struct wndl_rt_real, fexecve)},
    {"execveat", offsetof(struct wndl_rt_real, execveat)},
    {"posix_spawn", offsetof(struct wndl_rt_real, posix_spawn)},
    {"posix_spawnp", offsetof(struct wndl_rt_real, posix_spawnp)},
    {"munmap", offsetof(struct wndl_rt_real, munmap)},
    {"mmap", offsetof(struct wndl_rt_real, mmap)},
    {"mmap64", offsetof(struct wndl_rt_real, mmap64)},
    {"mremap", offsetof(struct wndl_rt_real, mremap)},
    {"mlockall", offsetof(struct wndl_rt_real, mlockall)},
    {"prctl", offsetof(struct wndl_rt_real, prctl)},
};

/* Two threads may do this at the same time: they write the same values. */
const struct wndl_rt_real *wndl_rt_real(void)
{
    if (atomic_load_explicit(&resolved, memory_order_acquire))
        return &real;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        void *found = dlsym(RTLD_NEXT, table[i].name);
        __atomic_store_n((void **)((char *)&real + table[i].offset), found,
            __ATOMIC_RELAXED);
    }
    atomic_store_explicit(&resolved, true, memory_order_release);
    return &real;
}
