/* SPDX-License-Identifier: MIT */
#include "rt/rt.h"

#include <dlfcn.h>
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
    {"pthread_create", offsetof(struct wndl_rt_real, pthread_create)},
    {"dlclose", offsetof(struct wndl_rt_real, dlclose)},
    {"execve", offsetof(struct wndl_rt_real, execve)},
    {"execvpe", offsetof(struct wndl_rt_real, execvpe)},
    {"fexecve", offsetof(struct wndl_rt_real, fexecve)},
    {"execveat", offsetof(struct wndl_rt_real, execveat)},
};

/* Two threads may do this at once: they write the same values. */
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
