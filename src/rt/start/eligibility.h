/* SPDX-License-Identifier: MIT */
/*
 * eligibility: which processes must not be recorded, and why. For the start of
 * a process image and for forked children. Signals must be blocked.
 */
#ifndef WNDL_RT_START_ELIGIBILITY_H
#define WNDL_RT_START_ELIGIBILITY_H

#include "rec/shm.h"

#include <stdbool.h>

/*
 * Whether this runs in Valgrind. If so, neither a new process nor an event on
 * the CPU may be requested.
 */
bool wndl_rt_is_emulated(char *const environment[]);

/*
 * Whether this process is an emulator, whose program has a runtime of its own.
 * That runtime says hello for both.
 */
bool wndl_rt_is_emulator(void);

/* The reason not to record this executable, or NONE. */
enum wndl_unrecorded_reason wndl_rt_ineligible_executable(void);

/*
 * Whether there is address space for the block, and as much again for the
 * program. If a limit is set, most of it must stay the program's.
 */
bool wndl_rt_has_address_space(void);

/*
 * Whether a sandbox allows our calls. NONE if there is none or it allows all of
 * them; SANDBOX if it would end the process for one. *talk is false if not even
 * a hello may be sent.
 */
enum wndl_unrecorded_reason wndl_rt_ineligible_sandbox(bool *talk);

#endif
