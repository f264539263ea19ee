/* SPDX-License-Identifier: MIT */
/* unwind_fp: walks frame pointers with bounds and alignment checked, in a
 * program that is compiled to have them: the least a walk can cost. */
#include "unwind_harness.h"

static size_t walk_frame_pointers(const struct bench_leaf *leaf)
{
    uintptr_t fp = (uintptr_t)__builtin_frame_address(0);
    uintptr_t low = fp;
    const uintptr_t last = leaf->stack.high - 16;
    size_t count = 0;
    while (count < BENCH_FRAMES && fp % 8 == 0 && fp >= low && fp <= last) {
        void *const *link = (void *const *)fp;
        bench_addresses[count++] = link[1];
        low = fp + 16;
        fp = (uintptr_t)link[0];
    }
    return count;
}

const struct bench_method bench_methods[] = {
    {"frame_pointers", walk_frame_pointers},
    {0},
};
