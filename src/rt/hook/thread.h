/* SPDX-License-Identifier: MIT */
/* thread: the hook of pthread_create(). */
#ifndef WNDL_RT_HOOK_THREAD_H
#define WNDL_RT_HOOK_THREAD_H

/* Before the first sample, once per process image. */
void wndl_rt_thread_hook_start(void);

#endif
