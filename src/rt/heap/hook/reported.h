/* SPDX-License-Identifier: MIT */
/* reported: the blocks that programs report by windlass/heap.h. */
#ifndef WNDL_RT_HEAP_HOOK_REPORTED_H
#define WNDL_RT_HEAP_HOOK_REPORTED_H

/* In a forked child: no request for a snapshot is pending. */
void wndl_rt_heap_reported_after_fork(void);

#endif
