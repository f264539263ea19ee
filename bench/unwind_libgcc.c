/* SPDX-License-Identifier: MIT */
#include "unwind_harness.h"

#include <execinfo.h>
#include <unwind.h>

static _Unwind_Reason_Code keep(struct _Unwind_Context *context, void *count)
{
    size_t *n = count;
    if (*n < BENCH_FRAMES)
        bench_addresses[(*n)++] = (void *)_Unwind_GetIP(context);
    return _URC_NO_REASON;
}

static size_t walk_libgcc(const struct bench_leaf *leaf)
{
    size_t count = 0;
    (void)leaf;
    (void)_Unwind_Backtrace(keep, &count);
    return count;
}

static size_t walk_glibc(const struct bench_leaf *leaf)
{
    (void)leaf;
    return (size_t)backtrace(bench_addresses, BENCH_FRAMES);
}

const struct bench_method bench_methods[] = {
    {"_Unwind_Backtrace", walk_libgcc},
    {"glibc_backtrace", walk_glibc},
    {0},
};
