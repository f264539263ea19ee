/* SPDX-License-Identifier: MIT */
/* core_ctl: core files that systemd-coredump keeps, by coredumpctl(1). */
#ifndef WNDL_SNAPSHOT_CORE_CTL_H
#define WNDL_SNAPSHOT_CORE_CTL_H

#include "os/file.h"

/* Whether `text` is a number, and no file has that name. */
bool wndl_core_ctl_is_number(const char *text);

/*
 * Maps the last core of process `pid`, which coredumpctl writes to a temporary
 * file without a name. NOT_FOUND if it has none, for which it says why on
 * standard error; UNSUPPORTED: there is no coredumpctl; IO.
 */
enum wndl_status wndl_core_ctl_fetch(const char *pid, struct wndl_file *file,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
