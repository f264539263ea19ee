/* SPDX-License-Identifier: MIT */
/* run: runs of the program's memory reporters, and what they leave. */
#ifndef WNDL_RT_HEAP_MEASURE_RUN_H
#define WNDL_RT_HEAP_MEASURE_RUN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether one is under way. *run receives the number of the last. */
bool wndl_rt_heap_reports_run(uint32_t *run);

/* Allows as many searches for blocks as in any run. */
void wndl_rt_heap_forget_searches(void);

#endif
