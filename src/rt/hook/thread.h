/* SPDX-License-Identifier: MIT */
/* thread: the hook of pthread_create(). */
#ifndef WNDL_RT_HOOK_THREAD_H
#define WNDL_RT_HOOK_THREAD_H

/*
 * Prepares the hook. Call it once per process image, before the first sample.
 */
void wndl_rt_thread_hook_start(void);

#endif
