/* SPDX-License-Identifier: MIT */
/* Loaded and unloaded by test_unwind_resume: twice the same functions, with
 * frames of PLUGIN_BYTES. */
#include <stddef.h>

long plugin_run(void (*callback)(void), size_t depth);

__attribute__((visibility("default"), noinline)) long plugin_run(
    void (*callback)(void), size_t depth)
{
    char frame[PLUGIN_BYTES];
    __asm__ volatile("" : : "r"(frame) : "memory");
    if (depth > 0)
        return 1 + plugin_run(callback, depth - 1);
    callback();
    return 1;
}
