/* SPDX-License-Identifier: MIT */
/*
 * smaps: sums up /proc/PID/smaps by kinds of memory (proc_pid_smaps(5)).
 * Signal-safe: bare system calls, the caller's memory, no allocation.
 *
 * The file says nothing of who mapped memory. Some of it is known by its
 * place:
 *
 *   glibc's arenas            begin at multiples of 64 MiB, or 1 MiB in 32 bits
 *   stacks of threads         follow a guard, which may not be used
 *   zeroed data of a module   follows the data in its file
 *   windlass's tables         are left out of core dumps
 */
#ifndef WNDL_OS_SMAPS_H
#define WNDL_OS_SMAPS_H

#include "base/bytes.h"
#include "base/memory_kind.h"

#include <stdbool.h>

/*
 * Fills in `sum` from the file `path` ("/proc/self/smaps"). `room` is the read
 * buffer, as for wndl_maps_each(). False if the file cannot be read to its end.
 * The kernel walks all pages: 20 ms a GiB of resident memory.
 */
bool wndl_smaps_sum(
    const char *path, struct wndl_bytes room, struct wndl_memory_sum *sum);

/* Gets each mapping that has resident memory, and says which kind it is of. */
struct wndl_smaps_visitor {
    enum wndl_memory_kind (*visit)(
        void *context, const struct wndl_memory_place *mapping);
    void *context;
};

/* The same, and calls the visitor. */
bool wndl_smaps_each(const char *path, struct wndl_bytes room,
    struct wndl_memory_sum *sum, const struct wndl_smaps_visitor *visitor);

#endif
