/* SPDX-License-Identifier: MIT */
/*
 * memlog_gc: collections of a language's garbage collector in the memory event
 * log, for those that can call a function of a shared library
 * (memlog_python.py).
 *
 *     cc -O2 -fPIC -shared memlog_gc.c -o memlog_gc.so
 */
#include <windlass/memlog.h>

static struct wndl_memlog_type collected = {"gc", WNDL_MEMLOG_COLLECTION, 0,
    {{"generation", ""}, {"objects", "objects"}}, {0, 0}};

/* `before` and `after` are bytes; `objects` is how many were freed. */
void memlog_gc(int64_t before, int64_t after, int64_t ns, int64_t generation,
    int64_t objects);

void memlog_gc(int64_t before, int64_t after, int64_t ns, int64_t generation,
    int64_t objects)
{
    const int64_t numbers[] = {before, after, ns, generation, objects};
    wndl_memlog_append(&collected, numbers, 5);
}
