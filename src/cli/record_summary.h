/* SPDX-License-Identifier: MIT */
/* record_summary: what `windlass record` tells people, on stderr. */
#ifndef WNDL_CLI_RECORD_SUMMARY_H
#define WNDL_CLI_RECORD_SUMMARY_H

#include "cli/collector.h"

/* What the engine cannot see, and which setting would change that. */
void wndl_record_say_engine(const struct wndl_collector_engine *engine);

/* What is in the recording and what is not, and what to type next. */
void wndl_record_say_summary(const struct wndl_collector_request *request,
    const struct wndl_collector_result *result);

#endif
