/* SPDX-License-Identifier: MIT */
/* engine: interrupts the program, and knows the threads that it samples. */
#ifndef WNDL_RT_SAMPLE_ENGINE_H
#define WNDL_RT_SAMPLE_ENGINE_H

#include "rec/shm.h"

#include <signal.h>
#include <stdbool.h>

/*
 * Installs the handler and starts to sample this process as `go` says. Fills
 * *ready. Returns the descriptor that keeps the engine running, or -1 if it
 * needs none.
 */
int wndl_rt_engine_start(const struct wndl_go *go, struct wndl_ready *ready);

/*
 * Adds the calling thread, before any code of the program runs in it. Threads
 * that exist when the engine starts are added by that.
 */
void wndl_rt_engine_add_thread(void);

/* Ends the calling thread. No code of the program's may follow. */
void wndl_rt_engine_end_thread(void);

/*
 * Gathers what is known of the calling thread only through calls that it is
 * about to lose the right to make.
 */
void wndl_rt_engine_prepare_thread(void);

/*
 * Ends all sampling, in all threads, as far as that is possible: a filter will
 * forbid its calls. The calling thread gets no signal of ours any more.
 */
void wndl_rt_engine_silence(void);

/* Stops sampling the calling thread. */
void wndl_rt_engine_stop(void);

/*
 * Makes sure that no signal of the engine's is pending while the program is
 * replaced, because the new image has no handler for it yet. resume() is for an
 * exec that failed.
 */
void wndl_rt_engine_pause(void);
void wndl_rt_engine_resume(void);

/*
 * Whether a signal that reached the calling thread outside of the handler is
 * the engine's. The work for it is then done, too.
 */
bool wndl_rt_engine_sent(const siginfo_t *info);

#endif
