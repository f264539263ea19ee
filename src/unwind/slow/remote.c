/* SPDX-License-Identifier: MIT */
#include "unwind/slow/find_fp.h"
#include "unwind/slow/full.h"

void wndl_unwind_remote(const struct wndl_remote *remote,
    const struct wndl_regs *regs, struct wndl_walk *walk)
{
    const struct wndl_space space = {
        .memory = {remote->read, remote->context},
        .remote = remote,
        .arch = wndl_arch_of(remote->machine),
        .method = walk->method,
        .find_fp = remote->find_fp ? wndl_find_fp : NULL,
    };
    wndl_full_walk(&space, regs, walk);
}
