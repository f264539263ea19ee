/* SPDX-License-Identifier: MIT */
/*
 * engine: what interrupts the program, and the threads that it samples.
 */
#ifndef WNDL_RT_SAMPLE_ENGINE_H
#define WNDL_RT_SAMPLE_ENGINE_H

#include "rec/shm.h"

#include <signal.h>
#include <stdbool.h>

/*
 * Installs the handler and starts sampling this process as `go` says. Fills
 * *ready. Returns the descriptor that keeps the engine running, or -1 where
 * there is none.
 */
int wndl_rt_engine_start(const struct wndl_go *go, struct wndl_ready *ready);

/*
 * The calling thread begins, before any code of the program's. Threads that are
 * there when the engine starts are known to it.
 */
void wndl_rt_engine_add_thread(void);

/* The calling thread ends; no code of the program's follows. */
void wndl_rt_engine_end_thread(void);

/*
 * Learns what can be learnt of the calling thread only by calls that it is
 * about to lose the right to make.
 */
void wndl_rt_engine_prepare_thread(void);

/* No more samples of the calling thread. */
void wndl_rt_engine_stop(void);

/*
 * No signal of the engine's may be under way while the program is replaced: the
 * new image has no handler for it yet. resume() is for a failed exec.
 */
void wndl_rt_engine_pause(void);
void wndl_rt_engine_resume(void);

/*
 * Whether a signal that did not come to the handler, but to the calling thread
 * otherwise, is the engine's. Then its work is done, too.
 */
bool wndl_rt_engine_sent(const siginfo_t *info);

#endif
