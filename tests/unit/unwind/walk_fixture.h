/* SPDX-License-Identifier: MIT */
/* walk_fixture: an unwinder of this process and the walk of a test. */
#ifndef WNDL_TESTS_WALK_FIXTURE_H
#define WNDL_TESTS_WALK_FIXTURE_H

#include "testlib.h"

#include "unwind_oracle.h"

extern struct oracle oracle; /* for its ranges, modules and unwinder */
extern struct oracle_walk walked;

/* For a walk of `room` frames. */
void prepare(struct oracle_walk *w, size_t room);

/* Of a group of tests: the oracle. */
int set_up(void **state);
int tear_down(void **state);

#endif
