/* SPDX-License-Identifier: MIT */
/* spawn: starting another program, which must be recorded, too. */
#include "rt/core/environment.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"

#include <errno.h>

WNDL_RT_HOOK int posix_spawn(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[],
    char *const environment[])
{
    wndl_rt_spawn *real = wndl_rt_real()->posix_spawn;
    char *const *completed;
    pid_t started;
    pid = pid == NULL ? &started : pid;
    WNDL_RT_ENVIRONMENT(completed, environment);
    int result = real(pid, path, actions, attributes, arguments, completed);
    if (result == E2BIG && completed != environment)
        result = real(pid, path, actions, attributes, arguments, environment);
    if (result == 0)
        wndl_rt_note_start(*pid);
    return result;
}

WNDL_RT_HOOK int posix_spawnp(pid_t *pid, const char *file,
    const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[],
    char *const environment[])
{
    wndl_rt_spawn *real = wndl_rt_real()->posix_spawnp;
    char *const *completed;
    pid_t started;
    pid = pid == NULL ? &started : pid;
    WNDL_RT_ENVIRONMENT(completed, environment);
    int result = real(pid, file, actions, attributes, arguments, completed);
    if (result == E2BIG && completed != environment)
        result = real(pid, file, actions, attributes, arguments, environment);
    if (result == 0)
        wndl_rt_note_start(*pid);
    return result;
}
