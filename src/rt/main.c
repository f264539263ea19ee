/* SPDX-License-Identifier: MIT */
/*
 * Where the loader and fork() come in.
 */
#include "os/raw.h"
#include "rt/rt.h"
#include "rt/threads.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/un.h>

enum { KERNEL_SIGSET_BYTES = 8 };

struct wndl_rt wndl_rt;

/*
 * What pthread_atfork() is made of in glibc. Both
 * are weak: a program of another libc gets this object preloaded too, and is
 * to run on, unrecorded.
 */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void),
    void *) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));
#pragma weak _dl_find_object

static bool is_glibc(void)
{
    return __register_atfork != NULL && _dl_find_object != NULL;
}

/* Of the thread that forks, around fork(). */
static __thread uint64_t mask_before;

static uint64_t set_mask(uint64_t mask, int how)
{
    uint64_t before = 0;
    (void)wndl_raw4(SYS_rt_sigprocmask, how, (long)&mask, (long)&before,
        KERNEL_SIGSET_BYTES);
    return before;
}

static uint64_t bit_of(int signal)
{
    return signal == 0 ? 0 : UINT64_C(1) << (signal - 1);
}

/* A timer's signal would send the parent back to the start of a long fork. */
static void before_fork(void)
{
    mask_before = set_mask(0, SIG_BLOCK);
    if (wndl_rt.engine == WNDL_ENGINE_TIMER)
        (void)set_mask(bit_of(wndl_rt.signal), SIG_BLOCK);
}

static void after_fork_in_parent(void)
{
    if (wndl_rt.engine == WNDL_ENGINE_TIMER)
        (void)set_mask(mask_before, SIG_SETMASK);
}

/*
 * The block is the parent's. It is unmapped rather than left out of the fork,
 * so that a child made behind fork()'s back still finds what it may touch.
 */
static void after_fork_in_child(void)
{
    (void)set_mask(~UINT64_C(0), SIG_SETMASK);
    if (wndl_rt.shm != NULL) {
        wndl_raw_unmap(wndl_rt.shm, wndl_shm_size());
        wndl_rt.shm = NULL;
        wndl_rt.pid = wndl_raw_getpid();
        wndl_rt.image++;
        atomic_store(&wndl_rt.epoch, 0);
        atomic_fetch_add(&wndl_rt.rules_age, 1);
        wndl_rt_threads_forget();
        wndl_rt_signal_after_fork();
        wndl_rt_start();
    }
    (void)set_mask(mask_before, SIG_SETMASK);
}

static uint64_t find_vdso(char **environment)
{
    while (*environment != NULL)
        environment++;
    const Elf64_auxv_t *aux = (const Elf64_auxv_t *)(void *)(environment + 1);
    while (aux->a_type != AT_NULL && aux->a_type != AT_SYSINFO_EHDR)
        aux++;
    return aux->a_type == AT_NULL ? 0 : aux->a_un.a_val;
}

/* The value of a variable, or NULL; `assignment` is "NAME=". */
static const char *find_variable(char **environment, const char *assignment)
{
    size_t size = strlen(assignment);
    for (; *environment != NULL; environment++) {
        if (strlen(*environment) >= size &&
            memcmp(*environment, assignment, size) == 0)
            return *environment + size;
    }
    return NULL;
}

/* The program may change its environment: the path is copied. */
static const char *find_session(char **environment)
{
    static char path[sizeof((struct sockaddr_un *)NULL)->sun_path];
    const char *value = find_variable(environment, WNDL_SESSION_ENV "=");
    if (value == NULL || strlen(value) >= sizeof path)
        return NULL;
    memcpy(path, value, strlen(value) + 1);
    return path;
}

/*
 * Under Valgrind the program does not run on the CPU, and events about the
 * CPU are more than Valgrind can bear. It preloads libraries of its own.
 */
static bool is_emulated(char **environment)
{
    static const char name[] = "/vgpreload_core";
    const char *preload = find_variable(environment, "LD_PRELOAD=");
    for (; preload != NULL && *preload != '\0'; preload++) {
        size_t at = 0;
        while (name[at] != '\0' && preload[at] == name[at])
            at++;
        if (name[at] == '\0')
            return true;
    }
    return false;
}

__attribute__((constructor)) static void start(
    int count, char **arguments, char **environment)
{
    (void)count;
    (void)arguments;
    /* Another libc calls constructors without arguments. */
    if (!is_glibc())
        return;
    (void)wndl_rt_real();
    wndl_rt.session = find_session(environment);
    if (wndl_rt.session == NULL || is_emulated(environment))
        return;
    wndl_rt.vdso = find_vdso(environment);
    wndl_rt.pid = wndl_raw_getpid();
    uint64_t mask = set_mask(~UINT64_C(0), SIG_SETMASK);
    wndl_rt_start();
    if (wndl_rt.shm != NULL)
        (void)__register_atfork(before_fork, after_fork_in_parent,
            after_fork_in_child, &__dso_handle);
    wndl_rt_mask_remember((mask & bit_of(wndl_rt.signal)) != 0);
    (void)set_mask(mask & ~bit_of(wndl_rt.signal), SIG_SETMASK);
}
