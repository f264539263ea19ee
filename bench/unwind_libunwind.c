/* SPDX-License-Identifier: MIT */
#define UNW_LOCAL_ONLY
#include "unwind_harness.h"

#include <libunwind.h>
#include <stdlib.h>

static size_t walk_fast(const struct bench_leaf *leaf)
{
    (void)leaf;
    return (size_t)unw_backtrace(bench_addresses, BENCH_FRAMES);
}

static size_t walk_steps(const struct bench_leaf *leaf)
{
    unw_context_t context;
    unw_cursor_t cursor;
    size_t count = 0;
    (void)leaf;
    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0)
        abort();
    do {
        unw_word_t ip = 0;
        (void)unw_get_reg(&cursor, UNW_REG_IP, &ip);
        bench_addresses[count++] = (void *)ip;
    } while (count < BENCH_FRAMES && unw_step(&cursor) > 0);
    return count;
}

const struct bench_method bench_methods[] = {
    {"unw_backtrace", walk_fast},
    {"unw_step", walk_steps},
    {0},
};
