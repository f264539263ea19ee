/* SPDX-License-Identifier: MIT */
/*
 * lock: a program may lock all its memory, which makes all of it resident. The
 * room for marks is far larger than any memory, and must stay unlocked.
 */
#include "rt/tags/marks.h"
#include "rt/tags/real.h"

#include <sys/mman.h>

/*
 * Marks that are reserved from now on are in pieces. Beside those that are not,
 * other memory is locked as it is first touched.
 */
WNDL_RT_TAGS_HOOK int mlockall(int flags)
{
    wndl_rt_marks_use_pieces();
    const struct wndl_rt_tags_real *real = &wndl_rt_tags_real;
    if (!wndl_rt_marks_are_whole(wndl_rt_marks_get()))
        return real->mlockall(flags);
    const int result = real->mlockall(flags | MCL_ONFAULT);
    wndl_rt_marks_unlock();
    return result;
}
