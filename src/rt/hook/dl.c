/* SPDX-License-Identifier: MIT */
/*
 * dl: unloading of modules. dlopen() must not be hooked: its result depends on
 * its caller.
 */
#include "os/raw.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/heap/heap.h"
#include "rt/walk/modules.h"

#include <dlfcn.h>

WNDL_RT_HOOK int dlclose(void *handle)
{
    wndl_rt_heap_unload(true);
    int result = wndl_rt_real()->dlclose(handle);
    wndl_rt_heap_unload(false);
    if (wndl_rt.shm != NULL && wndl_rt_is_own_process())
        wndl_rt_modules_recheck();
    return result;
}
