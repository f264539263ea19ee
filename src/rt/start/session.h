/* SPDX-License-Identifier: MIT */
/* session: the talk with the collector at the start of a process image. */
#ifndef WNDL_RT_START_SESSION_H
#define WNDL_RT_START_SESSION_H

#include "rec/shm.h"

/*
 * Asks the collector for a recording or, with a `refusal`, reports why there is
 * none. Signals must be blocked.
 */
void wndl_rt_start(enum wndl_unrecorded_reason refusal);

#endif
