/* SPDX-License-Identifier: MIT */
#include "rt/memlog/real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>

static struct wndl_calls_real real;
static _Atomic bool is_resolved;
static __thread bool is_resolving;

#define ROW(name)                                                              \
    {                                                                          \
#name, offsetof(struct wndl_calls_real, name)                          \
    }

static const struct {
    const char *name;
    size_t offset;
} table[] = {
    ROW(mmap),
    ROW(munmap),
    ROW(mremap),
    ROW(brk),
    ROW(sbrk),
    ROW(madvise),
    ROW(malloc_trim),
    ROW(pthread_create),
    ROW(execve),
    ROW(execv),
    ROW(execvp),
    ROW(execvpe),
    ROW(fexecve),
    ROW(posix_spawn),
    ROW(posix_spawnp),
};

/* Two threads may do this at the same time: they write the same values. */
const struct wndl_calls_real *wndl_calls_real(void)
{
    if (atomic_load_explicit(&is_resolved, memory_order_acquire) ||
        is_resolving)
        return &real;
    is_resolving = true;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        void *found = dlsym(RTLD_NEXT, table[i].name);
        __atomic_store_n((void **)((char *)&real + table[i].offset), found,
            __ATOMIC_RELAXED);
    }
    is_resolving = false;
    atomic_store_explicit(&is_resolved, true, memory_order_release);
    return &real;
}
