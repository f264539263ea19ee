/* SPDX-License-Identifier: MIT */
/*
 * Unloading. dlopen() must not be hooked: what it does depends on its caller.
 */
#include "os/raw.h"
#include "rt/rt.h"

#include <dlfcn.h>

WNDL_RT_HOOK int dlclose(void *handle)
{
    int result = wndl_rt_real()->dlclose(handle);
    if (wndl_rt.shm != NULL && wndl_raw_getpid() == wndl_rt.pid)
        wndl_rt_modules_recheck();
    return result;
}
