/* SPDX-License-Identifier: MIT */
/*
 * mlock: a program may lock all its memory, which makes all of it resident. The
 * shared block has room for far more than most programs need, gigabytes if the
 * heap is recorded, and so has the address space of the threads' slots. Both
 * stay unlocked, and each other mapping is locked by itself.
 */
#include "os/maps.h"
#include "os/raw.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"

#include <errno.h>
#include <sys/mman.h>

static bool is_room(uintptr_t address)
{
    return address - (uintptr_t)wndl_rt.shm < wndl_rt.shared_size ||
           address - atomic_load(&wndl_rt.slots_start) < wndl_rt.slots_size;
}

static void unlock_room(void)
{
    (void)wndl_raw3(
        SYS_munlock, (long)wndl_rt.shm, (long)wndl_rt.shared_size, 0);
    if (wndl_rt.slots_size != 0)
        (void)wndl_raw3(SYS_munlock, (long)atomic_load(&wndl_rt.slots_start),
            (long)wndl_rt.slots_size, 0);
}

/* Each is filled as by mlockall(), which does not report failures of that. */
static bool lock_other(void *any, const struct wndl_mapping *m)
{
    *(bool *)any = true;
    if (!is_room(m->start))
        (void)wndl_raw3(
            SYS_mlock, (long)m->start, (long)(m->end - m->start), 0);
    return true;
}

static bool lock_others_of(const char *path)
{
    uint8_t room[WNDL_RT_SCRATCH];
    const struct wndl_bytes scratch = {room, sizeof room};
    bool any = false;
    return wndl_maps_each(path, scratch, lock_other, &any) && any;
}

/*
 * False if the mappings are not known, or a sandbox refuses. Emulators have
 * only the first file, which is empty if the first thread has ended.
 */
static bool lock_others(void)
{
    return wndl_raw3(SYS_mlock, (long)wndl_rt.shm, 0, 0) == 0 &&
           (lock_others_of("/proc/self/maps") ||
               lock_others_of("/proc/thread-self/maps"));
}

/*
 * First, nothing is filled, and later mappings are locked as requested. Kernels
 * without that option fill the block, too, and so do all if the other mappings
 * cannot be locked: a program that locks relies on its memory.
 */
static int lock_all(int flags)
{
    const struct wndl_rt_real *real = wndl_rt_real();
    if (real->mlockall(flags | MCL_ONFAULT) != 0)
        return errno == EINVAL ? real->mlockall(flags) : -1;
    unlock_room();
    if ((flags & MCL_ONFAULT) != 0)
        return 0;
    if ((flags & MCL_FUTURE) != 0)
        (void)real->mlockall(MCL_FUTURE);
    return lock_others() ? 0 : real->mlockall(flags);
}

WNDL_RT_HOOK int mlockall(int flags)
{
    bool locks_block = wndl_rt.shm != NULL && (flags & MCL_CURRENT) != 0;
    return locks_block && wndl_rt.with_locks && !wndl_rt_is_careful()
               ? lock_all(flags)
               : wndl_rt_real()->mlockall(flags);
}
