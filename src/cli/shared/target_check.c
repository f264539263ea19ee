/* SPDX-License-Identifier: MIT */
#include "cli/shared/target_check.h"

#include "snapshot/rights.h"

enum wndl_status wndl_target_check(
    pid_t pid, bool has_events, struct wndl_error *err)
{
    struct wndl_rights rights;
    wndl_rights_find(&rights, pid);
    if (rights.exists && rights.process != pid)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "%d is a thread of process %d: windlass record -p %d --threads "
            "NAME",
            (int)pid, (int)rights.process, (int)rights.process);
    const enum wndl_status status = wndl_rights_check(&rights, err);
    const bool is_yama = status == WNDL_DENIED && rights.yama > 0 &&
                         rights.user == rights.our_user && !rights.is_closed;
    if (!has_events || !is_yama)
        return status;
    *err = (struct wndl_error){0};
    return WNDL_OK;
}
