/* SPDX-License-Identifier: MIT */
/*
 * eligibility: which processes are better left alone, and why. At the start of
 * a process image and in forked children; signals must be blocked.
 */
#ifndef WNDL_RT_START_ELIGIBILITY_H
#define WNDL_RT_START_ELIGIBILITY_H

#include "rec/shm.h"

#include <stdbool.h>

/*
 * Whether this runs in Valgrind. Neither a new process nor an event about the
 * CPU may be asked for then.
 */
bool wndl_rt_is_emulated(char *const environment[]);

/*
 * Whether this process is an emulator, whose program has a runtime of its own.
 * That one says hello for both.
 */
bool wndl_rt_is_emulator(void);

/* What about the executable speaks against it, or NONE. */
enum wndl_unrecorded_reason wndl_rt_ineligible_executable(void);

/*
 * Whether the block's address space can be had, and as much again is left to
 * the program: a limit on it is the program's to use.
 */
bool wndl_rt_has_address_space(void);

/*
 * How far a sandbox lets us go: NONE when there is none or it allows all that
 * we do; SANDBOX when it would end the process for it. *talk is false when
 * not even that may be told.
 */
enum wndl_unrecorded_reason wndl_rt_ineligible_sandbox(bool *talk);

#endif
