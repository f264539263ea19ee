/* SPDX-License-Identifier: MIT */
/* memlog_lttng: a tracepoint of LTTng-UST with the numbers of a collection. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER memlog

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./memlog_lttng.h"

#if !defined(MEMLOG_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define MEMLOG_LTTNG_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(memlog, gc,
    LTTNG_UST_TP_ARGS(int64_t, before, int64_t, after, int64_t, ns,
        int64_t, generation),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int64_t, before, before)
        lttng_ust_field_integer(int64_t, after, after)
        lttng_ust_field_integer(int64_t, ns, ns)
        lttng_ust_field_integer(int64_t, generation, generation)
    )
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
