/* SPDX-License-Identifier: MIT */
/* thread: the hook of pthread_create(). */
#ifndef WNDL_RT_MEMLOG_THREAD_H
#define WNDL_RT_MEMLOG_THREAD_H

/* Prepares the hook; once, at the start. */
void wndl_calls_thread_start(void);

#endif
